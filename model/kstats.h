// Counters under their OpenZFS names, each with the sentence that says what it counts.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "model/kstat.h"

namespace dmu {

// X(name, what it counts)
#define DNODE_STATS(X)                                                                                                 \
    X(dnode_hold_dbuf_hold, "dnode_hold_impl found no block for the object")                                           \
    X(dnode_hold_dbuf_read, "dnode_hold_impl could not read the object's block")                                       \
    X(dnode_hold_alloc_hits, "holds of allocated objects that succeeded")                                              \
    X(dnode_hold_alloc_misses, "holds of allocated objects refused: the slot is free")                                 \
    X(dnode_hold_alloc_lock_retry, "waits for a slot's lock while a dnode is made in it")                              \
    X(dnode_hold_alloc_lock_misses, "somebody else made the dnode meanwhile")                                          \
    X(dnode_hold_alloc_type_none, "holds of allocated objects refused: freed or being freed")                          \
    X(dnode_hold_free_hits, "holds of free slots that succeeded")                                                      \
    X(dnode_hold_free_misses, "holds of free slots refused: the slot is taken")                                        \
    X(dnode_hold_free_lock_retry, "waits for a free slot's lock")                                                      \
    X(dnode_hold_free_lock_misses, "somebody else took the free slot meanwhile")                                       \
    X(dnode_hold_free_overflow, "holds of free slots that would not fit the block")                                    \
    X(dnode_hold_free_refcount, "holds of free slots refused: somebody holds the dnode, or it is being freed")         \
    X(dnode_allocate, "dnodes given a type")                                                                           \
    X(dnode_free, "dnodes freed")                                                                                      \
    X(dnode_create, "dnode_t made")                                                                                    \
    X(dnode_destroy, "dnode_t thrown away")                                                                            \
    X(dnode_buf_evict, "blocks of dnode_t thrown away")                                                                \
    X(dnode_alloc_next_chunk, "chunks handed to a CPU")                                                                \
    X(dnode_alloc_race, "allocations that lost the slot between hold and lock")                                        \
    X(dnode_alloc_next_block, "allocations that skipped to the next block of dnodes")

#define DBUF_STATS(X)                                                                                                  \
    X(hash_hits, "dbuf_read found the contents in memory")                                                             \
    X(hash_misses, "dbuf_read did not")                                                                                \
    X(hash_collisions, "dbufs put into a chain that had some")                                                         \
    X(hash_elements, "dbufs in the hash table")                                                                        \
    X(hash_elements_max, "the most there were")                                                                        \
    X(hash_chains, "chains with more than one dbuf")                                                                   \
    X(hash_chain_max, "dbufs of the longest chain that was built")                                                     \
    X(hash_insert_race, "dbufs made in vain: somebody else put one in first")                                          \
    X(cache_count, "dbufs in the dbuf cache")                                                                          \
    X(cache_size_bytes, "bytes of the dbufs in the dbuf cache")                                                        \
    X(cache_size_bytes_max, "the most there were")                                                                     \
    X(cache_total_evicts, "dbufs evicted from the dbuf cache")                                                         \
    X(metadata_cache_count, "dbufs in the cache of metadata")                                                          \
    X(metadata_cache_size_bytes, "bytes of those")                                                                     \
    X(metadata_cache_size_bytes_max, "the most there were")                                                            \
    X(metadata_cache_overflow, "dbufs that found no room there")

constexpr uint32_t DN_MAX_LEVELS = 12; // of 512-byte blocks below 4 KiB indirect blocks, up to 2^64 bytes

#define ARC_STATS(X)                                                                                                   \
    X(hits, "looks at blocks whose contents were in memory")                                                           \
    X(misses, "blocks read from the disk")                                                                             \
    X(demand_data_hits, "of the hits, blocks of contents")                                                             \
    X(demand_data_misses, "of the misses")                                                                             \
    X(demand_metadata_hits, "of the hits, indirect blocks, dnodes and ZAPs")                                           \
    X(demand_metadata_misses, "of the misses")                                                                         \
    X(prefetch_data_hits, "looks by the prefetcher at blocks of contents in memory")                                   \
    X(prefetch_data_misses, "blocks of contents that it read from the disk")                                           \
    X(prefetch_metadata_hits, "the same of other blocks in memory")                                                    \
    X(prefetch_metadata_misses, "and of those it read")                                                                \
    X(async_upgrade_sync, "blocks that were wanted while a read that nobody waited for was under way")                 \
    X(demand_hit_predictive_prefetch, "hits of blocks that the prefetcher had brought")                                \
    X(mru_hits, "hits of blocks seen once before")                                                                     \
    X(mru_ghost_hits, "misses of blocks that mru had to give up")                                                      \
    X(mfu_hits, "hits of blocks seen more than once before")                                                           \
    X(mfu_ghost_hits, "misses of blocks that mfu had to give up")                                                      \
    X(deleted, "headers that left a ghost list")                                                                       \
    X(evict_skip, "buffers that could not be evicted")                                                                 \
    X(mutex_miss, "buffers not evicted because their hash lock was taken")                                             \
    X(access_skip, "looks at a buffer that became anonymous meanwhile")                                                \
    X(hash_elements, "headers that can be found")                                                                      \
    X(hash_elements_max, "the most there were")

#define ZFETCH_STATS(X)                                                                                                \
    X(zfetch_hits, "reads that went on with a stream of the prefetcher")                                               \
    X(zfetch_misses, "reads that belonged to none")                                                                    \
    X(zfetch_max_streams, "of those, that began none because the object had enough")

#define ALLOCATOR_STATS(X)                                                                                             \
    X(searches, "searches for a sparse stretch of the meta-dnode")                                                     \
    X(rescans, "of those, begun at object 0")                                                                          \
    X(visits, "numbers tried and found taken")                                                                         \
    X(chunks, "chunks handed out")                                                                                     \
    X(migrations, "allocations that ended on another CPU than the one whose cursor gave the number")                   \
    X(shared_blocks, "allocations in a dnode block that another CPU allocated in last")

#define DMU_TX_STATS(X)                                                                                                \
    X(dmu_tx_assigned, "transactions given a txg")                                                                     \
    X(dmu_tx_delay, "waits in txg_delay")                                                                              \
    X(dmu_tx_error, "assignments refused because a hold had failed")                                                   \
    X(dmu_tx_group, "assignments refused because a dnode was claimed by the txg before")                               \
    X(dmu_tx_memory_reserve, "assignments refused because the estimate is above the ARC's size")                       \
    X(dmu_tx_dirty_throttle, "assignments refused because too much of the ARC is dirty")                               \
    X(dmu_tx_dirty_delay, "transactions slowed down by the write throttle")                                            \
    X(dmu_tx_dirty_over_max, "transactions stopped at dirty_data_max")                                                 \
    X(dmu_tx_quota, "assignments refused for lack of space")

#define VDEV_STATS(X)                                                                                                  \
    X(vs_reads, "reads by the disk")                                                                                   \
    X(vs_bytes_read, "bytes read")                                                                                     \
    X(vs_writes, "writes by the disk, after neighbours were merged")                                                   \
    X(vs_bytes_written, "bytes written")

#define KSTAT_FIELD(name, text) uint64_t name = 0;
#define KSTAT_SHARED_FIELD(name, text) kstat_named_t name;
struct dnode_stats_t {
    DNODE_STATS(KSTAT_FIELD)
    std::span<uint64_t> words() { return {&dnode_hold_dbuf_hold, sizeof *this / sizeof(uint64_t)}; }
};
static_assert(std::is_standard_layout_v<dnode_stats_t>);
struct dbuf_stats_t {
    DBUF_STATS(KSTAT_SHARED_FIELD)
    std::array<kstat_named_t, DN_MAX_LEVELS> cache_levels;       // dbufs in the dbuf cache by level
    std::array<kstat_named_t, DN_MAX_LEVELS> cache_levels_bytes; // and their bytes
};
struct arc_stats_t {
    ARC_STATS(KSTAT_SHARED_FIELD)
};
struct zfetch_stats_t {
    ZFETCH_STATS(KSTAT_SHARED_FIELD)
};
struct allocator_stats_t {
    ALLOCATOR_STATS(KSTAT_FIELD)
    std::span<uint64_t> words() { return {&searches, sizeof *this / sizeof(uint64_t)}; }
};
static_assert(std::is_standard_layout_v<allocator_stats_t>);
struct dmu_tx_stats_t {
    DMU_TX_STATS(KSTAT_FIELD)
};
struct vdev_stat_t {
    VDEV_STATS(KSTAT_FIELD)
};
#undef KSTAT_FIELD
#undef KSTAT_SHARED_FIELD

// Calls visit(name, value) for each counter, in the order above.
template <class Visit>
void for_each_kstat(const dnode_stats_t &stats, Visit visit)
{
#define KSTAT_VISIT(name, text) visit(#name, stats.name);
    DNODE_STATS(KSTAT_VISIT)
}
template <class Visit>
void for_each_kstat(const dbuf_stats_t &stats, Visit visit)
{
    DBUF_STATS(KSTAT_VISIT)
}
template <class Visit>
void for_each_kstat(const arc_stats_t &stats, Visit visit)
{
    ARC_STATS(KSTAT_VISIT)
}
template <class Visit>
void for_each_kstat(const zfetch_stats_t &stats, Visit visit)
{
    ZFETCH_STATS(KSTAT_VISIT)
}
template <class Visit>
void for_each_kstat(const dmu_tx_stats_t &stats, Visit visit)
{
    DMU_TX_STATS(KSTAT_VISIT)
}
template <class Visit>
void for_each_kstat(const vdev_stat_t &stats, Visit visit)
{
    VDEV_STATS(KSTAT_VISIT)
}
template <class Visit>
void for_each_kstat(const allocator_stats_t &stats, Visit visit)
{
    ALLOCATOR_STATS(KSTAT_VISIT)
#undef KSTAT_VISIT
}

// It says how much there is, or the most there was, and not how often something happened.
constexpr bool is_level(std::string_view kstat)
{
    constexpr std::string_view levels[] = {"hash_elements", "hash_chains", "hash_chain_max", "cache_count",
                                           "metadata_cache_count"};
    for (const std::string_view level : levels)
        if (kstat == level)
            return true;
    return kstat.ends_with("_bytes") || kstat.ends_with("_max");
}

} // namespace dmu
