// What the DSL knows of a pool: its directories' and datasets' space, and how much of memory is dirty.
//
// Two kinds of account are kept. Space: a transaction reserves the worst it may write in its directory and each
// ancestor (dd_tempreserved) until it commits; what it really dirtied is added as it dirties (dd_space_towrite) until
// the txg has synced. Dirty bytes: dp_dirty_total grows when a block is dirtied and shrinks when its write is done; the
// open txg is closed when it passes dirty_data_sync, and writers are slowed down, then stopped, as it nears
// dirty_data_max. Followed: OpenZFS 8bea98150 (2016). Left out: quotas and reservations, snapshots (so ds_prev_snap_txg
// stays 0), the meta-objset's own contents (its writes are counted as one block a txg).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/blkptr.h"
#include "model/config.h"
#include "model/disk.h"
#include "model/kstats.h"
#include "model/result.h"
#include "model/taskq.h"
#include "model/txg.h"

namespace dmu {

struct objset_t;
struct dnode_t;
struct dmu_tx_t;
struct dsl_pool_t;
struct spa_t;

// Space of a dataset and of everything below it.
struct dsl_dir_t {
    dsl_dir_t(dsl_pool_t &dp, dsl_dir_t *parent) : dd_pool(&dp), dd_parent(parent) {}

    dsl_pool_t *dd_pool;
    dsl_dir_t *dd_parent; // null: the pool's root directory
    txg_node_t<dsl_dir_t> dd_dirty_link;

    kmutex_t dd_lock{"dd_lock"};
    // under dd_lock:
    per_txg<uint64_t> dd_tempreserved{};  // by transactions that have not committed
    per_txg<uint64_t> dd_space_towrite{}; // dirtied, not synced
    uint64_t dd_used_bytes = 0;           // on disk
};

struct dsl_dataset_t {
    explicit dsl_dataset_t(dsl_dir_t &dd) : ds_dir(&dd) {}

    dsl_dir_t *ds_dir;
    objset_t *ds_objset = nullptr;
    blkptr_t ds_bp; // the objset's root block on disk; the sync thread's
    txg_node_t<dsl_dataset_t> ds_dirty_link;
    uint64_t ds_prev_snap_txg = 0; // there are no snapshots

    kmutex_t ds_lock{"ds_lock"};
    // under ds_lock:
    uint64_t ds_referenced_bytes = 0;
};

struct dsl_pool_t {
    explicit dsl_pool_t(spa_t &spa, const pool_config &config);

    spa_t *dp_spa;
    pool_config dp_config;
    tx_state_t dp_tx;
    vdev_t dp_vdev;
    std::unique_ptr<taskq_t> dp_sync_taskq; // null: the sync thread does it all

    dsl_dir_t dp_root_dir;
    txg_list_t<dsl_dataset_t, &dsl_dataset_t::ds_dirty_link> dp_dirty_datasets;
    txg_list_t<dsl_dir_t, &dsl_dir_t::dd_dirty_link> dp_dirty_dirs;

    kmutex_t dp_lock{"dp_lock"};
    // under dp_lock:
    kcondvar_t dp_spaceavail_cv;
    per_txg<uint64_t> dp_dirty_pertxg{};
    racy<uint64_t> dp_dirty_total{0}; // peeked at by the sync thread and by arc_tempreserve_space
    hrtime_t dp_last_wakeup{};        // when the last delayed transaction goes on

    atomic_uint64_t dp_arc_tempreserve{0};
    dmu_tx_stats_t dp_tx_stats;
    // Calls of dmu_tx_hold_zap that named an entry, by how often they held the ZAP's dnode; the last: that often or
    // more.
    std::array<uint64_t, 32> dp_hold_zap_holds{};
    std::vector<uint32_t> dp_hopeless_tries; // by thread: see dmu_tx_wait
};

// Dirty bytes
bool dsl_pool_need_dirty_delay(dsl_pool_t &dp);
void dsl_pool_dirty_space(dsl_pool_t &dp, int64_t space, const dmu_tx_t &tx);
void dsl_pool_undirty_space(dsl_pool_t &dp, uint64_t space, uint64_t txg);
void dsl_pool_sync(dsl_pool_t &dp, uint64_t txg); // in the sync thread

// Space
uint64_t spa_get_asize(uint64_t lsize); // worst case on disk of lsize logical bytes
Result<> dsl_dir_tempreserve_space(dsl_dir_t &dd, uint64_t lsize, uint64_t asize, dmu_tx_t &tx);
void dsl_dir_tempreserve_clear(dmu_tx_t &tx);
void dsl_dir_willuse_space(dsl_dir_t &dd, int64_t space, const dmu_tx_t &tx);
void dsl_dir_diduse_space(dsl_dir_t &dd, int64_t used); // in the sync thread

// A block of `space` bytes of dn is dirtied (or, below 0, given up): both accounts.
void dnode_willuse_space(dnode_t &dn, int64_t space, const dmu_tx_t &tx);

// Datasets. A null dataset is the meta-objset's.
void dsl_dataset_dirty(dsl_dataset_t &ds, const dmu_tx_t &tx);
uint64_t dsl_dataset_prev_snap_txg(const dsl_dataset_t &ds);
bool dsl_dataset_block_freeable(const dsl_dataset_t &ds, const blkptr_t *bp, uint64_t blk_birth);
void dsl_dataset_block_born(dsl_dataset_t &ds, uint64_t bytes); // in the sync thread: it is on disk now
void dsl_dataset_block_kill(dsl_dataset_t &ds, uint64_t bytes);

} // namespace dmu
