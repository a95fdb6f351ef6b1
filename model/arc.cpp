// See the head of arc.h.
#include "model/arc.h"

#include <algorithm>

#include "model/dbuf_impl.h"
#include "model/dsl_pool.h"
#include "model/spa.h"

namespace dmu {

namespace {

size_t index_of(arc_state_t state)
{
    return static_cast<size_t>(state);
}
size_t index_of(arc_buf_contents_t type)
{
    return static_cast<size_t>(type);
}

uint64_t &arcs_size(arc_t &arc, const arc_buf_t &buf)
{
    settle(); // everybody's, so changed in the order of simulated time
    return arc.arcs_size[index_of(buf.b_state)][index_of(buf.b_type)];
}

uint64_t size_of_state(const arc_t &arc, arc_state_t state)
{
    const auto &sizes = arc.arcs_size[index_of(state)];
    return sizes[0] + sizes[1];
}

// Counted where all CPUs count, in the code that has a dbuf cache; before, free of charge.
void count(dmu_state_t &dmu, kstat_named_t &counter)
{
    if (dmu.config.code.dbuf_cache)
        counter.atomic_add(1);
    else
        ++counter;
}

SIM_ALWAYS_INLINE void count_look(dmu_state_t &dmu, const arc_buf_t &buf, bool hit)
{
    arc_stats_t &stats = dmu.arc.stats;
    const bool data = buf.b_type == arc_buf_contents_t::data;
    kstat_named_t &all = hit ? stats.hits : stats.misses;
    kstat_named_t &kind = buf.b_prefetch ? (hit ? (data ? stats.prefetch_data_hits : stats.prefetch_metadata_hits)
                                                : (data ? stats.prefetch_data_misses : stats.prefetch_metadata_misses))
                                         : (hit ? (data ? stats.demand_data_hits : stats.demand_metadata_hits)
                                                : (data ? stats.demand_data_misses : stats.demand_metadata_misses));
    if (dmu.config.code.dbuf_cache)
        atomic_add_each({{all, 1}, {kind, 1}});
    else
        ++all, ++kind;
}

// arc_c, arc_p and the lists' lengths are looked at without a lock here, as in the real code: a little late does no
// harm.
void arc_adapt(arc_t &arc, uint64_t bytes, arc_state_t state)
{
    const uint64_t p_min = arc.arc_c >> arc_p_min_shift;
    const uint64_t mru_ghost = size_of_state(arc, arc_state_t::mru_ghost);
    const uint64_t mfu_ghost = size_of_state(arc, arc_state_t::mfu_ghost);
    const auto times = [](uint64_t own, uint64_t other) {
        return own >= other ? 1 : std::min<uint64_t>(other / std::max<uint64_t>(own, 1), arc_adapt_most);
    };
    if (state == arc_state_t::mru_ghost)
        arc.arc_p = std::min(arc.arc_c - p_min, arc.arc_p + bytes * times(mru_ghost, mfu_ghost));
    else if (state == arc_state_t::mfu_ghost)
        arc.arc_p = std::max(p_min, arc.arc_p - std::min(arc.arc_p, bytes * times(mfu_ghost, mru_ghost)));
}

// Until 2017 the thread that evicts also looks once a second, however much room there is.
constexpr int64_t arc_reclaim_interval_ns = 1'000'000'000;

bool metadata_are_due(const dmu_state_t &dmu)
{
    const arc_t &arc = dmu.arc;
    return !dmu.era.slots_by_handle && arc.meta_used() > arc.arc_meta_limit &&
           (gethrtime() - arc.adjusted_at).ns() >= arc_reclaim_interval_ns;
}

// Room for the data of a block: who finds the ARC far above its target lets the evicting thread go first.
void arc_get_data(dmu_state_t &dmu, uint64_t bytes, arc_state_t state)
{
    arc_t &arc = dmu.arc;
    kmem_alloc(bytes);
    touch_fresh(arc_header_bytes);
    for (const uint64_t part : {arc_header_bytes / 2, arc_header_bytes / 2, bytes}) // header, buffer, what it holds
        arc_space_consume(dmu, part);
    arc_adapt(arc, bytes, state);
    arc.arc_meta_max = std::max(arc.arc_meta_max, arc.meta_used());
    if (arc.size() + bytes <= arc.arc_c && !metadata_are_due(dmu)) [[likely]]
        return;
    if (costs_no_time()) {
        arc_adjust(dmu);
        return;
    }
    auto held = mutex_enter(arc.arc_adjust_lock);
    arc.adjust_needed = true;
    cv_signal(arc.arc_adjust_cv);
    // Once: when the thread has done what it can and it was not enough, more would not help. Until 2016 it has to
    // destroy dbufs, which somebody may be waiting for whom this thread keeps from going on: nobody waits for it there.
    if (dmu.config.code.dbuf_cache && arc.is_overflowing() && !arc.exiting)
        cv_wait(arc.arc_adjust_waiters_cv, arc.arc_adjust_lock, WaitKind::other);
}

void arc_hdr_drop(dmu_state_t &dmu, arc_buf_t *buf)
{
    arcs_size(dmu.arc, *buf) -= buf->b_size;
    for (const uint64_t part : {arc_header_bytes / 2, arc_header_bytes / 2, uint64_t{buf->b_size}})
        arc_space_return(dmu, part);
    delete buf;
}

void unhash(dmu_state_t &dmu, arc_buf_t &buf)
{
    settle();
    dmu.arc.slot(buf.b_dva) = nullptr;
    --dmu.arc.stats.hash_elements;
}

void hash_insert(dmu_state_t &dmu, arc_buf_t &buf)
{
    settle();
    arc_stats_t &stats = dmu.arc.stats;
    VERIFY(dmu.arc.slot(buf.b_dva) == nullptr);
    dmu.arc.slot(buf.b_dva) = &buf;
    ++stats.hash_elements;
    stats.hash_elements_max = std::max<uint64_t>(stats.hash_elements_max, stats.hash_elements);
}

// REQUIRES: on no list.
void arc_change_state(dmu_state_t &dmu, arc_buf_t &buf, arc_state_t state)
{
    count_calls(Fn::arc_change_state, 1);
    VERIFY(!list_link_active(buf.b_arc_node));
    arcs_size(dmu.arc, buf) -= buf.b_size;
    buf.b_state = state;
    arcs_size(dmu.arc, buf) += buf.b_size;
}

// Where an access of each state leads; held: it is for somebody who has the buffer, not for one who only wants it
// there. REQUIRES: the hash lock is held unless nobody can find the buffer; on no list, unless it was read ahead and is
// still not held.
void arc_access(dmu_state_t &dmu, arc_buf_t &buf, bool held = true)
{
    const hrtime_t now = gethrtime();
    arc_stats_t &stats = dmu.arc.stats;
    const bool was_prefetch = buf.b_prefetch;
    if (held && buf.b_state != arc_state_t::anon)
        buf.b_prefetch = false;
    switch (buf.b_state) {
    case arc_state_t::anon:
        buf.b_arc_access = now;
        arc_change_state(dmu, buf, arc_state_t::mru);
        return;
    case arc_state_t::mru:
        if (was_prefetch) {
            buf.b_arc_access = now;
            if (held) {
                ++buf.b_mru_hits;
                count(dmu, stats.mru_hits);
            }
            return;
        }
        if ((now - buf.b_arc_access).ns() >= ARC_MINTIME_NS) {
            buf.b_arc_access = now;
            arc_change_state(dmu, buf, arc_state_t::mfu);
        }
        ++buf.b_mru_hits;
        count(dmu, stats.mru_hits);
        return;
    case arc_state_t::mfu:
        ++buf.b_mfu_hits;
        count(dmu, stats.mfu_hits);
        buf.b_arc_access = now;
        return;
    case arc_state_t::mru_ghost:
        buf.b_arc_access = now;
        arc_change_state(dmu, buf, was_prefetch ? arc_state_t::mru : arc_state_t::mfu);
        ++buf.b_mru_ghost_hits;
        count(dmu, stats.mru_ghost_hits);
        return;
    case arc_state_t::mfu_ghost:
        buf.b_arc_access = now;
        arc_change_state(dmu, buf, was_prefetch ? arc_state_t::mru : arc_state_t::mfu);
        ++buf.b_mfu_ghost_hits;
        count(dmu, stats.mfu_ghost_hits);
        return;
    }
}

// Nobody holds the buffer any more: it goes to its state's list. REQUIRES: the hash lock is held, not anonymous.
void make_evictable(dmu_state_t &dmu, arc_buf_t &buf)
{
    if (list_link_active(buf.b_arc_node))
        return;
    settle();
    arc_t::arc_list_t &list = dmu.arc.list(buf);
    count_calls(Fn::multilist_insert, 1);
    list.list.insert(&buf, buf.b_dva);
    list.esize += buf.b_size;
}

void make_unevictable(dmu_state_t &dmu, arc_buf_t &buf)
{
    if (!list_link_active(buf.b_arc_node))
        return;
    settle();
    arc_t::arc_list_t &list = dmu.arc.list(buf);
    count_calls(Fn::multilist_remove, 1);
    list.list.remove(&buf, buf.b_dva);
    list.esize -= buf.b_size;
}

// A new buffer on a header that was there already begins to count anew.
void zero_hits(arc_buf_t &buf)
{
    buf.b_mru_hits = buf.b_mru_ghost_hits = buf.b_mfu_hits = buf.b_mfu_ghost_hits = 0;
}

// The buffer's block is no longer at its place. REQUIRES: the hash lock is held.
void forget(dmu_state_t &dmu, arc_buf_t &buf)
{
    make_unevictable(dmu, buf);
    unhash(dmu, buf);
    if (buf.b_io_in_progress) {
        buf.b_dva = 0; // who reads it will see
    } else if (buf.b_user == nullptr) {
        arc_hdr_drop(dmu, &buf);
    } else {
        // A dbuf still shows it: nobody will find it by its place again.
        arc_change_state(dmu, buf, arc_state_t::anon);
        buf.b_dva = 0;
    }
}

arc_buf_contents_t contents_of(const blkptr_t &bp)
{
    const bool data =
        bp.blk_level == 0 && (bp.blk_type == DMU_OT_PLAIN_FILE_CONTENTS || bp.blk_type == DMU_OT_UINT64_OTHER);
    return data ? arc_buf_contents_t::data : arc_buf_contents_t::metadata;
}

} // namespace

const char *arc_state_name(arc_state_t state)
{
    static constexpr const char *names[arc_state_count] = {"anon", "mru", "mru_ghost", "mfu", "mfu_ghost"};
    return names[static_cast<size_t>(state)];
}

namespace {

uint64_t meta_limit_of(const pool_config &config)
{
    if (config.arc_meta_limit != 0)
        return config.arc_meta_limit;
    return std::max(arc_meta_min, config.arc_max * zfs_arc_meta_limit_percent / 100);
}

} // namespace

arc_t::arc_t(const model_config &config, uint32_t buf_locks)
    : hash_lock_count(buf_locks), hash_locks(std::make_unique<hash_lock_t[]>(buf_locks)), arc_c(config.pool.arc_max),
      arc_c_max(config.pool.arc_max), arc_p(config.pool.arc_max / 2), arc_meta_limit(meta_limit_of(config.pool))
{
}

arc_buf_t *&arc_t::slot(uint64_t dva)
{
    if (dva >= by_dva.size())
        by_dva.resize(std::max<size_t>(dva + 1, by_dva.size() * 2));
    return by_dva[dva];
}

arc_t::arc_list_t &arc_t::list(arc_state_t state, arc_buf_contents_t type)
{
    VERIFY(state != arc_state_t::anon);
    return lists_[index_of(state) - 1][index_of(type)];
}

uint64_t arc_t::size() const
{
    return size_of_state(*this, arc_state_t::anon) + size_of_state(*this, arc_state_t::mru) +
           size_of_state(*this, arc_state_t::mfu);
}

uint64_t arc_t::meta_used() const
{
    uint64_t used = 0;
    for (const arc_state_t state : {arc_state_t::anon, arc_state_t::mru, arc_state_t::mfu})
        used += arcs_size[index_of(state)][index_of(arc_buf_contents_t::metadata)];
    return used;
}

bool arc_t::is_overflowing() const
{
    return size() >= arc_c + (arc_c >> arc_overflow_shift);
}

arc_t::~arc_t()
{
    for (arc_buf_t *buf : by_dva)
        if (buf != nullptr)
            delete buf;
}

void arc_space_consume(dmu_state_t &dmu, uint64_t bytes)
{
    atomic_add_64(dmu.arc.arcstat_other_size, static_cast<int64_t>(bytes));
    atomic_add_64(dmu.arc.arcstat_meta_used, static_cast<int64_t>(bytes));
    atomic_add_64(dmu.arc.arc_space, static_cast<int64_t>(bytes));
}

void arc_space_return(dmu_state_t &dmu, uint64_t bytes)
{
    atomic_add_64(dmu.arc.arcstat_other_size, -static_cast<int64_t>(bytes));
    atomic_add_64(dmu.arc.arcstat_meta_used, -static_cast<int64_t>(bytes));
    atomic_add_64(dmu.arc.arc_space, -static_cast<int64_t>(bytes));
}

bool arc_released(dmu_state_t &dmu, arc_buf_t &buf)
{
    Probe probe{dmu.era.slots_by_handle ? Fn::arc_released_2019 : Fn::arc_released};
    auto held = mutex_enter(buf.b_evict_lock);
    return arc_is_anonymous(buf);
}

arc_buf_t *arc_buf_alloc(dmu_state_t &dmu, block_kind kind, arc_buf_contents_t type, uint32_t size)
{
    Probe probe{dmu.config.code.dbuf_cache ? Fn::arc_alloc_buf : Fn::arc_buf_alloc};
    arc_get_data(dmu, size, arc_state_t::anon);
    charge_copy(size); // cleared, or copied into
    auto *buf = new arc_buf_t;
    buf->b_data = block_ref::make(kind, size);
    buf->b_size = size;
    buf->b_type = type;
    arcs_size(dmu.arc, *buf) += size;
    return buf;
}

arc_buf_t *arc_buf_copy(dmu_state_t &dmu, const arc_buf_t &original)
{
    arc_buf_t *copy = arc_buf_alloc(dmu, original.b_data->kind, original.b_type, original.b_size);
    copy->b_data = original.b_data.copy();
    return copy;
}

namespace {

// A header for a block that is about to be read. REQUIRES: the hash lock is held.
arc_buf_t *new_header(dmu_state_t &dmu, const blkptr_t &bp)
{
    auto *buf = new arc_buf_t;
    buf->b_dva = bp.blk_dva;
    buf->b_birth = bp.blk_birth;
    buf->b_size = bp.blk_lsize;
    buf->b_type = contents_of(bp);
    arcs_size(dmu.arc, *buf) += buf->b_size;
    hash_insert(dmu, *buf);
    return buf;
}

// A block that was freed after its pointer had been read, and whose place is another's by now: what is read has no part
// in any file any more. REQUIRES: the hash lock is held.
bool is_gone(const dmu_state_t &dmu, const blkptr_t &bp, const arc_buf_t *buf)
{
    return (buf != nullptr && buf->b_birth != bp.blk_birth) || !dmu.store.contains(bp.blk_dva);
}

// What has been read is there. found: the state of its header before. REQUIRES: the hash lock is held; the header was
// not given away.
void arc_read_finish(dmu_state_t &dmu, arc_buf_t &buf, block_ref contents, arc_state_t found)
{
    buf.b_io_in_progress = false;
    const bool freed = buf.b_dva == 0;
    buf.b_data = freed ? contents.copy() : std::move(contents);
    if (freed)
        arc_change_state(dmu, buf, arc_state_t::anon);
    else if (found == arc_state_t::anon)
        arc_access(dmu, buf, !buf.b_prefetch);
}

// Those who want to go on with a block that has been read, each with the pointer it asked for.
using arc_told_t = std::vector<std::pair<arc_prefetch_t, blkptr_t>>;

// REQUIRES: the hash lock is held. contents: null if the block was freed meanwhile; they are given a hole then.
arc_told_t take_readers(arc_t &arc, uint64_t dva, const block *contents)
{
    arc_told_t told;
    auto waiting = arc.readers.extract(dva);
    if (waiting.empty())
        return told;
    for (arc_prefetch_t &one : waiting.mapped()) {
        const blkptr_t child = contents == nullptr ? blkptr_t{} : contents->blkptrs()[one.child];
        told.emplace_back(std::move(one), child);
    }
    return told;
}

void tell(const arc_told_t &told)
{
    for (const auto &[prefetch, child] : told)
        prefetch.done(child, true);
}

// A read that nobody began to wait for is done: in the disk's interrupt.
void arc_read_done(dmu_state_t &dmu, uint64_t dva, arc_buf_t *buf, block_ref contents, arc_state_t found)
{
    Probe probe{Fn::arc_read_done};
    arc_told_t told;
    {
        auto held = mutex_enter(dmu.arc.hash_lock(dva));
        const bool freed = buf->b_dva == 0;
        told = take_readers(dmu.arc, dva, freed ? nullptr : contents.get());
        if (freed) {
            kmem_free(buf->b_size);
            arc_hdr_drop(dmu, buf);
        } else {
            arc_read_finish(dmu, *buf, std::move(contents), found);
            if (!buf->b_waited_for)
                make_evictable(dmu, *buf);
        }
        cv_broadcast(dmu.arc.read_cv(dva));
    }
    tell(told);
}

// The block is in memory. passing_through: it is held for a moment, to go on with what it points at. REQUIRES: the hash
// lock is held.
void arc_prefetch_hit(dmu_state_t &dmu, arc_buf_t &buf, bool passing_through)
{
    const bool evictable = list_link_active(buf.b_arc_node);
    if (evictable && !passing_through) {
        buf.b_prefetch = true;
        arc_access(dmu, buf, false);
    } else {
        make_unevictable(dmu, buf);
        arc_access(dmu, buf);
        if (evictable)
            make_evictable(dmu, buf);
    }
    count_look(dmu, buf, true);
}

// Waits until whoever has the block read is done. REQUIRES: the hash lock is held, and is afterwards.
void wait_for_read(spa_t &spa, arc_buf_t &buf)
{
    dmu_state_t &dmu = *spa.spa_dmu;
    const uint64_t dva = buf.b_dva;
    kmutex_t &hash_lock = dmu.arc.hash_lock(dva);
    count(dmu, dmu.arc.stats.async_upgrade_sync);
    buf.b_predictive = false;
    buf.b_waited_for = true;
    spa.spa_dsl_pool->dp_vdev.zio_change_priority(dva);
    while (true) {
        const arc_buf_t *now = dmu.arc.slot(dva);
        if (now == nullptr || !now->b_io_in_progress)
            return;
        cv_wait(dmu.arc.read_cv(dva), hash_lock, WaitKind::disk);
    }
}

} // namespace

arc_buf_t *arc_read(spa_t &spa, const blkptr_t &bp, block_kind kind)
{
    Probe probe{Fn::arc_read};
    dmu_state_t &dmu = *spa.spa_dmu;
    arc_t &arc = dmu.arc;
    VERIFY(!BP_IS_HOLE(bp));
    arc_buf_t *buf = nullptr;
    arc_state_t found = arc_state_t::anon;
    {
        auto held = mutex_enter(arc.hash_lock(bp.blk_dva));
        buf = arc.slot(bp.blk_dva);
        const bool waited = buf != nullptr && buf->b_io_in_progress && buf->b_birth == bp.blk_birth;
        if (waited) {
            wait_for_read(spa, *buf);
            buf = arc.slot(bp.blk_dva);
        }
        if (is_gone(dmu, bp, buf)) {
            held.exit();
            return arc_buf_alloc(dmu, bp.blk_level > 0 ? block_kind::indirect : kind, contents_of(bp), bp.blk_lsize);
        }
        if (buf != nullptr) {
            VERIFY(buf->b_user == nullptr);
            VERIFY(!buf->b_io_in_progress);
            found = buf->b_state;
            make_unevictable(dmu, *buf);
        } else {
            buf = new_header(dmu, bp);
        }
        const bool hit = buf->b_data.get() != nullptr;
        if (hit && std::exchange(buf->b_waited_for, false))
            return buf; // as one of those whom the read was for
        if (hit && dmu.config.code.dbuf_cache)
            zero_hits(*buf);
        if (hit && std::exchange(buf->b_predictive, false))
            count(dmu, arc.stats.demand_hit_predictive_prefetch);
        buf->b_io_in_progress = !hit;
        if (hit || GHOST_STATE(found)) {
            count_calls(Fn::arc_access, 1);
            arc_access(dmu, *buf);
        }
        count_look(dmu, *buf, hit);
        if (hit)
            return buf;
    }
    // What is on disk now is what this read is about, though the block may be freed before it is here.
    block_ref contents = dmu.store.read(bp.blk_dva);
    arc_get_data(dmu, bp.blk_lsize, found);
    spa.spa_dsl_pool->dp_vdev.zio_read(bp.blk_lsize);

    arc_told_t told;
    {
        auto held = mutex_enter(arc.hash_lock(bp.blk_dva));
        told = take_readers(arc, bp.blk_dva, buf->b_dva == 0 ? nullptr : contents.get());
        arc_read_finish(dmu, *buf, std::move(contents), found);
    }
    tell(told);
    return buf;
}

void arc_prefetch(spa_t &spa, const blkptr_t &bp, arc_prefetch_t prefetch)
{
    Probe probe{Fn::arc_read};
    VERIFY(!BP_IS_HOLE(bp));
    dmu_state_t &dmu = *spa.spa_dmu;
    arc_t &arc = dmu.arc;
    const uint64_t dva = bp.blk_dva;
    const bool urgent = !prefetch.predictive;
    const bool passing_through = prefetch.done != nullptr;
    arc_state_t found = arc_state_t::anon;
    arc_buf_t *buf = nullptr;
    {
        auto held = mutex_enter(arc.hash_lock(dva));
        buf = arc.slot(dva);
        if (is_gone(dmu, bp, buf)) {
            held.exit();
            if (passing_through)
                prefetch.done(blkptr_t{}, true);
            return;
        }
        if (buf != nullptr && buf->b_io_in_progress) {
            if (passing_through)
                arc.readers[dva].push_back(std::move(prefetch));
            return;
        }
        if (buf != nullptr && buf->b_data.get() != nullptr) {
            arc_prefetch_hit(dmu, *buf, passing_through);
            const blkptr_t child = passing_through ? buf->b_data->blkptrs()[prefetch.child] : blkptr_t{};
            held.exit();
            if (passing_through)
                prefetch.done(child, false);
            return;
        }
        if (buf != nullptr) {
            found = buf->b_state;
            make_unevictable(dmu, *buf);
            count_calls(Fn::arc_access, 1);
            arc_access(dmu, *buf, false);
        } else {
            buf = new_header(dmu, bp);
        }
        buf->b_prefetch = !passing_through;
        buf->b_predictive = !passing_through && prefetch.predictive;
        buf->b_io_in_progress = true;
        count_look(dmu, *buf, false);
        if (passing_through)
            arc.readers[dva].push_back(std::move(prefetch));
    }
    block_ref contents = dmu.store.read(dva);
    arc_get_data(dmu, bp.blk_lsize, found);
    Probe create_probe{Fn::zio_create};
    spa.spa_dsl_pool->dp_vdev.zio_read_nowait(dva, bp.blk_lsize, urgent,
                                              [&dmu, dva, buf, found, contents = std::move(contents)]() mutable {
                                                  arc_read_done(dmu, dva, buf, std::move(contents), found);
                                              });
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
    VERIFY(!list_link_active(buf.b_arc_node));
    arc_change_state(dmu, buf, arc_state_t::anon);
    unhash(dmu, buf);
    if (buf.b_data.shared())
        dmu.store.unshare(buf.b_dva);
    buf.b_dva = 0;
    buf.b_arc_access = hrtime_t{};
    zero_hits(buf);
}

void arc_write_done(dmu_state_t &dmu, arc_buf_t &buf, uint64_t dva, uint64_t birth)
{
    Probe probe{Fn::arc_write_done};
    VERIFY(arc_is_anonymous(buf));
    if (dva == 0)
        return;
    auto held = mutex_enter(dmu.arc.hash_lock(dva));
    if (arc_buf_t *stale = dmu.arc.slot(dva)) // of a block that somebody came to read just when it was freed
        forget(dmu, *stale);
    buf.b_dva = dva;
    buf.b_birth = birth;
    hash_insert(dmu, buf);
    arc_access(dmu, buf);
}

void arc_freed(dmu_state_t &dmu, uint64_t dva)
{
    auto held = mutex_enter(dmu.arc.hash_lock(dva));
    if (arc_buf_t *buf = dmu.arc.slot(dva))
        forget(dmu, *buf);
}

void arc_buf_add_ref(dmu_state_t &dmu, arc_buf_t &buf, dmu_buf_impl_t *user)
{
    Probe probe{Fn::arc_buf_add_ref};
    auto evict = mutex_enter(buf.b_evict_lock);
    auto held = mutex_enter(dmu.arc.hash_lock(buf.b_dva));
    evict.exit();
    VERIFY(buf.b_user == user);
    make_unevictable(dmu, buf);
    if (!arc_is_anonymous(buf)) {
        count_calls(Fn::arc_access, 1);
        arc_access(dmu, buf);
        count_look(dmu, buf, true);
    }
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
    if (arc_is_anonymous(buf)) {
        count(dmu, dmu.arc.stats.access_skip);
        return;
    }
    evict.exit();
    {
        Probe access_probe{Fn::arc_access};
        arc_access(dmu, buf);
    }
    held.exit();
    count_look(dmu, buf, true);
}

void arc_buf_destroy(dmu_state_t &dmu, arc_buf_t *buf)
{
    if (!dmu.config.code.dbuf_cache && !arc_is_anonymous(*buf)) {
        // The dbuf goes first: the buffer stays where it is, and tells nobody when it goes.
        Probe probe{Fn::arc_clear_callback};
        auto evict = mutex_enter(buf->b_evict_lock);
        auto held = mutex_enter(dmu.arc.hash_lock(buf->b_dva));
        evict.exit();
        buf->b_user = nullptr; // not before: it may be on its list, and who evicts it looks for its dbuf
        make_evictable(dmu, *buf);
        return;
    }
    buf->b_user = nullptr;
    Probe probe{Fn::arc_buf_destroy};
    if (arc_is_anonymous(*buf)) {
        kmem_free(buf->b_size);
        arc_hdr_drop(dmu, buf);
        return;
    }
    auto held = mutex_enter(dmu.arc.hash_lock(buf->b_dva));
    make_evictable(dmu, *buf);
}

} // namespace dmu
