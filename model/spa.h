// A pool as a whole: created from a configuration, run by its service threads, exported and imported again.
//
//     spa_t spa(config);              // in a simulated thread
//     objset_t &os = spa.spa_create();  // an objset of type OTHER, synced: its meta-dnode has all its levels on disk
//     ... work ...
//     spa.spa_stop();                 // everything synced, every service thread returned
//
// Two service threads a pool as in OpenZFS (txg_quiesce, txg_sync) and one that plays the disk's interrupts. spa_sync
// is what the sync thread does for each txg: the dirty datasets' blocks, then the meta-objset, then the uberblock; only
// then has the txg happened. Followed: OpenZFS 8bea98150 (2016). Left out: vdev labels, config, scrub, dedup, deferred
// frees; the meta-objset has no contents here and costs one block a txg.
#pragma once

#include <cstdint>
#include <memory>

#include "model/config.h"
#include "model/dsl_pool.h"

namespace dmu {

struct objset_t;
struct dmu_state_t;

struct spa_t {
    explicit spa_t(const model_config &config);
    ~spa_t();
    spa_t(const spa_t &) = delete;
    spa_t &operator=(const spa_t &) = delete;

    // REQUIRES for all: a simulated thread that holds no lock and no transaction.
    objset_t &spa_create(); // starts the service threads; the objset is empty and synced
    void spa_start();       // the service threads alone: for tests, and after an export
    void spa_stop();        // ends them; the pool stays readable
    void spa_close();       // after that: nothing stays in memory. REQUIRES: nothing is dirty, nobody holds a dnode
    objset_t &spa_reopen_objset(); // synced, disowned, owned again: what was only in memory is gone
    objset_t &spa_export_import(); // the same, with nothing left in the ARC; takes the txgs that the real one takes

    objset_t &objset() { return *spa_objset; }
    dsl_pool_t &dsl_pool() { return *spa_dsl_pool; }

    const model_config spa_config;
    std::unique_ptr<dmu_state_t> spa_dmu; // the disk's contents, the ARC, the dbufs
    kmutex_t spa_scl_lock{"scl_lock"};    // of the pool's configuration
    std::unique_ptr<dsl_pool_t> spa_dsl_pool;
    std::unique_ptr<dsl_dir_t> spa_dir;         // of the objset, below the pool's root directory
    std::unique_ptr<dsl_dataset_t> spa_dataset; // of the objset
    std::unique_ptr<objset_t> spa_objset;
    uint64_t spa_last_synced_txg = 0;

private:
    void spa_disown_objset();
    objset_t &spa_own_objset();
};

void spa_sync(spa_t &spa, uint64_t txg); // in the sync thread

// Bytes a block occupies, read under the configuration lock as for any user of a block pointer's addresses.
uint64_t bp_get_dsize(spa_t &spa, const blkptr_t &bp);

} // namespace dmu
