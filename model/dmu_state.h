// Everything the DMU keeps for one pool: the disk's contents, the ARC, the dbufs, and the choices in effect.
//
// In OpenZFS these are globals of the module; here they belong to a pool, so that a process can simulate one after
// another.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "model/arc.h"
#include "model/block.h"
#include "model/dbuf.h"
#include "model/dmu_zfetch.h"
#include "model/kmem.h"
#include "model/kstats.h"
#include "model/multilist.h"
#include "model/variants/dbuf_hash_locks.h"
#include "model/variants/variants.h"

namespace dmu {

// dbufs by (objset, object, level, blkid): chains under a number of locks, many chains to each.
struct dbuf_hash_table_t {
    dbuf_hash_table_t(uint64_t bucket_count, std::unique_ptr<dbuf_hash_locks_t> chain_locks);
    ~dbuf_hash_table_t();
    dbuf_hash_table_t(const dbuf_hash_table_t &) = delete;
    dbuf_hash_table_t &operator=(const dbuf_hash_table_t &) = delete;

    uint64_t hash_table_mask;
    dmu_buf_impl_t **hash_table;
    std::unique_ptr<dbuf_hash_locks_t> locks;
};

// How dbuf_init sizes the table for a machine's memory since 223b04d23d (2022): an eighth of it in blocks of 8 KiB.
struct dbuf_hash_sizes_t {
    uint64_t buckets;
    uint32_t mutexes;
};
dbuf_hash_sizes_t dbuf_hash_sizes(uint64_t memory_bytes);

// One chain a block of 8 KiB in 8 GiB of memory, as dbuf_init sized it before.
constexpr uint64_t DBUF_HASH_BUCKETS = 1ull << 20;

// Since 2017: dbufs nobody holds, least recently used first to go.
struct dbuf_cache_t {
    multilist_t<dmu_buf_impl_t> cache{member_offset(&dmu_buf_impl_t::db_cache_link),
                                      Fn::dbuf_cache_multilist_index_func};
};
struct dbuf_caches_t {
    explicit dbuf_caches_t(const pool_config &config);

    dbuf_cache_t &main() { return caches[DB_DBUF_CACHE]; }
    uint64_t target_bytes() const // dbuf_cache_target_bytes
    {
        count_calls(Fn::dbuf_cache_target_bytes, 1);
        return max_bytes;
    }
    uint64_t lowater_bytes() const;
    uint64_t hiwater_bytes() const;

    std::array<dbuf_cache_t, DB_CACHE_MAX> caches;
    const uint64_t max_bytes;
    const uint64_t metadata_max_bytes;

    kmutex_t dbuf_evict_lock{"dbuf_evict_lock"};
    // under dbuf_evict_lock:
    bool running = false;
    bool exiting = false;
    kcondvar_t dbuf_evict_cv, exit_cv;
};

struct dmu_state_t {
    explicit dmu_state_t(const model_config &config);

    const model_config config;
    const variants_t variants;
    const era_t &era;
    kmem_arena_t kmem;
    block_store store;
    arc_t arc;
    dbuf_hash_table_t dbufs;
    dbuf_caches_t dbuf_cache;
    dbuf_stats_t dbuf_stats;
    zfetch_stats_t zfetch_stats;
    zfetch_latency_t zfetch_latency{};
    // Calls of dmu_object_alloc, by how often they called dnode_next_offset and dnode_hold_impl: never, once, from 2,
    // 4, 8 ... on.
    std::array<uint64_t, 65> alloc_next_offsets{}, alloc_holds{};
    uint64_t objsets_opened = 0;
    std::array<uint64_t, 16> next_offset_level_calls{}; // dnode_next_offset_level by the level asked for
};

} // namespace dmu
