// next_offset "climbing": OpenZFS since 2026 (seen in be7657e3f2).
//
// The search carries a place in the tree (level, block, index) beside the offset. When the level below a match turns
// out to have nothing, it climbs again and goes on behind that match, instead of giving up.
#include "model/variants/next_offset_block.h"
#include "model/variants/next_offset_forms.h"

namespace dmu {

namespace {

class climbing_t final : public next_offset_variant_t {
public:
    next_offset_t search(dnode_t &dn, uint32_t flags, uint64_t start, uint32_t minlvl, uint64_t blkfill,
                         uint64_t txg) const override
    {
        const uint32_t epbs = dn.dn_indblkshift - SPA_BLKPTRSHIFT;
        const uint32_t top = dn.dn_phys->dn_nlevels;
        const int64_t behind = (flags & DNODE_FIND_BACKWARDS) != 0 ? -1 : 1;
        place_t at;
        if (minlvl > 0) {
            const uint64_t pointer = dbuf_whichblock(dn, minlvl - 1, start);
            at = {minlvl, pointer >> epbs, low_bits(pointer, epbs)};
        } else {
            VERIFY(start % DNODE_SIZE == 0);
            at = {0, dbuf_whichblock(dn, 0, start), static_cast<int64_t>((start >> DNODE_SHIFT) & (blkfill - 1))};
        }

        uint64_t offset = start;
        int error = 0;
        while (at.level <= top) {
            error = search_level(dn, flags, at, blkfill, txg, offset);
            if (error == 0 && at.level > minlvl)
                at = {at.level - 1, (at.blkid << epbs) + static_cast<uint64_t>(at.index), 0};
            else if (error == ESRCH && at.level < top)
                // Behind this block in the one above, lest the search come back here for ever.
                at = {at.level + 1, at.blkid >> epbs, low_bits(at.blkid, epbs) + behind};
            else
                break;
        }
        if (error == ESRCH && virtual_hole(flags, minlvl, blkfill, txg))
            error = 0;
        return {error, offset};
    }

private:
    struct place_t {
        uint32_t level = 0;
        uint64_t blkid = 0;
        int64_t index = 0;
    };

    static int64_t low_bits(uint64_t value, uint32_t bits)
    {
        return static_cast<int64_t>(value & ((1ull << bits) - 1));
    }

    // Moves at.index to the first match of its block, and offset with it.
    static int search_level(dnode_t &dn, uint32_t flags, place_t &at, uint64_t blkfill, uint64_t txg, uint64_t &offset)
    {
        Probe probe{Fn::dnode_next_offset_level};
        ++dn.dn_objset->os_dmu.next_offset_level_calls[at.level];
        const bool hole = (flags & DNODE_FIND_HOLE) != 0;
        const bool backwards = (flags & DNODE_FIND_BACKWARDS) != 0;
        searched_block_t block(dn, at.level, at.blkid);
        if (block.error() == ENOENT)
            return hole ? 0 : ESRCH;
        if (block.error() != 0)
            return block.error();
        if (block.too_old(txg))
            return ESRCH;

        if (at.level == 0) {
            VERIFY(!backwards);
            const auto count = static_cast<int64_t>(blkfill);
            while (at.index < count && block.dnode_in_use(static_cast<uint64_t>(at.index)) == hole)
                at.index += static_cast<int64_t>(block.dnode_slots(static_cast<uint64_t>(at.index)));
            offset = (offset & ~((1ull << DNODE_BLOCK_SHIFT) - 1)) + (static_cast<uint64_t>(at.index) << DNODE_SHIFT);
            return at.index == count ? ESRCH : 0;
        }

        const uint32_t epbs = dn.dn_phys->dn_indblkshift - SPA_BLKPTRSHIFT;
        const uint32_t span = (at.level - 1) * epbs + dn.dn_datablkshift;
        const fill_filter_t filter(flags, blkfill, at.level - 1, epbs, txg);
        const auto count = static_cast<int64_t>(block.pointers());
        const int64_t step = backwards ? -1 : 1;
        while (at.index >= 0 && at.index < count && !filter.matches(block.pointer(static_cast<uint64_t>(at.index))))
            at.index += step;
        if (span < 64) {
            uint64_t pointer = at.blkid << epbs;
            if (at.index >= 0 || at.blkid != 0)
                pointer += static_cast<uint64_t>(at.index);
            if (pointer >> (64 - span) == 0)
                offset = backwards ? std::min(offset, ((pointer + 1) << span) - 1) : std::max(offset, pointer << span);
        }
        return at.index < 0 || at.index >= count ? ESRCH : 0;
    }
};

} // namespace

std::unique_ptr<const next_offset_variant_t> make_next_offset_climbing()
{
    return std::make_unique<climbing_t>();
}

} // namespace dmu
