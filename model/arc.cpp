#include "model/arc.h"

#include <algorithm>

#include "model/dbuf_impl.h"
#include "model/dsl_pool.h"
#include "model/spa.h"

namespace dmu {

namespace {

void arc_hdr_drop(dmu_state_t &dmu, arc_buf_t *buf)
{
    dmu.arc.size(buf->b_state) -= buf->b_data->size;
    delete buf;
}

void arc_change_state(dmu_state_t &dmu, arc_buf_t &buf, arc_state_t state)
{
    dmu.arc.size(buf.b_state) -= buf.b_data->size;
    buf.b_state = state;
    dmu.arc.size(state) += buf.b_data->size;
}

// A look at a cached buffer: the second one that is not right after the first makes it frequently used.
void arc_access(dmu_state_t &dmu, arc_buf_t &buf)
{
    const hrtime_t now = gethrtime();
    ++dmu.arc.stats.hits;
    if (buf.b_state == arc_state_t::mru) {
        ++buf.b_mru_hits;
        ++dmu.arc.stats.mru_hits;
        if ((now - buf.b_access).ns() < ARC_MINTIME_NS)
            return;
        arc_change_state(dmu, buf, arc_state_t::mfu);
    } else {
        ++buf.b_mfu_hits;
        ++dmu.arc.stats.mfu_hits;
    }
    buf.b_access = now;
}

void make_evictable(dmu_state_t &dmu, arc_buf_t &buf)
{
    auto list = mutex_enter(dmu.arc.mls_lock);
    if (!list_link_active(buf.b_link))
        dmu.arc.evictable(buf.b_state).insert_tail(&buf);
}

void make_unevictable(dmu_state_t &dmu, arc_buf_t &buf)
{
    auto list = mutex_enter(dmu.arc.mls_lock);
    if (list_link_active(buf.b_link))
        dmu.arc.evictable(buf.b_state).remove(&buf);
}

} // namespace

arc_buf_t *&arc_t::slot(uint64_t dva)
{
    if (dva >= by_dva.size())
        by_dva.resize(std::max<size_t>(dva + 1, by_dva.size() * 2));
    return by_dva[dva];
}

list_t<arc_buf_t> &arc_t::evictable(arc_state_t state)
{
    VERIFY(state != arc_state_t::anon);
    return state == arc_state_t::mru ? evictable_mru : evictable_mfu;
}

uint64_t &arc_t::size(arc_state_t state)
{
    switch (state) {
    case arc_state_t::mru:
        return stats.mru_size;
    case arc_state_t::mfu:
        return stats.mfu_size;
    case arc_state_t::anon:
        break;
    }
    return stats.anon_size;
}

arc_t::~arc_t()
{
    for (arc_buf_t *buf : by_dva)
        if (buf != nullptr)
            delete buf;
}

bool arc_released(dmu_state_t &dmu, arc_buf_t &buf)
{
    if (dmu.config.code.dbuf_cache)
        return arc_is_anonymous(buf);
    Probe probe{Fn::arc_released};
    auto held = mutex_enter(buf.b_evict_lock);
    return arc_is_anonymous(buf);
}

arc_buf_t *arc_buf_alloc(dmu_state_t &dmu, block_kind kind, uint32_t size)
{
    Probe probe{Fn::arc_buf_alloc};
    kmem_alloc(size);
    auto *buf = new arc_buf_t;
    buf->b_data = block_ref::make(kind, size);
    dmu.arc.size(arc_state_t::anon) += size;
    return buf;
}

arc_buf_t *arc_read(spa_t &spa, const blkptr_t &bp)
{
    Probe probe{Fn::arc_read};
    dmu_state_t &dmu = *spa.spa_dmu;
    VERIFY(!BP_IS_HOLE(bp));
    {
        auto held = mutex_enter(dmu.arc.hash_lock(bp.blk_dva));
        if (arc_buf_t *buf = dmu.arc.slot(bp.blk_dva)) {
            VERIFY(buf->b_user == nullptr);
            make_unevictable(dmu, *buf);
            arc_access(dmu, *buf);
            return buf;
        }
    }
    ++dmu.arc.stats.misses;
    spa.spa_dsl_pool->dp_vdev.zio_read(bp.blk_lsize);

    kmem_alloc(bp.blk_lsize);
    auto held = mutex_enter(dmu.arc.hash_lock(bp.blk_dva));
    auto *buf = new arc_buf_t;
    buf->b_data = dmu.store.read(bp.blk_dva);
    buf->b_dva = bp.blk_dva;
    buf->b_access = gethrtime();
    buf->b_state = arc_state_t::mru;
    dmu.arc.size(arc_state_t::mru) += buf->b_data->size;
    VERIFY(dmu.arc.slot(bp.blk_dva) == nullptr);
    dmu.arc.slot(bp.blk_dva) = buf;
    return buf;
}

void arc_release(dmu_state_t &dmu, arc_buf_t &buf)
{
    Probe probe{Fn::arc_release};
    auto evict = mutex_enter(buf.b_evict_lock);
    count_calls(Fn::arc_buf_thaw, 1);
    if (arc_is_anonymous(buf))
        return;
    count_calls(Fn::buf_hash_remove, 1);
    auto held = mutex_enter(dmu.arc.hash_lock(buf.b_dva));
    evict.exit();
    VERIFY(!list_link_active(buf.b_link));
    arc_change_state(dmu, buf, arc_state_t::anon);
    dmu.arc.slot(buf.b_dva) = nullptr;
    if (buf.b_data.shared())
        dmu.store.unshare(buf.b_dva);
    buf.b_dva = 0;
    buf.b_mru_hits = buf.b_mfu_hits = 0;
}

void arc_write_done(dmu_state_t &dmu, arc_buf_t &buf, uint64_t dva)
{
    Probe probe{Fn::arc_write_done};
    VERIFY(arc_is_anonymous(buf));
    if (dva == 0)
        return;
    auto held = mutex_enter(dmu.arc.hash_lock(dva));
    VERIFY(dmu.arc.slot(dva) == nullptr);
    dmu.arc.slot(dva) = &buf;
    buf.b_dva = dva;
    buf.b_access = gethrtime();
    arc_change_state(dmu, buf, arc_state_t::mru);
}

void arc_freed(dmu_state_t &dmu, uint64_t dva)
{
    auto held = mutex_enter(dmu.arc.hash_lock(dva));
    arc_buf_t *buf = dmu.arc.slot(dva);
    if (buf == nullptr)
        return;
    dmu.arc.slot(dva) = nullptr;
    if (list_link_active(buf->b_link))
        make_unevictable(dmu, *buf);
    if (buf->b_user == nullptr) {
        arc_hdr_drop(dmu, buf);
    } else {
        // Freed under a dbuf that still shows it: nobody will find it by its place again.
        arc_change_state(dmu, *buf, arc_state_t::anon);
        buf->b_dva = 0;
    }
}

void arc_buf_add_ref(dmu_state_t &dmu, arc_buf_t &buf, dmu_buf_impl_t *user)
{
    Probe probe{Fn::arc_buf_add_ref};
    auto evict = mutex_enter(buf.b_evict_lock);
    auto held = mutex_enter(dmu.arc.hash_lock(buf.b_dva));
    evict.exit();
    VERIFY(buf.b_user == user);
    make_unevictable(dmu, buf);
    if (!arc_is_anonymous(buf))
        arc_access(dmu, buf);
}

void arc_buf_remove_ref(dmu_state_t &dmu, arc_buf_t &buf)
{
    {
        Probe probe{Fn::arc_buf_remove_ref};
        auto held = mutex_enter(dmu.arc.hash_lock(buf.b_dva));
        make_evictable(dmu, buf);
    }
    Probe probe{Fn::arc_buf_eviction_needed};
    auto evict = mutex_enter(buf.b_evict_lock);
}

void arc_buf_access(dmu_state_t &dmu, arc_buf_t &buf)
{
    Probe probe{Fn::arc_buf_access};
    auto evict = mutex_enter(buf.b_evict_lock);
    if (arc_is_anonymous(buf))
        return;
    auto held = mutex_enter(dmu.arc.hash_lock(buf.b_dva));
    evict.exit();
    arc_access(dmu, buf);
}

void arc_buf_destroy(dmu_state_t &dmu, arc_buf_t *buf)
{
    buf->b_user = nullptr;
    if (!dmu.config.code.dbuf_cache && !arc_is_anonymous(*buf)) {
        // The dbuf goes first: the buffer stays where it is, and tells nobody when it goes.
        Probe probe{Fn::arc_clear_callback};
        auto evict = mutex_enter(buf->b_evict_lock);
        auto held = mutex_enter(dmu.arc.hash_lock(buf->b_dva));
        evict.exit();
        if (!list_link_active(buf->b_link))
            make_evictable(dmu, *buf);
        return;
    }
    Probe probe{Fn::arc_buf_destroy};
    if (arc_is_anonymous(*buf)) {
        kmem_free(buf->b_data->size);
        arc_hdr_drop(dmu, buf);
        return;
    }
    auto held = mutex_enter(dmu.arc.hash_lock(buf->b_dva));
    make_evictable(dmu, *buf);
}

uint64_t arc_evict(dmu_state_t &dmu, uint64_t bytes)
{
    uint64_t freed = 0;
    for (arc_state_t state : {arc_state_t::mru, arc_state_t::mfu}) {
        while (freed < bytes) {
            arc_buf_t *buf = nullptr;
            {
                auto list = mutex_enter(dmu.arc.mls_lock);
                buf = dmu.arc.evictable(state).head();
                if (buf == nullptr)
                    break;
                dmu.arc.evictable(state).remove(buf);
            }
            if (dmu_buf_impl_t *db = buf->b_user) {
                // Until 2016 a dbuf goes with its buffer.
                db->db_mtx.enter();
                if (db->db_holds.peek() > 0 || db->db_state == DB_EVICTING) {
                    mutex_exit(db->db_mtx);
                    continue;
                }
                dbuf_destroy(*db);
                auto list = mutex_enter(dmu.arc.mls_lock);
                dmu.arc.evictable(state).remove(buf);
            }
            auto held = mutex_enter(dmu.arc.hash_lock(buf->b_dva));
            dmu.arc.slot(buf->b_dva) = nullptr;
            freed += buf->b_data->size;
            ++dmu.arc.stats.evicted;
            arc_hdr_drop(dmu, buf);
        }
    }
    return freed;
}

void arc_flush(dmu_state_t &dmu)
{
    arc_evict(dmu, ~0ull);
}

} // namespace dmu
