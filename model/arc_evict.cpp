// Making room: which buffers go when the ARC is above its target, and who sees to it.
//
// One thread evicts (arc_adjust). It goes through the pieces of a state's list by turns, takes the oldest headers whose
// hash lock it gets at once, and leaves their ghosts behind. Until 2016 a dbuf stays with its buffer, so the dbuf goes
// first. Metadata above their limit go before anything else, in one of two ways (zfs_arc_meta_strategy); otherwise the
// type whose oldest buffer is older goes first. Followed: OpenZFS 64b6c47d90, arc.c (arc_evict_state, arc_evict_hdr,
// arc_adjust, arc_adjust_meta, arc_adjust_type); 81285582b9 for buffers that dbufs show. Left out: indirect blocks that
// nobody read ahead are evicted in their first second too.
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

// Read ahead so lately that somebody may be about to look. Not asked when everything is to go.
bool is_too_young(const arc_buf_t &buf)
{
    return buf.b_prefetch && !GHOST_STATE(buf.b_state) && (gethrtime() - buf.b_arc_access).ns() < arc_min_prefetch_ns;
}

// The oldest that may be evicted. REQUIRES: mls_lock is held.
template <class Piece>
arc_buf_t *oldest_evictable(arc_t &arc, Piece &piece, bool all)
{
    arc_buf_t *buf = piece.mls_list.tail();
    for (uint32_t i = 0; buf != nullptr && !all && is_too_young(*buf); ++i, buf = piece.mls_list.prev(buf)) {
        ++arc.stats.evict_skip;
        if (i == arc_evict_batch_limit)
            return nullptr; // the whole piece may have been read ahead just now
    }
    return buf;
}

