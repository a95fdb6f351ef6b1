// The dbuf cache: dbufs that nobody holds stay in memory, least recently used first to go (since 2016-11, d3c2ae1c08).
//
// Above its limit somebody must evict: an evictor down to nine tenths of the limit, and who releases a dbuf above
// eleven tenths helps with one. Followed: OpenZFS dbeb879699, dbuf.c. Left out: the split into one list a CPU, the
// metadata cache; the evictor is whoever passes the limit, which then evicts down to the low-water mark.
#include "model/dbuf_impl.h"

namespace dmu {

namespace {

constexpr uint64_t lowater_percent = 90;

// Evicts the dbuf that was released longest ago. False: none could be had.
bool dbuf_evict_one(dmu_state_t &dmu)
{
    Probe probe{Fn::dbuf_evict_one};
    dbuf_cache_t &cache = dmu.dbuf_cache;
    dmu_buf_impl_t *db = nullptr;
    {
        auto list = mutex_enter(cache.mls_lock);
        for (db = cache.lru.head(); db != nullptr; db = cache.lru.next(db))
            if (db->db_mtx.try_enter())
                break;
        if (db == nullptr)
            return false;
        cache.lru.remove(db);
        cache.size -= db->db_size;
        db->db_cached_in_lru = false;
    }
    ++dmu.dbuf_stats.cache_total_evicts;
    dbuf_destroy(*db);
    return true;
}

} // namespace

dbuf_cache_t::dbuf_cache_t() : lru(member_offset(&dmu_buf_impl_t::db_cache_link)) {}

void dbuf_cache_insert(dmu_state_t &dmu, dmu_buf_impl_t &db)
{
    dbuf_cache_t &cache = dmu.dbuf_cache;
    {
        auto list = mutex_enter(cache.mls_lock);
        cache.lru.insert_tail(&db);
        cache.size += db.db_size;
        db.db_cached_in_lru = true;
    }
    mutex_exit(db.db_mtx);

    if (cache.size <= cache.max_bytes || cache.evicting)
        return;
    {
        auto held = mutex_enter(cache.dbuf_evict_lock);
        cache.evicting = true;
    }
    while (cache.size > cache.max_bytes / 100 * lowater_percent)
        if (!dbuf_evict_one(dmu))
            break;
    cache.evicting = false;
}

uint64_t dbuf_cache_evict_all(dmu_state_t &dmu)
{
    uint64_t evicted = 0;
    while (dbuf_evict_one(dmu))
        ++evicted;
    return evicted;
}

} // namespace dmu
