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
    if (db == nullptr) [[unlikely]] {
        if (fail_uncached)
            return SET_ERROR(ENOENT);
        return dbuf_hold_absent(dn, level, blkid, fail_sparse, depth);
    }
    if (fail_uncached && db->db_state != DB_CACHED) {
        mutex_exit(db->db_mtx);
        return SET_ERROR(ENOENT);
    }
    dbuf_hold_found(dn, *db);
    return dbuf_hold_t(db);
}

} // namespace dmu
