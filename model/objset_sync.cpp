// Syncing an objset: the meta-dnode's tree is prepared from the top down to its blocks of dnodes, the dnodes are synced
// into those blocks, and then the blocks are written, and with them everything above.
//
// Followed: OpenZFS 81285582b9, dmu_objset.c; 68cbd56e18 for the freed counter.
#include <algorithm>
#include <deque>

#include "model/dbuf_impl.h"
#include "model/dmu_state.h"
#include "model/dmu_tx.h"
#include "model/dnode_impl.h"
#include "model/dsl_pool.h"
#include "model/objset.h"
#include "model/spa.h"
#include "model/taskq.h"
#include "model/variants/variants.h"

namespace dmu {

namespace {

constexpr uint32_t sublists_min = 4;

// Every bit of the number counts for every bit of the hash (the finish of MurmurHash3).
uint64_t hash_of_block(uint64_t number)
{
    number = (number ^ number >> 33) * 0xff51afd7ed558ccd;
    number = (number ^ number >> 33) * 0xc4ceb9fe1a85ec53;
    return number ^ number >> 33;
}

// dmu_objset_sync_dnodes. What is to be accounted for goes to the synced list, with a hold of its own.
void sync_list(list_t<dnode_t> &list, list_t<dnode_t> &synced, dmu_tx_t &tx)
{
    while (dnode_t *dn = list.head()) {
        VERIFY(dn->dn_dbuf->db_data_pending != nullptr);
        list.remove(dn);
        if (dmu_objset_userused_enabled(*dn->dn_objset)) {
            const bool added = dnode_add_ref(*dn);
            VERIFY(added);
            synced.insert_tail(dn);
        }
        dnode_sync(*dn, tx);
    }
}

void move_to(list_t<dnode_t> &from, list_t<dnode_t> &list)
{
    while (dnode_t *dn = from.head()) {
        from.remove(dn);
        list.insert_tail(dn);
    }
}

// With more than one sync thread (OpenZFS 64fc776208, 2017) the dnodes are dealt out to as many sublists as there are
// CPUs, at least four, by a hash of their block, so that two threads never change one block of dnodes.
void sync_dnodes(objset_t &os, list_t<dnode_t> &list, size_t slot, dmu_tx_t &tx)
{
    taskq_t *taskq = os.os_spa.spa_dsl_pool->dp_sync_taskq.get();
    if (taskq == nullptr) {
        sync_list(list, os.os_synced_dnodes[slot], tx);
        return;
    }
    struct part_t {
        explicit part_t(size_t slot) : dirty(dnode_list_of_slot(slot)), synced(dnode_list_of_slot(slot)) {}
        list_t<dnode_t> dirty, synced;
    };
    std::deque<part_t> parts;
    const uint32_t sublists = std::max(max_ncpus(), sublists_min);
    for (uint32_t i = 0; i < sublists; ++i)
        parts.emplace_back(slot);
    while (dnode_t *dn = list.head()) {
        list.remove(dn);
        parts[hash_of_block(dn->dn_object >> DNODES_PER_BLOCK_SHIFT) % sublists].dirty.insert_tail(dn);
    }
    for (part_t &part : parts)
        if (os.os_dmu.variants.sync_dispatch->wanted(part.dirty))
            taskq->dispatch([&part, &tx] { sync_list(part.dirty, part.synced, tx); });
    taskq->wait();
    for (part_t &part : parts)
        move_to(part.synced, os.os_synced_dnodes[slot]);
}

// The root block goes to a new place; its fill count is the number of objects.
void write_root(objset_t &os, zio_root_t &pio, dmu_tx_t &tx)
{
    dsl_dataset_t &ds = *os.os_dsl_dataset;
    const dnode_phys_t &mdn = os.os_phys->os_meta_dnode;
    blkptr_t bp;
    for (uint32_t i = 0; i < mdn.dn_nblkptr; ++i)
        bp.blk_fill += BP_GET_FILL(mdn.dn_blkptr[i]);
    bp.blk_dva = os.os_dmu.store.write(os.os_phys_buf.copy());
    bp.blk_birth = tx.tx_txg;
    bp.blk_lsize = os.os_phys_buf->size;
    bp.blk_type = DMU_OT_OBJSET;

    os.os_spa.spa_dsl_pool->dp_vdev.zio_write(pio, bp.blk_lsize, 0, tx.tx_txg);
    dsl_block_kill(os, ds.ds_bp);
    dsl_dataset_block_born(ds, bp.blk_lsize);
    ds.ds_bp = bp;
    os.os_rootbp = bp;
}

} // namespace

void dmu_objset_sync(objset_t &os, zio_root_t &pio, dmu_tx_t &tx)
{
    Probe probe{Fn::dmu_objset_sync};
    const size_t slot = tx.tx_txg & TXG_MASK;
    dnode_t &mdn = DMU_META_DNODE(os);
    os.os_sync_pio = &pio;

    dnode_sync(mdn, tx);
    for (const uint64_t object : accounting_objects)
        if (dnode_t *dn = dmu_objset_used_dnode(os, object); dn != nullptr && dn->dn_type != DMU_OT_NONE)
            dnode_sync(*dn, tx);
    if (os.freed_listed_apart)
        sync_dnodes(os, os.os_free_dnodes[slot], slot, tx);
    sync_dnodes(os, os.os_dirty_dnodes[slot], slot, tx);

    // What is left on the meta-dnode's list are its blocks of dnodes, put back by dbuf_sync_leaf.
    if (auto &records = mdn.dn_dirty_records[slot]) {
        while (dbuf_dirty_record_t *dr = records->head()) {
            VERIFY(dr->dr_dbuf->db_level == 0);
            records->remove(dr);
            dbuf_write_issue(dr);
        }
    }
    os.os_dmu.variants.object_alloc->objset_synced(os);
    write_root(os, pio, tx);
    os.os_sync_pio = nullptr;
}

} // namespace dmu
