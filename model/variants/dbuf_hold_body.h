// One level of dbuf_hold_impl, the same wherever its locals are kept.
#pragma once

#include "model/dbuf_impl.h"

namespace dmu {

// The caller's Probe has been entered. REQUIRES: dn_struct_rwlock is held.
inline Result<dbuf_hold_t> dbuf_hold_body(dnode_t &dn, uint8_t level, uint64_t blkid, bool fail_sparse,
                                          bool fail_uncached, uint32_t depth)
{
    VERIFY3(depth, <, DBUF_HOLD_IMPL_MAX_DEPTH);
    VERIFY(blkid != DMU_BONUS_BLKID);

    dmu_buf_impl_t *db = dbuf_find(*dn.dn_objset, dn.dn_object, level, blkid);
    dbuf_hold_t parent;
    if (db == nullptr) [[unlikely]] {
        if (fail_uncached)
            return SET_ERROR(ENOENT);
        auto place = dbuf_findbp(dn, level, blkid, fail_sparse, depth);
        if (!place && (fail_sparse || place.error() != ENOENT))
            return SET_ERROR(place.error());
        blkptr_t *bp = nullptr;
        if (place) {
            parent = std::move(place->parent);
            bp = place->bp;
        }
        if (fail_sparse && bp != nullptr && BP_IS_HOLE(*bp))
            return SET_ERROR(ENOENT);
        db = dbuf_create(dn, level, blkid, parent.get(), bp);
    }

    if (fail_uncached && db->db_state != DB_CACHED) {
        mutex_exit(db->db_mtx);
        return SET_ERROR(ENOENT);
    }
    dbuf_hold_found(dn, *db);
    parent.rele(); // not before db_mtx is free
    return dbuf_hold_t(db);
}

} // namespace dmu
