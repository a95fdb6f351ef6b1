// The dbuf cache: dbufs that nobody holds stay in memory, least recently used first to go (since 2016-11, d3c2ae1c08).
//
// A last release puts the dbuf into the cache, a hold takes it out again, and both count in words that all CPUs share.
// Above the target a thread evicts down to nine tenths of it, and who releases a dbuf above eleven tenths helps with
// one (model/variants/dbuf_evict_notify.h). Dbufs of the pool's own metadata go to a second cache, from which nothing
// is evicted while it has room. Followed: OpenZFS 64b6c47d90, dbuf.c. While nothing costs time, who passes the target
// does the thread's work.
#include "model/dbuf_impl.h"

namespace dmu {

namespace {

constexpr uint64_t lowater_percent = 10; // dbuf_cache_lowater_pct: below the target
constexpr uint64_t hiwater_percent = 10; // dbuf_cache_hiwater_pct: above it

// Types whose dbufs make administrative commands fast (DMU_OT_IS_METADATA_CACHED).
bool is_metadata_cached(dmu_object_type_t type)
{
    return type == DMU_OT_OBJSET || (type >= DMU_OT_DSL_DIR && type <= DMU_OT_DSL_DATASET) ||
           type == DMU_OT_OBJECT_DIRECTORY;
}

dbuf_cached_state_t cache_for(dmu_state_t &dmu, dmu_buf_impl_t &db)
{
    count_calls(Fn::dbuf_include_in_metadata_cache, 1);
    dmu_object_type_t type;
    {
        auto owner = DB_DNODE_ENTER(db);
        type = owner->dn_type;
    }
    if (!is_metadata_cached(type))
        return DB_DBUF_CACHE;
    if (dmu.dbuf_stats.metadata_cache_size_bytes <= dmu.dbuf_cache.metadata_max_bytes)
        return DB_DBUF_METADATA_CACHE;
    dmu.dbuf_stats.metadata_cache_overflow.atomic_add(1);
    return DB_DBUF_CACHE;
}

// Size and counters of a cache that a dbuf enters (sign 1) or leaves (sign -1). Returns the size.
SIM_ALWAYS_INLINE uint64_t count_cached(dmu_state_t &dmu, const dmu_buf_impl_t &db, dbuf_cached_state_t which,
                                        int64_t sign)
{
    dbuf_stats_t &stats = dmu.dbuf_stats;
    const int64_t bytes = sign * int64_t{db.db_size};
    if (which == DB_DBUF_CACHE) [[likely]]
        return atomic_add_each({{stats.cache_size_bytes, bytes},
                                {stats.cache_levels[db.db_level], sign},
                                {stats.cache_count, sign},
                                {stats.cache_levels_bytes[db.db_level], bytes}});
    return atomic_add_each({{stats.metadata_cache_size_bytes, bytes}, {stats.metadata_cache_count, sign}});
}

void evict_to_lowater(dmu_state_t &dmu)
{
    uint32_t in_vain = 0; // pieces of the list in a row in which there was nothing to be had
    const uint32_t pieces = dmu.dbuf_cache.main().cache.get_num_sublists();
    while (dmu.dbuf_stats.cache_size_bytes.atomic_load() > dmu.dbuf_cache.lowater_bytes() && in_vain < pieces)
        in_vain = dbuf_evict_one(dmu) ? 0 : in_vain + 1;
}

void dbuf_evict_thread(dmu_state_t &dmu)
{
    dbuf_caches_t &caches = dmu.dbuf_cache;
    auto held = mutex_enter(caches.dbuf_evict_lock);
    while (!caches.exiting) {
        if (dmu.dbuf_stats.cache_size_bytes.atomic_load() <= caches.lowater_bytes()) {
            cv_wait(caches.dbuf_evict_cv, caches.dbuf_evict_lock, WaitKind::other);
            continue;
        }
        held.exit();
        evict_to_lowater(dmu);
        held = mutex_enter(caches.dbuf_evict_lock);
        // What is left is held by somebody at this instant: whoever releases it will say so.
        if (!caches.exiting)
            cv_wait(caches.dbuf_evict_cv, caches.dbuf_evict_lock, WaitKind::other);
    }
    caches.running = false;
    cv_broadcast(caches.exit_cv);
}

} // namespace

dbuf_caches_t::dbuf_caches_t(const pool_config &config)
    : max_bytes(config.dbuf_cache_max_bytes), metadata_max_bytes(config.dbuf_metadata_cache_max_bytes)
{
}

uint64_t dbuf_caches_t::lowater_bytes() const
{
    return max_bytes - max_bytes * lowater_percent / 100;
}

uint64_t dbuf_caches_t::hiwater_bytes() const
{
    return max_bytes + max_bytes * hiwater_percent / 100;
}

bool dbuf_evict_one(dmu_state_t &dmu)
{
    Probe probe{Fn::dbuf_evict_one};
    dbuf_cache_t &cache = dmu.dbuf_cache.main();
    auto &piece = cache.cache.sublist(cache.cache.next_index());
    dmu_buf_impl_t *db = nullptr;
    {
        auto list = mutex_enter(piece.mls_lock);
        for (db = piece.mls_list.tail(); db != nullptr; db = piece.mls_list.prev(db))
            if (db->db_mtx.try_enter())
                break;
        if (db == nullptr)
            return false;
        piece.mls_list.remove(db);
    }
    count_cached(dmu, *db, DB_DBUF_CACHE, -1);
    db->db_caching_status = DB_NO_CACHE;
    dbuf_destroy(*db);
    dmu.dbuf_stats.cache_size_bytes_max.atomic_max(dmu.dbuf_stats.cache_size_bytes);
    dmu.dbuf_stats.cache_total_evicts.atomic_add(1);
    return true;
}

void dbuf_cache_remove(dmu_state_t &dmu, dmu_buf_impl_t &db)
{
    Probe probe{Fn::dbuf_hold_found_in_cache};
    dbuf_cache_t &cache = dmu.dbuf_cache.caches[db.db_caching_status];
    {
        Probe remove_probe{Fn::multilist_remove};
        cache.cache.remove(&db, db.db_hash);
    }
    count_cached(dmu, db, db.db_caching_status, -1);
    db.db_caching_status = DB_NO_CACHE;
}

void dbuf_cache_insert(dmu_state_t &dmu, dmu_buf_impl_t &db, bool evicting)
{
    Probe into_probe{Fn::dbuf_rele_into_cache};
    const dbuf_cached_state_t which = cache_for(dmu, db);
    dbuf_cache_t &cache = dmu.dbuf_cache.caches[which];
    db.db_caching_status = which;
    count_calls(Fn::multilist_link_active, 1);
    {
        Probe insert_probe{Fn::multilist_insert};
        cache.cache.insert(&db, db.db_hash);
    }
    const uint64_t size = count_cached(dmu, db, which, 1);
    auto &most =
        which == DB_DBUF_CACHE ? dmu.dbuf_stats.cache_size_bytes_max : dmu.dbuf_stats.metadata_cache_size_bytes_max;
    most.atomic_max(size);
    mutex_exit(db.db_mtx);

    if (which != DB_DBUF_CACHE || evicting)
        return;
    Probe probe{Fn::dbuf_evict_notify};
    if (dmu.dbuf_stats.cache_size_bytes.atomic_load() <= dmu.dbuf_cache.target_bytes()) [[likely]]
        return;
    if (costs_no_time())
        evict_to_lowater(dmu);
    else
        dmu.variants.dbuf_evict_notify->over_target(dmu);
}

void dbuf_evict_start(dmu_state_t &dmu)
{
    if (!dmu.config.code.dbuf_cache)
        return;
    dmu.dbuf_cache.exiting = false;
    dmu.dbuf_cache.running = true;
    thread_create("dbuf_evict", [&dmu] { dbuf_evict_thread(dmu); });
}

void dbuf_evict_stop(dmu_state_t &dmu)
{
    dbuf_caches_t &caches = dmu.dbuf_cache;
    auto held = mutex_enter(caches.dbuf_evict_lock);
    caches.exiting = true;
    cv_signal(caches.dbuf_evict_cv);
    while (caches.running)
        cv_wait(caches.exit_cv, caches.dbuf_evict_lock);
}

} // namespace dmu
