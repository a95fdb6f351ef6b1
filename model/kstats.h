// Counters under their OpenZFS names, each with the sentence that says what it counts.
#pragma once

#include <cstdint>

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
    X(hash_hits, "dbuf_find found the dbuf")                                                                           \
    X(hash_misses, "dbuf_find found none")                                                                             \
    X(hash_collisions, "dbufs passed over on the way along a chain")                                                   \
    X(hash_elements, "dbufs in the hash table")                                                                        \
    X(hash_elements_max, "the most there were")                                                                        \
    X(cache_count, "dbufs in the dbuf cache")                                                                          \
    X(cache_size_bytes, "bytes of the dbufs in the dbuf cache")                                                        \
    X(cache_total_evicts, "dbufs evicted from the dbuf cache")

#define ALLOCATOR_STATS(X)                                                                                             \
    X(searches, "searches for a sparse stretch of the meta-dnode")                                                     \
    X(rescans, "of those, begun at object 0")                                                                          \
    X(visits, "numbers tried and found taken")                                                                         \
    X(chunks, "chunks handed out")                                                                                     \
    X(migrations, "allocations that ended on another CPU than the one whose cursor gave the number")                    \
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
struct dnode_stats_t {
    DNODE_STATS(KSTAT_FIELD)
};
struct dbuf_stats_t {
    DBUF_STATS(KSTAT_FIELD)
};
struct allocator_stats_t {
    ALLOCATOR_STATS(KSTAT_FIELD)
};
struct dmu_tx_stats_t {
    DMU_TX_STATS(KSTAT_FIELD)
};
struct vdev_stat_t {
    VDEV_STATS(KSTAT_FIELD)
};
#undef KSTAT_FIELD

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

} // namespace dmu
