// Making room: which buffers go when the ARC is above its target, and who sees to it.
//
// One thread evicts (arc_adjust). It goes through the pieces of a state's list by turns, takes the oldest headers whose
// hash lock it gets at once, and leaves their ghosts behind. Until 2016 a dbuf stays with its buffer, so the dbuf goes
// first. Followed: OpenZFS 64b6c47d90, arc.c (arc_evict_state, arc_evict_hdr, arc_adjust); 81285582b9 for buffers that
// dbufs show. Left out: the order in which data and metadata take turns (arc_adjust_type): data go first.
#include "model/arc.h"

#include <algorithm>

#include "model/dbuf_impl.h"

namespace dmu {

namespace {

constexpr uint64_t everything = UINT64_MAX;

// Takes an evictable buffer's memory; its header goes on to the ghosts, a ghost's header goes altogether.
// REQUIRES: the hash lock is held, on no list.
void arc_evict_hdr(dmu_state_t &dmu, arc_buf_t *buf)
{
    Probe probe{Fn::arc_evict_hdr};
    settle(); // sizes and lists are everybody's
    arc_t &arc = dmu.arc;
    const auto state_size = [&]() -> uint64_t & {
        return arc.arcs_size[static_cast<size_t>(buf->b_state)][static_cast<size_t>(buf->b_type)];
    };
    state_size() -= buf->b_size;
    if (GHOST_STATE(buf->b_state)) {
        ++arc.stats.deleted;
        arc.slot(buf->b_dva) = nullptr;
        --arc.stats.hash_elements;
        delete buf;
        return;
    }
    kmem_free(buf->b_size);
    buf->b_data = block_ref();
    buf->b_state = buf->b_state == arc_state_t::mru ? arc_state_t::mru_ghost : arc_state_t::mfu_ghost;
    state_size() += buf->b_size;
    arc_t::arc_list_t &list = arc.list(*buf);
    list.list.insert(buf, buf->b_dva);
    list.esize += buf->b_size;
}

// The oldest headers of one piece of a list; the bytes freed.
uint64_t arc_evict_sublist(dmu_state_t &dmu, arc_t::arc_list_t &list, uint32_t index, uint64_t bytes)
{
    arc_t &arc = dmu.arc;
    auto &piece = list.list.sublist(index);
    uint64_t evicted = 0;
    for (uint32_t i = 0; i < arc_evict_batch_limit && evicted < bytes; ++i) {
        arc_buf_t *buf = nullptr;
        mutex_guard_t hash;
        {
            auto held = mutex_enter(piece.mls_lock);
            buf = piece.mls_list.tail();
            if (buf == nullptr)
                break;
            hash = mutex_tryenter(arc.hash_lock(buf->b_dva));
            if (!hash) {
                ++arc.stats.mutex_miss;
                break;
            }
            piece.mls_list.remove(buf);
        }
        list.esize -= buf->b_size;
        settle(); // the next lines happen at one instant: a dbuf cannot go between being seen and being locked
        dmu_buf_impl_t *db = buf->b_user;
        if (db == nullptr) {
            evicted += buf->b_size;
            arc_evict_hdr(dmu, buf);
            continue;
        }
        // Until 2016 a dbuf shows its buffer while nobody holds it. Its own way out enters the hash lock and leaves the
        // buffer on the list; then it is anybody's.
        const bool locked = db->db_mtx.try_enter();
        const uint64_t dva = buf->b_dva;
        list.list.insert(buf, dva);
        list.esize += buf->b_size;
        hash.exit();
        if (!locked || db->db_holds.peek() > 0 || db->db_state == DB_EVICTING) {
            if (locked)
                mutex_exit(db->db_mtx);
            ++arc.stats.evict_skip;
            break;
        }
        dbuf_destroy(*db);
        hash = mutex_enter(arc.hash_lock(dva));
        buf = arc.slot(dva);
        if (buf == nullptr || buf->b_user != nullptr || !list_link_active(buf->b_arc_node))
            continue;
        list.list.remove(buf, dva);
        list.esize -= buf->b_size;
        evicted += buf->b_size;
        arc_evict_hdr(dmu, buf);
    }
    return evicted;
}

uint64_t state_size(const arc_t &arc, arc_state_t state)
{
    const auto &sizes = arc.arcs_size[static_cast<size_t>(state)];
    return sizes[0] + sizes[1];
}

// Data first, then metadata.
uint64_t arc_adjust_state(dmu_state_t &dmu, arc_state_t state, int64_t bytes)
{
    if (bytes <= 0)
        return 0;
    const uint64_t wanted = static_cast<uint64_t>(bytes);
    uint64_t evicted = arc_evict_state(dmu, state, arc_buf_contents_t::data, wanted);
    if (evicted < wanted)
        evicted += arc_evict_state(dmu, state, arc_buf_contents_t::metadata, wanted - evicted);
    return evicted;
}

void arc_adjust_thread(dmu_state_t &dmu)
{
    arc_t &arc = dmu.arc;
    auto held = mutex_enter(arc.arc_adjust_lock);
    while (!arc.exiting) {
        if (!arc.adjust_needed) {
            cv_wait(arc.arc_adjust_cv, arc.arc_adjust_lock, WaitKind::other);
            continue;
        }
        arc.adjust_needed = false;
        held.exit();
        arc_adjust(dmu);
        held = mutex_enter(arc.arc_adjust_lock);
        cv_broadcast(arc.arc_adjust_waiters_cv);
    }
    arc.adjust_running = false;
    cv_broadcast(arc.arc_adjust_waiters_cv);
    cv_broadcast(arc.exit_cv);
}

} // namespace

uint64_t arc_evict_state(dmu_state_t &dmu, arc_state_t state, arc_buf_contents_t type, uint64_t bytes)
{
    Probe probe{Fn::arc_evict_state};
    arc_t::arc_list_t &list = dmu.arc.list(state, type);
    const uint32_t pieces = list.list.get_num_sublists();
    uint64_t total = 0;
    for (uint64_t scanned = 1; scanned != 0 && total < bytes && list.esize != 0;) {
        scanned = 0;
        uint32_t index = list.list.next_index();
        for (uint32_t i = 0; i < pieces && total < bytes; ++i, index = (index + 1) % pieces) {
            const uint64_t evicted = arc_evict_sublist(dmu, list, index, bytes - total);
            scanned += evicted;
            total += evicted;
        }
    }
    return total;
}

uint64_t arc_adjust(dmu_state_t &dmu)
{
    Probe probe{Fn::arc_adjust};
    arc_t &arc = dmu.arc;
    const auto above_target = [&] { return static_cast<int64_t>(arc.size()) - static_cast<int64_t>(arc.arc_c); };
    const uint64_t seen_once = state_size(arc, arc_state_t::anon) + state_size(arc, arc_state_t::mru);
    const int64_t above_p = static_cast<int64_t>(seen_once) - static_cast<int64_t>(arc.arc_p);
    uint64_t evicted = arc_adjust_state(dmu, arc_state_t::mru, std::min(above_target(), above_p));
    evicted += arc_adjust_state(dmu, arc_state_t::mfu, above_target());

    const auto ghosts_above = [&](arc_state_t state) {
        return static_cast<int64_t>(state_size(arc, state) + state_size(arc, arc_state_t::mru_ghost)) -
               static_cast<int64_t>(arc.arc_c);
    };
    arc_adjust_state(dmu, arc_state_t::mru_ghost, ghosts_above(arc_state_t::mru));
    arc_adjust_state(dmu, arc_state_t::mfu_ghost, ghosts_above(arc_state_t::mfu_ghost));
    return evicted;
}

void arc_flush(dmu_state_t &dmu)
{
    for (const arc_state_t state : {arc_state_t::mru, arc_state_t::mfu, arc_state_t::mru_ghost, arc_state_t::mfu_ghost})
        for (const arc_buf_contents_t type : {arc_buf_contents_t::data, arc_buf_contents_t::metadata})
            arc_evict_state(dmu, state, type, everything);
}

void arc_start(dmu_state_t &dmu)
{
    dmu.arc.exiting = false;
    dmu.arc.adjust_running = true;
    thread_create("arc_adjust", [&dmu] { arc_adjust_thread(dmu); });
}

void arc_stop(dmu_state_t &dmu)
{
    arc_t &arc = dmu.arc;
    auto held = mutex_enter(arc.arc_adjust_lock);
    arc.exiting = true;
    cv_signal(arc.arc_adjust_cv);
    while (arc.adjust_running)
        cv_wait(arc.exit_cv, arc.arc_adjust_lock);
}

} // namespace dmu