// The oldest headers of one piece of a list; the bytes freed.
uint64_t arc_evict_sublist(dmu_state_t &dmu, arc_t::arc_list_t &list, uint32_t index, uint64_t bytes, bool all)
{
    arc_t &arc = dmu.arc;
    auto &piece = list.list.sublist(index);
    uint64_t evicted = 0;
    for (uint32_t i = 0; i < arc_evict_batch_limit && evicted < bytes; ++i) {
        arc_buf_t *buf = nullptr;
        mutex_guard_t hash;
        {
            auto held = mutex_enter(piece.mls_lock);
            buf = oldest_evictable(arc, piece, all);
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

using enum arc_buf_contents_t;

// Bytes below 0: none.
uint64_t arc_adjust_impl(dmu_state_t &dmu, arc_state_t state, arc_buf_contents_t type, int64_t bytes)
{
    return bytes <= 0 ? 0 : arc_evict_state(dmu, state, type, static_cast<uint64_t>(bytes));
}

// The type whose oldest buffer is the older one, in one piece of each list. Data where there is nothing.
arc_buf_contents_t arc_adjust_type(dmu_state_t &dmu, arc_state_t state)
{
    auto &data = dmu.arc.list(state, arc_buf_contents_t::data).list;
    auto &meta = dmu.arc.list(state, metadata).list;
    auto &data_piece = data.sublist(data.next_index());
    auto &meta_piece = meta.sublist(meta.next_index());
    auto data_held = mutex_enter(data_piece.mls_lock);
    auto meta_held = mutex_enter(meta_piece.mls_lock);
    const arc_buf_t *oldest_data = data_piece.mls_list.tail();
    const arc_buf_t *oldest_meta = meta_piece.mls_list.tail();
    if (oldest_meta == nullptr)
        return arc_buf_contents_t::data;
    if (oldest_data == nullptr)
        return metadata;
    return oldest_data->b_arc_access < oldest_meta->b_arc_access ? arc_buf_contents_t::data : metadata;
}

// One type first, the other if that was not enough.
uint64_t arc_adjust_types(dmu_state_t &dmu, arc_state_t state, int64_t bytes, arc_buf_contents_t first)
{
    const arc_buf_contents_t second = first == metadata ? arc_buf_contents_t::data : metadata;
    const uint64_t evicted = arc_adjust_impl(dmu, state, first, bytes);
    return evicted + arc_adjust_impl(dmu, state, second, bytes - static_cast<int64_t>(evicted));
}

uint64_t arc_adjust_state(dmu_state_t &dmu, arc_state_t state, int64_t bytes)
{
    const bool meta_first = arc_adjust_type(dmu, state) == metadata && dmu.arc.meta_used() > arc_meta_min;
    return arc_adjust_types(dmu, state, bytes, meta_first ? metadata : arc_buf_contents_t::data);
}

int64_t metadata_above_limit(const arc_t &arc)
{
    return static_cast<int64_t>(arc.meta_used()) - static_cast<int64_t>(arc.arc_meta_limit);
}

// By turns data, whose indirect blocks and dnodes can go only after them, and metadata, for as long as it helps.
uint64_t arc_adjust_meta_balanced(dmu_state_t &dmu)
{
    arc_t &arc = dmu.arc;
    uint64_t evicted = 0;
    uint32_t in_vain = 0; // turns in a row
    arc_buf_contents_t type = arc_buf_contents_t::data;
    for (uint32_t restarts = 0; restarts <= zfs_arc_meta_adjust_restarts && in_vain < 2; ++restarts) {
        uint64_t now = 0;
        // What mru gave counts against what mfu has to give, though the metadata may not be fewer by it.
        for (const auto &[first, second] : {std::pair{arc_state_t::mru, arc_state_t::mfu},
                                            std::pair{arc_state_t::mru_ghost, arc_state_t::mfu_ghost}}) {
            const int64_t above = metadata_above_limit(arc);
            if (above <= 0)
                continue;
            const int64_t from_first = std::min(above, static_cast<int64_t>(arc.esize(first, type)));
            now += arc_adjust_impl(dmu, first, type, from_first);
            now += arc_adjust_impl(dmu, second, type, above - from_first);
        }
        evicted += now;
        if (metadata_above_limit(arc) <= 0)
            return evicted;
        in_vain = now == 0 ? in_vain + 1 : 0;
        type = type == metadata ? arc_buf_contents_t::data : metadata;
    }
    return evicted; // what is left is held
}

// Metadata alone, and of neither state so much that it falls below its share.
uint64_t arc_adjust_meta_only(dmu_state_t &dmu)
{
    arc_t &arc = dmu.arc;
    const auto size = [&](arc_state_t state) { return static_cast<int64_t>(state_size(arc, state)); };
    const int64_t p = static_cast<int64_t>(arc.arc_p), c = static_cast<int64_t>(arc.arc_c);
    const uint64_t evicted =
        arc_adjust_impl(dmu, arc_state_t::mru, metadata,
                        std::min(metadata_above_limit(arc), size(arc_state_t::anon) + size(arc_state_t::mru) - p));
    return evicted + arc_adjust_impl(dmu, arc_state_t::mfu, metadata,
                                     std::min(metadata_above_limit(arc), size(arc_state_t::mfu) - (c - p)));
}

uint64_t arc_adjust_meta(dmu_state_t &dmu)
{
    if (metadata_above_limit(dmu.arc) <= 0)
        return 0;
    Probe probe{Fn::arc_adjust_meta};
    return dmu.variants.arc_meta_strategy == arc_meta_strategy_t::META_ONLY ? arc_adjust_meta_only(dmu)
                                                                            : arc_adjust_meta_balanced(dmu);
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
            const uint64_t evicted = arc_evict_sublist(dmu, list, index, bytes - total, bytes == everything);
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
    arc.adjusted_at = gethrtime();
    uint64_t evicted = arc_adjust_meta(dmu);
    // Metadata count twice here, as in the real code.
    const uint64_t seen_once = state_size(arc, arc_state_t::anon) + state_size(arc, arc_state_t::mru) + arc.meta_used();
    const int64_t above_p = static_cast<int64_t>(seen_once) - static_cast<int64_t>(arc.arc_p);
    evicted += arc_adjust_state(dmu, arc_state_t::mru, std::min(above_target(), above_p));
    evicted += arc_adjust_state(dmu, arc_state_t::mfu, above_target());

    const auto ghosts_above = [&](arc_state_t state) {
        return static_cast<int64_t>(state_size(arc, state) + state_size(arc, arc_state_t::mru_ghost)) -
               static_cast<int64_t>(arc.arc_c);
    };
    for (const auto &[ghosts, with] : {std::pair{arc_state_t::mru_ghost, arc_state_t::mru},
                                       std::pair{arc_state_t::mfu_ghost, arc_state_t::mfu_ghost}})
        arc_adjust_types(dmu, ghosts, ghosts_above(with), arc_buf_contents_t::data);
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
