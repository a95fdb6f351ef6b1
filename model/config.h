// What can be chosen about the simulated DMU: the code base and its variants, the pool, the dataset.
//
// Plain values. The scenario reader fills them from JSON; model/eras.cpp gives the values of each real code base;
// model/variants/ turns names into objects. Sizes are bytes, times are nanoseconds unless the name says otherwise.
#pragma once

#include <cstdint>
#include <string>

namespace dmu {

// Names are looked up in the tables of model/variants/variants.cpp; every other field is a value of the code base.
struct code_config {
    std::string era = "illumos-2016";
    std::string object_alloc;              // how dmu_object_alloc finds a free number
    uint64_t rescan_threshold = 0;         // freed dnodes in the syncing txg that arm one search from object 0
    uint32_t alloc_chunk_shift = 7;        // log2 of the objects in one CPU's chunk; [5, log2(L1 span)] after clamping
    std::string tx_hold_zap;               // how dmu_tx_hold_zap asks the ZAP
    std::string dbuf_hold;                 // where dbuf_hold_impl keeps its locals
    bool arc_buf_access = false;           // dbuf_hold touches the ARC header of a cached buffer
    bool walk_earlier_slots = false;       // dnode_hold_impl looks at every slot before the wanted one
    bool rw_upgrade_can_succeed = true;    // rw_tryupgrade: kernel yes, user space never
    bool zap_shrink = false;               // zap_remove merges emptied sibling leaves
    bool hold_free_whole_range = false;    // dmu_tx_hold_free counts level-1 blocks that do not exist (before zfs#3064)
    bool dbuf_cache = false;               // released dbufs are kept on an LRU of their own
    std::string zap_upgrade = "try";       // how a thread that reads a ZAP's header and has a leaf becomes its writer
    std::string slot_retry = "drop-once";  // how dnode_hold_impl waits for a slot's handle (eras that judge by handles)
    std::string create_path = "zpl";       // zpl | dmu
    std::string dbuf_hash_locks = "mutex"; // what guards the chains of the dbuf hash table
    std::string dbuf_evict_notify;         // how a release finds out that the dbuf cache is too big
    bool read_consults_prefetch = false;   // a read of a block of dnodes passes the meta-dnode's prefetcher lock
    std::string slot_locks = "whole-range";      // what is locked while a large dnode takes its slots (the same eras)
    std::string slot_wake = "locked";            // how those who wait for a slot's handle are woken (the same eras)
    std::string txg_hold = "until-commit";       // how long a transaction keeps its txg from quiescing
    std::string dirty_check = "under-lock";      // where dnode_setdirty looks whether the dnode is listed already
    std::string sync_dispatch = "every-sublist"; // which lists of dirty dnodes become tasks of sync
    std::string assign_order = "assign-first";   // object_update: before or after the structure lock is taken
    std::string user_accounting;                 // how sync counts what owners use; file systems only
    std::string zfetch;                          // what guards the prefetcher's streams
    std::string struct_lock = "rwlock";          // dn_struct_rwlock: one lock, or several of which a reader enters one
    uint32_t struct_lock_fan_out = 17;           // how many (RRM_NUM_LOCKS)
    std::string arc_meta_strategy;               // what goes when metadata are above their limit
    std::string fault = "none";                  // planted: sets one of the choices above to what is wrong
};

struct disk_config {
    uint64_t latency_ns = 100'000;
    uint64_t bandwidth = 1ull << 30; // bytes a second
    uint32_t queue_depth = 10;       // operations in flight whose latencies overlap: zfs_vdev_async_write_max_active
};

struct pool_config {
    uint64_t txg_timeout_ns = 5'000'000'000;
    uint64_t dirty_data_max = 4ull << 30;
    uint64_t dirty_data_sync = 64ull << 20;
    uint32_t delay_min_dirty_percent = 60;
    uint64_t delay_scale = 500'000;
    uint32_t sync_threads = 1;
    uint64_t arc_max = 16ull << 30; // zfs_arc_max; a transaction whose estimate is above it can never be assigned
    uint64_t arc_meta_limit = 0;    // zfs_arc_meta_limit: of it, for metadata; 0: three quarters
    uint64_t memory = 0;            // sizes the dbuf hash table as since 2022; 0: as before
    uint64_t dbuf_cache_max_bytes = 100ull << 20;
    uint64_t dbuf_metadata_cache_max_bytes = 100ull << 20;
    disk_config disk;
};

struct dataset_config {
    uint32_t meta_indirect_shift = 14; // log2 bytes of the meta-dnode's indirect blocks: 14 or 17
    uint32_t indirect_shift = 14;      // the same for files and directories
    uint64_t recordsize = 128 << 10;
    uint32_t dbuf_mutexes = 256;
    uint64_t zap_salt = 1;
    uint32_t dnodesize = 512;
};

struct model_config {
    code_config code;
    pool_config pool;
    dataset_config dataset;
};

} // namespace dmu
