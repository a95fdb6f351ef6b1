// Syncing a dnode: what its transactions decided goes into dn_phys, its dirty blocks are written, or it is freed.
//
// Followed: OpenZFS 81285582b9, dnode_sync.c.
#include <algorithm>

#include "model/dbuf_impl.h"
#include "model/dmu_tx.h"
#include "model/dnode_impl.h"
#include "model/dsl_pool.h"
#include "model/objset.h"
#include "model/spa.h"

namespace dmu {

namespace {

// Frees blocks on disk; each pointer becomes a hole that remembers what it was and when.
void free_blocks(dnode_t &dn, blkptr_t *bp, uint64_t count, dmu_tx_t &tx)
{
    uint64_t bytes = 0;
    for (blkptr_t *end = bp + count; bp != end; ++bp) {
        if (BP_IS_HOLE(*bp))
            continue;
        bytes += bp->blk_lsize;
        dsl_block_kill(*dn.dn_objset, *bp);
        bp->blk_dva = 0;
        bp->blk_fill = 0;
        bp->blk_birth = tx.tx_txg;
    }
    auto held = mutex_enter(dn.dn_mtx);
    VERIFY3(dn.dn_phys->dn_used, >=, bytes);
    dn.dn_phys->dn_used -= bytes;
}

bool all_holes(const dmu_buf_impl_t &db, uint64_t count)
{
    return std::all_of(db.blkptrs(), db.blkptrs() + count, BP_IS_HOLE);
}

// Frees the part of [blkid, last] that lies below an indirect block, and the block itself when nothing is left.
void free_children(dmu_buf_impl_t &db, uint64_t blkid, uint64_t last, dmu_tx_t &tx)
{
    Probe probe{Fn::free_children};
    if (db.db_state != DB_CACHED) {
        auto read = dbuf_read(db, DB_RF_MUST_SUCCEED);
        VERIFY(read.ok());
    }
    arc_release(db.db_objset->os_dmu, *db.db_buf);

    auto owner = DB_DNODE_ENTER(db);
    dnode_t &dn = *owner;
    const uint32_t epbs = dn.dn_phys->dn_indblkshift - SPA_BLKPTRSHIFT;
    const uint32_t shift = (db.db_level - 1) * epbs;
    const uint64_t here = db.db_blkid << epbs;
    const uint64_t first_child = std::max(here, blkid >> shift);
    const uint64_t last_child = std::min(((db.db_blkid + 1) << epbs) - 1, last >> shift);
    VERIFY3(first_child, <=, last_child);

    if (db.db_level == 1) {
        free_blocks(dn, db.blkptrs() + (first_child - here), last_child - first_child + 1, tx);
    } else {
        for (uint64_t child = first_child; child <= last_child; ++child) {
            if (BP_IS_HOLE(db.blkptrs()[child - here]))
                continue;
            dbuf_hold_t below;
            {
                auto reader = rw_enter(dn.dn_struct_rwlock, RW_READER);
                auto held = dbuf_hold_impl(dn, db.db_level - 1, child, true, false);
                VERIFY(held.ok());
                below = std::move(*held);
            }
            free_children(*below, blkid, last, tx);
        }
    }
    if (all_holes(db, 1ull << epbs)) {
        std::fill_n(db.blkptrs(), 1ull << epbs, blkptr_t{});
        free_blocks(dn, db.db_blkptr, 1, tx);
    } else {
        VERIFY(db.db_dirtycnt > 0); // it will be written
    }
}

void dnode_sync_free_range(dnode_t &dn, uint64_t blkid, uint64_t last, dmu_tx_t &tx)
{
    Probe probe{Fn::dnode_sync_free_range};
    dnode_phys_t &phys = *dn.dn_phys;
    if (blkid > phys.dn_maxblkid)
        return;
    const bool trunc = last >= phys.dn_maxblkid;
    last = std::min(last, phys.dn_maxblkid);

    if (phys.dn_nlevels == 1) {
        if (blkid >= phys.dn_nblkptr)
            return; // never was on disk
        free_blocks(dn, phys.dn_blkptr + blkid, last - blkid + 1, tx);
    } else {
        const uint32_t shift = (phys.dn_nlevels - 1) * (phys.dn_indblkshift - SPA_BLKPTRSHIFT);
        for (uint64_t top = blkid >> shift; top <= last >> shift; ++top) {
            if (BP_IS_HOLE(phys.dn_blkptr[top]))
                continue;
            dbuf_hold_t db;
            {
                auto reader = rw_enter(dn.dn_struct_rwlock, RW_READER);
                auto held = dbuf_hold_impl(dn, phys.dn_nlevels - 1, top, true, false);
                VERIFY(held.ok());
                db = std::move(*held);
            }
            free_children(*db, blkid, last, tx);
        }
    }
    if (trunc)
        phys.dn_maxblkid = blkid == 0 ? 0 : blkid - 1;
}

void dnode_undirty_dbufs(list_t<dbuf_dirty_record_t> &list)
{
    while (dbuf_dirty_record_t *first = list.head()) {
        dmu_buf_impl_t &db = *first->dr_dbuf;
        if (db.db_level != 0)
            dnode_undirty_dbufs(first->di->dr_children);
        db.db_mtx.enter();
        list.remove(first);
        std::unique_ptr<dbuf_dirty_record_t> dr(first);
        VERIFY(db.db_last_dirty == dr.get());
        db.db_last_dirty = dr->dr_next;
        db.db_dirtycnt -= 1;
        if (db.db_blkid == DMU_BONUS_BLKID && dr->dr_bonus != db.db_data)
            delete[] dr->dr_bonus;
        dsl_pool_undirty_space(*db.db_objset->os_spa.spa_dsl_pool, dr->dr_accounted, dr->dr_txg);
        dr.reset();
        dbuf_rele_and_unlock(db);
    }
}

void dnode_sync_free(dnode_t &dn, dmu_tx_t &tx)
{
    Probe probe{Fn::dnode_sync_free};
    const size_t slot = tx.tx_txg & TXG_MASK;
    VERIFY(dn.dn_phys->dn_used == 0);
    VERIFY(BP_IS_HOLE(dn.dn_phys->dn_blkptr[0]));

    if (auto &records = dn.dn_dirty_records[slot])
        dnode_undirty_dbufs(*records);
    dnode_evict_dbufs(dn);

    dn.dn_next_nlevels[slot] = 0;
    dn.dn_next_indblkshift[slot] = 0;
    dn.dn_next_blksz[slot] = 0;

    VERIFY(dn.dn_free_txg > 0);
    if (dn.dn_allocated_txg != dn.dn_free_txg)
        dmu_buf_will_dirty(*dn.dn_dbuf, tx);
    *dn.dn_phys = dnode_phys_t{};
    {
        auto held = mutex_enter(dn.dn_mtx);
        dn.dn_type = DMU_OT_NONE;
        dn.dn_maxblkid = 0;
        dn.dn_allocated_txg = 0;
        dn.dn_free_txg = 0;
    }
    dnode_free_interior_slots(dn);
    dnode_rele(dn); // it may be gone now
}

// More levels than before: what the dnode pointed at moves below the new top block.
void dnode_increase_indirection(dnode_t &dn, uint8_t new_levels)
{
    Probe probe{Fn::dnode_increase_indirection};
    dnode_phys_t &phys = *dn.dn_phys;
    const uint8_t old_top = phys.dn_nlevels - 1;
    auto writer = rw_enter(dn.dn_struct_rwlock, RW_WRITER);

    auto db = dbuf_hold_level(dn, phys.dn_nlevels, 0);
    VERIFY(db);
    phys.dn_nlevels = new_levels;
    auto read = dbuf_read(*db, DB_RF_MUST_SUCCEED | DB_RF_HAVESTRUCT);
    VERIFY(read.ok());
    std::copy_n(phys.dn_blkptr, phys.dn_nblkptr, db->blkptrs());

    for (uint64_t i = 0; i < phys.dn_nblkptr; ++i) {
        dmu_buf_impl_t *child = dbuf_find(*dn.dn_objset, dn.dn_object, old_top, i);
        if (child == nullptr)
            continue;
        if (child->db_parent == nullptr || child->db_parent == dn.dn_dbuf) {
            child->db_parent = db.get();
            dbuf_add_ref(*db);
            child->db_blkptr = db->blkptrs() + i;
        }
        mutex_exit(child->db_mtx);
    }
    std::fill_n(phys.dn_blkptr, phys.dn_nblkptr, blkptr_t{});
}

template <class T>
T take(T &pending)
{
    return std::exchange(pending, T{});
}

// The decisions of open context that this txg writes down. REQUIRES: dn_mtx held.
void write_down(dnode_t &dn, uint64_t txg)
{
    dnode_phys_t &phys = *dn.dn_phys;
    const size_t slot = txg & TXG_MASK;
    if (dn.dn_allocated_txg == txg) {
        if (phys.dn_type == DMU_OT_NONE) {
            phys.dn_nlevels = 1;
            phys.dn_nblkptr = dn.dn_nblkptr;
        }
        phys.dn_type = dn.dn_type;
        phys.dn_extra_slots = static_cast<uint8_t>(dn.dn_num_slots - DNODE_MIN_SLOTS);
        phys.dn_bonustype = dn.dn_bonustype;
        phys.dn_bonuslen = dn.dn_bonuslen;
    }
    if (take(dn.dn_next_type[slot]) != 0)
        phys.dn_type = dn.dn_type;
    if (const uint32_t size = take(dn.dn_next_blksz[slot]))
        phys.dn_datablkszsec = static_cast<uint16_t>(size >> SPA_MINBLOCKSHIFT);
    if (const uint16_t length = take(dn.dn_next_bonuslen[slot]))
        phys.dn_bonuslen = length;
    if (const uint8_t type = take(dn.dn_next_bonustype[slot]))
        phys.dn_bonustype = type;
    if (const uint8_t shift = take(dn.dn_next_indblkshift[slot])) {
        VERIFY(phys.dn_nlevels == 1);
        phys.dn_indblkshift = shift;
    }
}

} // namespace

void dnode_sync(dnode_t &dn, dmu_tx_t &tx)
{
    Probe probe{Fn::dnode_sync};
    const size_t slot = tx.tx_txg & TXG_MASK;
    objset_t &os = *dn.dn_objset;
    VERIFY(dn.dn_phys->dn_type != DMU_OT_NONE || dn.dn_allocated_txg != 0);

    if (!DMU_OBJECT_IS_SPECIAL(dn.dn_object) && dmu_objset_userused_enabled(os)) {
        {
            auto held = mutex_enter(dn.dn_mtx);
            dn.dn_oldused = dn.dn_phys->dn_used;
            dn.dn_oldflags = dn.dn_phys->dn_flags;
            dn.dn_phys->dn_flags |= DNODE_FLAG_USERUSED_ACCOUNTED;
        }
        dmu_objset_userquota_get_ids(dn, false, tx);
    } else {
        VERIFY((dn.dn_phys->dn_flags & DNODE_FLAG_USERUSED_ACCOUNTED) == 0);
    }
    {
        auto held = mutex_enter(dn.dn_mtx);
        write_down(dn, tx.tx_txg);
    }
    // The ranges stay until their blocks are freed: until then a reader finds the old pointers, and only
    // dnode_block_freed tells it that they mean nothing.
    if (const blkid_ranges *freed = dn.dn_free_ranges[slot].get()) {
        for (const auto &[first, last] : *freed)
            dnode_sync_free_range(dn, first, last, tx);
        auto held = mutex_enter(dn.dn_mtx);
        dn.dn_free_ranges[slot].reset();
    }

    if (dn.dn_free_txg > 0 && dn.dn_free_txg <= tx.tx_txg) {
        ++os.os_freed_dnodes;
        dnode_sync_free(dn, tx);
        return;
    }
    if (const uint8_t nlevels = take(dn.dn_next_nlevels[slot]))
        dnode_increase_indirection(dn, nlevels);

    auto &records = dn.dn_dirty_records[slot];
    if (records != nullptr)
        dbuf_sync_list(*records, dn.dn_phys->dn_nlevels - 1, tx);
    if (!DMU_OBJECT_IS_SPECIAL(dn.dn_object)) {
        VERIFY(records == nullptr || records->empty());
        records.reset();
        dnode_rele(dn); // its block is written later, so it stays
    }
}

void dnode_evict_dbufs(dnode_t &dn)
{
    Probe probe{Fn::dnode_evict_dbufs};
    {
        auto listing = mutex_enter(dn.dn_dbufs_mtx);
        if (dn.dn_dbufs != nullptr) {
            for (auto at = dn.dn_dbufs->begin(); at != dn.dn_dbufs->end();) {
                dmu_buf_impl_t &db = **at;
                db.db_mtx.enter();
                if (db.db_state != DB_EVICTING && db.db_holds.peek() == 0) {
                    // Its parents may go with it, so the place in the set is found again.
                    dmu_buf_impl_t here;
                    here.db_level = db.db_level;
                    here.db_blkid = db.db_blkid;
                    dbuf_destroy(db);
                    at = dn.dn_dbufs->upper_bound(&here);
                } else {
                    db.db_pending_evict = true;
                    mutex_exit(db.db_mtx);
                    ++at;
                }
            }
        }
    }
    dnode_evict_bonus(dn);
}

void dnode_evict_bonus(dnode_t &dn)
{
    auto writer = rw_enter(dn.dn_struct_rwlock, RW_WRITER);
    if (dn.dn_bonus == nullptr)
        return;
    settle(); // holds are given back without the lock
    if (dn.dn_bonus->db_holds.peek() == 0) {
        dn.dn_bonus->db_mtx.enter();
        dbuf_destroy(*std::exchange(dn.dn_bonus, nullptr));
    } else {
        dn.dn_bonus->db_pending_evict = true;
    }
}

} // namespace dmu
