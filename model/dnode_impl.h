// What the files of dnode share and nobody else uses.
#pragma once

#include "model/dmu_state.h"
#include "model/dnode.h"
#include "model/objset.h"

namespace dmu {

// The dnode of a slot, made from what its block says; or the one that somebody else made meanwhile.
// REQUIRES: the slot's zrlock is held, db is held (null for the meta-dnode).
dnode_t *dnode_create(objset_t &os, dnode_phys_t &dnp, dmu_buf_impl_t *db, uint64_t object, dnode_handle_t &dnh);
// Reads of dnode blocks and of what points at them pass the prefetcher's lock in code of some years.
inline uint32_t dnode_block_read_flags(const objset_t &os)
{
    return DB_RF_NO_DECRYPT | (os.os_dmu.config.code.read_consults_prefetch ? 0 : DB_RF_NOPREFETCH);
}
// One more hold, which for the first holds the block too. REQUIRES: dn_mtx held; it is not afterwards. db is held.
dnode_hold_t dnode_hold_found(dnode_t &dn, dmu_buf_impl_t &db);
// More levels of indirection. REQUIRES: dn_struct_rwlock held as writer.
void dnode_grow(dnode_t &dn, uint8_t nlevels, dmu_tx_t &tx);

// Destroys the dnode in a slot that becomes the inside of a larger one. REQUIRES: nobody holds it; the slot's zrlock is
// held exclusively.
void dnode_reclaim(dnode_handle_t &dnh);
// A dnode has been allocated: no other dnode has one of its slots, and all of them lie in one block.
void dnode_verify_slots(const dnode_t &dn);
// The insides of a dnode that is no more can be had again.
void dnode_free_interior_slots(dnode_t &dn);

} // namespace dmu
