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
#include "model/kstats.h"
#include "model/variants/variants.h"

namespace dmu {

// dbufs by (objset, object, level, blkid): chains under a fixed number of mutexes, many chains to each.
struct dbuf_hash_table_t {
    dbuf_hash_table_t(uint64_t bucket_count, uint32_t mutex_count);
    ~dbuf_hash_table_t();
    dbuf_hash_table_t(const dbuf_hash_table_t &) = delete;
    dbuf_hash_table_t &operator=(const dbuf_hash_table_t &) = delete;

    kmutex_t &mutex(uint64_t index) { return hash_mutexes[index & mutex_mask]; }

    uint64_t hash_table_mask;
    uint64_t mutex_mask;
    dmu_buf_impl_t **hash_table;
    kmutex_t *hash_mutexes;
};

// One chain a block of 8 KiB in 8 GiB of memory, as dbuf_init sizes it.
constexpr uint64_t DBUF_HASH_BUCKETS = 1ull << 20;

// Since 2017: dbufs nobody holds, least recently used first, up to a limit in bytes.
struct dbuf_cache_t {
    dbuf_cache_t();

    kmutex_t mls_lock{"mls_lock"};
    list_t<dmu_buf_impl_t> lru;
    uint64_t size = 0;
    uint64_t max_bytes = 100ull << 20;
    bool evicting = false;
    kmutex_t dbuf_evict_lock{"dbuf_evict_lock"};
};

struct dmu_state_t {
    explicit dmu_state_t(const model_config &config);

    const model_config config;
    const variants_t variants;
    const era_t &era;
    block_store store;
    arc_t arc;
    dbuf_hash_table_t dbufs;
    dbuf_cache_t dbuf_cache;
    dbuf_stats_t dbuf_stats;
    uint64_t objsets_opened = 0;
    std::array<uint64_t, 16> next_offset_level_calls{}; // dnode_next_offset_level by the level asked for
};

} // namespace dmu
