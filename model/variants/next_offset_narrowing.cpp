// next_offset "narrowing": OpenZFS until 2025.
//
// Climb from minlvl until a level has a match, then go down through the first match of each level. The way down is
// never taken back: a pointer whose fill promises something that the level below does not have ends the search with
// ESRCH. Two forms: 2016 (81285582b9) steps from dnode to dnode in either direction, keeping what the offset has below
// a dnode's size; 2017 (dbeb879699) steps forwards only, over dnodes of any size, and answers with a dnode's first
// byte.
#include "model/variants/next_offset_block.h"
#include "model/variants/next_offset_forms.h"

namespace dmu {

namespace {

enum class level0_step { either_way, forwards };

template <level0_step Step>
class narrowing_t final : public next_offset_variant_t {
public:
    next_offset_t search(dnode_t &dn, uint32_t flags, uint64_t start, uint32_t minlvl, uint64_t blkfill,
                         uint64_t txg) const override
    {
        const uint32_t top = dn.dn_phys->dn_nlevels;
        uint64_t offset = start;
        uint32_t level = minlvl;
        int error = ESRCH;
        for (; level <= top; ++level) {
            error = search_level(dn, flags, offset, level, blkfill, txg);
            if (error != ESRCH)
                break;
        }
        while (error == 0 && level > minlvl)
            error = search_level(dn, flags, offset, --level, blkfill, txg);

        if (error == ESRCH && virtual_hole(flags, minlvl, blkfill, txg))
            error = 0;
        const bool turned = (flags & DNODE_FIND_BACKWARDS) != 0 ? offset > start : offset < start;
        if (error == 0 && turned)
            error = ESRCH;
        return {error, offset};
    }

private:
    // Moves offset to the first match in the block of that level that contains it, or past the block (ESRCH).
    static int search_level(dnode_t &dn, uint32_t flags, uint64_t &offset, uint32_t level, uint64_t blkfill,
                            uint64_t txg)
    {
        Probe probe{Fn::dnode_next_offset_level};
        ++dn.dn_objset->os_dmu.next_offset_level_calls[level];
        searched_block_t block(dn, level, level < dn.dn_phys->dn_nlevels ? dbuf_whichblock(dn, level, offset) : 0);
        if (block.error() == ENOENT)
            return (flags & DNODE_FIND_HOLE) != 0 ? 0 : ESRCH; // where there is no block there is a hole, right here
        if (block.error() != 0)
            return block.error();
        if (block.too_old(txg))
            return ESRCH;
        return level == 0 ? search_dnodes(block, flags, offset, blkfill)
                          : search_pointers(dn, block, flags, offset, level, blkfill, txg);
    }

    static int search_dnodes(const searched_block_t &block, uint32_t flags, uint64_t &offset, uint64_t blkfill)
    {
        const bool hole = (flags & DNODE_FIND_HOLE) != 0;
        int64_t index = static_cast<int64_t>((offset >> DNODE_SHIFT) & (blkfill - 1));
        const auto count = static_cast<int64_t>(blkfill);
        const auto matches = [&](int64_t at) { return block.dnode_in_use(static_cast<uint64_t>(at)) != hole; };
        if constexpr (Step == level0_step::either_way) {
            const int64_t step = (flags & DNODE_FIND_BACKWARDS) != 0 ? -1 : 1;
            for (; index >= 0 && index < count && !matches(index); index += step)
                offset += static_cast<uint64_t>(step * int64_t{DNODE_SIZE});
            return index < 0 || index >= count ? ESRCH : 0;
        } else {
            while (index < count && !matches(index))
                index += static_cast<int64_t>(block.dnode_slots(static_cast<uint64_t>(index)));
            offset = (offset & ~((1ull << DNODE_BLOCK_SHIFT) - 1)) + (static_cast<uint64_t>(index) << DNODE_SHIFT);
            return index == count ? ESRCH : 0;
        }
    }

    static int search_pointers(dnode_t &dn, const searched_block_t &block, uint32_t flags, uint64_t &offset,
                               uint32_t level, uint64_t blkfill, uint64_t txg)
    {
        const bool backwards = (flags & DNODE_FIND_BACKWARDS) != 0;
        const uint32_t epbs = dn.dn_phys->dn_indblkshift - SPA_BLKPTRSHIFT;
        const uint32_t span = (level - 1) * epbs + dn.dn_datablkshift; // log2 of the bytes under one pointer
        const fill_filter_t filter(flags, blkfill, level - 1, epbs, txg);
        const uint64_t start = offset;
        const auto count = static_cast<int64_t>(block.pointers());

        uint64_t pointer = span < 64 ? offset >> span : 0; // of all pointers of this level
        int64_t index = static_cast<int64_t>(pointer & ((1ull << epbs) - 1));
        const int64_t step = backwards ? -1 : 1;
        for (; index >= 0 && index < count; index += step) {
            if (filter.matches(block.pointer(static_cast<uint64_t>(index))))
                break;
            if (!backwards || pointer > 0)
                pointer += static_cast<uint64_t>(step);
        }
        offset = span < 64 ? pointer << span : start;
        if (backwards)
            offset = std::min<uint64_t>(offset + (span < 64 ? 1ull << span : 0) - 1, start); // the match's last byte
        else if (offset < start)
            offset = start;
        return index < 0 || index >= count ? ESRCH : 0;
    }
};

} // namespace

std::unique_ptr<const next_offset_variant_t> make_next_offset_narrowing()
{
    return std::make_unique<narrowing_t<level0_step::either_way>>();
}

std::unique_ptr<const next_offset_variant_t> make_next_offset_narrowing_aligned()
{
    return std::make_unique<narrowing_t<level0_step::forwards>>();
}

} // namespace dmu
