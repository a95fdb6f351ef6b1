#include "scenarios/sections.h"

#include "model/choices.h"
#include "model/eras.h"
#include "scenarios/operation.h"

#include <algorithm>

namespace scenarios {

namespace {

constexpr uint64_t pebibyte = 1ull << 50;

// The names that may be chosen for a field of code_config.
std::vector<std::string> choices_for(std::string_view field)
{
    std::vector<std::string> names;
    for (const dmu::choice_info &choice : dmu::choices())
        if (field == choice.field)
            names.emplace_back(choice.name);
    return names;
}

} // namespace

std::vector<std::string> era_names()
{
    std::vector<std::string> names;
    for (const dmu::era_t &era : dmu::eras())
        names.emplace_back(era.name);
    return names;
}

const Table &code_table()
{
    using dmu::code_config;
    static const Table table(
        "a code base",
        {choice("era", &code_config::era, era_names(), "The real code base that sets every choice below."),
         from_era(choice("object_alloc", &code_config::object_alloc, choices_for("object_alloc"),
                         "How dmu_object_alloc finds a free number.")),
         from_era(number("rescan_threshold", &code_config::rescan_threshold, {Unit::plain, 0, INT32_MAX},
                         "Dnodes freed in a txg from which on the next search begins again at object 0.")),
         number("alloc_chunk_shift", &code_config::alloc_chunk_shift, {Unit::plain, 0, 24},
                "log2 of the objects in one CPU's chunk (per-cpu); at least a dnode block, at most an L1's span are "
                "used."),
         from_era(choice("tx_hold_zap", &code_config::tx_hold_zap, choices_for("tx_hold_zap"),
                         "How dmu_tx_hold_zap asks the ZAP.")),
         from_era(choice("dbuf_hold", &code_config::dbuf_hold, choices_for("dbuf_hold"),
                         "Where dbuf_hold_impl keeps its locals.")),
         from_era(
             flag("arc_buf_access", &code_config::arc_buf_access, "A hold of a cached buffer tells the ARC of it.")),
         from_era(flag("walk_earlier_slots", &code_config::walk_earlier_slots,
                       "dnode_hold_impl looks at every slot before the wanted one.")),
         from_era(flag("rw_upgrade_can_succeed", &code_config::rw_upgrade_can_succeed,
                       "rw_tryupgrade may succeed (kernel); in user space it never does.")),
         from_era(flag("read_consults_prefetch", &code_config::read_consults_prefetch,
                       "A read of a block of dnodes passes the meta-dnode's prefetcher lock (before acfd2d4641).")),
         from_era(flag("zap_shrink", &code_config::zap_shrink, "zap_remove merges emptied sibling leaves.")),
         from_era(flag("dbuf_cache", &code_config::dbuf_cache, "Released dbufs stay on a list of their own.")),
         from_era(choice("dbuf_evict_notify", &code_config::dbuf_evict_notify, choices_for("dbuf_evict_notify"),
                         "How a release finds out that the dbuf cache is above its target.")),
         choice("dbuf_hash_locks", &code_config::dbuf_hash_locks, choices_for("dbuf_hash_locks"),
                "What guards the chains of the dbuf hash table."),
         flag("hold_free_whole_range", &code_config::hold_free_whole_range,
              "dmu_tx_hold_free counts level-1 blocks that do not exist, as before zfs#3064."),
         choice("zap_upgrade", &code_config::zap_upgrade, choices_for("zap_upgrade"),
                "How a thread that holds a ZAP's header as reader, and a leaf, becomes the header's writer."),
         choice("slot_retry", &code_config::slot_retry, choices_for("slot_retry"),
                "How dnode_hold_impl goes on when a slot's handle is locked or held (eras since 2019)."),
         choice("slot_locks", &code_config::slot_locks, choices_for("slot_locks"),
                "What is locked while a dnode of several slots takes them (eras since 2019)."),
         choice("slot_wake", &code_config::slot_wake, choices_for("slot_wake"),
                "How those who wait for a slot's handle are woken (eras since 2019)."),
         choice("txg_hold", &code_config::txg_hold, choices_for("txg_hold"),
                "How long a transaction keeps its txg from being synced."),
         choice("dirty_check", &code_config::dirty_check, choices_for("dirty_check"),
                "Where dnode_setdirty looks whether the dnode is on the dirty list already."),
         choice("sync_dispatch", &code_config::sync_dispatch, choices_for("sync_dispatch"),
                "Which lists of dirty dnodes become tasks of sync (with more than one sync thread)."),
         choice("assign_order", &code_config::assign_order, choices_for("assign_order"),
                "Whether object_update is assigned before or after it takes the structure lock."),
         from_era(choice("user_accounting", &code_config::user_accounting, choices_for("user_accounting"),
                         "How sync counts what users and groups use; of file systems only.")),
         from_era(choice("zfetch", &code_config::zfetch, choices_for("zfetch"),
                         "What guards the prefetcher's streams, and what a read does that finds them taken.")),
         choice("struct_lock", &code_config::struct_lock, choices_for("struct_lock"), "What dn_struct_rwlock is."),
         number("struct_lock_fan_out", &code_config::struct_lock_fan_out, {Unit::plain, 1, 64},
                "Locks of a dn_struct_rwlock that is fanned out (RRM_NUM_LOCKS)."),
         from_era(choice("arc_meta_strategy", &code_config::arc_meta_strategy, choices_for("arc_meta_strategy"),
                         "What the ARC evicts when metadata are above their limit (zfs_arc_meta_strategy).")),
         choice("fault", &code_config::fault, choices_for("fault"),
                "A planted fault: sets one of the choices above to what is wrong."),
         choice("create_path", &code_config::create_path, {"zpl", "dmu"},
                "What create and unlink do: the whole file system's steps, or the recorded sequence of DMU calls "
                "alone.")});
    return table;
}

const Table &disk_table()
{
    using dmu::disk_config;
    static const Table table(
        "a disk",
        {number("latency", &disk_config::latency_ns, {Unit::duration, 0, 10'000'000'000}, "Time of one request."),
         number("bandwidth", &disk_config::bandwidth, {Unit::size, 1, pebibyte}, "Bytes a second."),
         number("queue_depth", &disk_config::queue_depth, {Unit::plain, 1, 10'000},
                "Requests in flight whose latencies overlap.")});
    return table;
}

const Table &pool_table()
{
    using dmu::pool_config;
    static const Table table(
        "a pool",
        {number("txg_timeout", &pool_config::txg_timeout_ns, {Unit::duration, 1'000'000, longest_ns},
                "Longest time that a txg stays open (zfs_txg_timeout)."),
         number("dirty_data_max", &pool_config::dirty_data_max, {Unit::size, 1 << 20, pebibyte},
                "Dirty bytes at which writers are stopped (zfs_dirty_data_max)."),
         number("dirty_data_sync", &pool_config::dirty_data_sync, {Unit::size, 1 << 10, pebibyte},
                "Dirty bytes at which the open txg is closed (zfs_dirty_data_sync)."),
         number("delay_min_dirty_percent", &pool_config::delay_min_dirty_percent, {Unit::plain, 0, 100},
                "Share of dirty_data_max from which on writers are slowed down (zfs_delay_min_dirty_percent)."),
         number("delay_scale", &pool_config::delay_scale, {Unit::plain, 0, 1'000'000'000},
                "How steeply, in nanoseconds (zfs_delay_scale)."),
         number("sync_threads", &pool_config::sync_threads, {Unit::plain, 1, 256}, "Threads that sync dnodes."),
         number("arc_max", &pool_config::arc_max, {Unit::size, 1 << 20, pebibyte}, "Size of the ARC (zfs_arc_max)."),
         number("arc_meta_limit", &pool_config::arc_meta_limit, {Unit::size, 0, pebibyte},
                "Of it, for metadata (zfs_arc_meta_limit); 0: three quarters."),
         number(
             "memory", &pool_config::memory, {Unit::size, 0, pebibyte},
             "Memory by which the dbuf hash table and the number of its locks are sized, as since 2022; 0: 1,048,576 "
             "chains and dataset.dbuf_mutexes locks."),
         number("dbuf_cache_max_bytes", &pool_config::dbuf_cache_max_bytes, {Unit::size, 1 << 16, pebibyte},
                "Target of the dbuf cache (dbuf_cache_max_bytes)."),
         number("dbuf_metadata_cache_max_bytes", &pool_config::dbuf_metadata_cache_max_bytes, {Unit::size, 0, pebibyte},
                "Most bytes in the cache of metadata (dbuf_metadata_cache_max_bytes)."),
         object("disk", &pool_config::disk, disk_table(), "The one simulated disk.")});
    return table;
}

const Table &dataset_table()
{
    using dmu::dataset_config;
    static const Table table(
        "a dataset",
        {from_era(number("meta_indirect_shift", &dataset_config::meta_indirect_shift, {Unit::plain, 14, 17},
                         "log2 of the bytes in an indirect block of the meta-dnode.")),
         from_era(number("indirect_shift", &dataset_config::indirect_shift, {Unit::plain, 12, 17},
                         "The same for files and directories.")),
         number("recordsize", &dataset_config::recordsize, {Unit::size, 512, 16 << 20, true}, "Block size of files."),
         from_era(number("dbuf_mutexes", &dataset_config::dbuf_mutexes, {Unit::plain, 1, 1 << 20, true},
                         "Mutexes of the dbuf hash table.")),
         number("zap_salt", &dataset_config::zap_salt, {Unit::plain, 1, UINT64_MAX}, "Salt of the ZAP's hash."),
         number("dnodesize", &dataset_config::dnodesize, {Unit::plain, 512, 512},
                "Bytes of a file's dnode: one slot. Objects of more slots are made by alloc and claim with \"slots\".")});
    return table;
}

} // namespace scenarios
