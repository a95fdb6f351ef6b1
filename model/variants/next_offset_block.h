// One block of the tree as a search sees it: its dnodes, or its block pointers.
#pragma once

#include "model/dbuf_impl.h"
#include "model/dnode_impl.h"

namespace dmu {

// There is always a hole at the end of an object, though no block pointer stands for it.
inline bool virtual_hole(uint32_t flags, uint32_t minlvl, uint64_t blkfill, uint64_t txg)
{
    return (flags & DNODE_FIND_HOLE) != 0 && (flags & DNODE_FIND_BACKWARDS) == 0 && txg == 0 && minlvl == 1 &&
           blkfill == 1;
}

// Which pointers match: those over few enough dnodes or blocks (hole), or over some that are young enough.
class fill_filter_t {
public:
    fill_filter_t(uint32_t flags, uint64_t blkfill, uint32_t levels_below, uint32_t epbs, uint64_t txg)
        : hole_((flags & DNODE_FIND_HOLE) != 0), txg_(txg)
    {
        const uint32_t shift = levels_below * epbs;
        const uint64_t full = shift < 64 ? blkfill << shift : 0;
        min_ = hole_ ? 0 : 1;
        max_ = hole_ ? full - 1 : full;
    }
    bool matches(const blkptr_t &bp) const
    {
        const uint64_t fill = BP_GET_FILL(bp);
        return fill >= min_ && fill <= max_ && (hole_ || bp.blk_birth > txg_);
    }

private:
    bool hole_;
    uint64_t txg_, min_, max_;
};

// A block held and read for a search, or the dnode's own pointers above the top level.
class searched_block_t {
public:
    // error: 0; ENOENT when the block is a hole or not on disk; or a read error.
    searched_block_t(dnode_t &dn, uint32_t level, uint64_t blkid) : pointers_(dn.dn_phys->dn_nblkptr)
    {
        if (level == dn.dn_phys->dn_nlevels) {
            data_ = dn.dn_phys->dn_blkptr;
            return;
        }
        pointers_ = 1ull << (dn.dn_phys->dn_indblkshift - SPA_BLKPTRSHIFT);
        auto held = dbuf_hold_impl(dn, static_cast<uint8_t>(level), blkid, true, false);
        if (!held) {
            error_ = held.error();
            return;
        }
        db_ = std::move(*held);
        auto read = dbuf_read(*db_, DB_RF_CANFAIL | DB_RF_HAVESTRUCT | dnode_block_read_flags(*dn.dn_objset));
        if (!read)
            error_ = read.error();
        data_ = db_->db_data;
    }

    int error() const { return error_; }
    uint64_t pointers() const { return pointers_; }
    const blkptr_t &pointer(uint64_t index) const { return static_cast<const blkptr_t *>(data_)[index]; }
    bool dnode_in_use(uint64_t index) const
    {
        return static_cast<const dnode_phys_t *>(data_)[index].dn_type != DMU_OT_NONE;
    }
    uint64_t dnode_slots(uint64_t index) const
    {
        return 1ull + static_cast<const dnode_phys_t *>(data_)[index].dn_extra_slots;
    }
    // Nothing in it is younger than txg.
    bool too_old(uint64_t txg) const
    {
        return db_ && txg != 0 &&
               (db_->db_blkptr == nullptr || db_->db_blkptr->blk_birth <= txg || BP_IS_HOLE(*db_->db_blkptr));
    }

private:
    dbuf_hold_t db_;
    const void *data_ = nullptr;
    uint64_t pointers_;
    int error_ = 0;
};

} // namespace dmu
