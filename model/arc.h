// What the DMU sees of the ARC: buffers, whose they are, which list they are on, and which go when room is short.
//
// An arc_buf_t is one block in memory. It is anonymous (arc_anon) while nobody can find it by its place on disk: fresh,
// or about to be changed. Once written or read it is in mru; a second look that does not come right after the first
// makes it mfu. While a dbuf shows it, it stays; without one it is on its state's list, and goes from its old end when
// the ARC is above its target (arc_c), the two states sharing it as arc_p says. What has gone leaves its header behind
// in a ghost list: a block that is asked for again from there moves arc_p. A block that was only read ahead stays in
// mru at its first look, and is not evicted in its first second.
//
// Metadata have a limit of their own (arc_meta_limit), enforced before anything else; otherwise a state gives up the
// type whose oldest buffer is older.
//
// Header and buffer are one here, because without snapshots and clones no block has two buffers. Followed: OpenZFS
// 81285582b9 (2016-05) for locks and lists; 64b6c47d90 (2019-10) for arc_buf_access, arc_access, arc_adapt, arc_read of
// blocks on their way, and arc_adjust. Left out: the L2ARC, compression, the pruning of inodes when metadata cannot be
// evicted; the memory of headers, dbufs and dnodes is not counted into the ARC's size or its metadata.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "model/block.h"
#include "model/config.h"
#include "model/kstats.h"
#include "model/list.h"
#include "model/multilist.h"
#include "model/spl.h"

namespace dmu {

struct dmu_state_t;
struct spa_t;
struct dmu_buf_impl_t;

enum class arc_state_t : uint8_t { anon, mru, mru_ghost, mfu, mfu_ghost };
constexpr size_t arc_state_count = 5;
const char *arc_state_name(arc_state_t state);

enum class arc_buf_contents_t : uint8_t { data, metadata };
constexpr size_t arc_contents_count = 2;

struct arc_buf_t {
    block_ref b_data;                 // null in a ghost state
    uint64_t b_dva = 0;               // 0: anonymous
    uint64_t b_birth = 0;             // txg that wrote it: tells it from another block at the same place, later
    dmu_buf_impl_t *b_user = nullptr; // the dbuf that shows it; null: only cached
    hrtime_t b_arc_access{};          // of the last access that counted; 0: none
    list_node_t b_arc_node;           // on its state's list while nobody holds it
    uint32_t b_size = 0;
    arc_state_t b_state = arc_state_t::anon;
    arc_buf_contents_t b_type = arc_buf_contents_t::metadata;
    bool b_io_in_progress = false; // being read: not to be thrown away
    bool b_waited_for = false;     // by somebody who did not begin the read
    bool b_prefetch = false;       // read ahead, and nobody has looked yet
    bool b_predictive = false;     // by the prefetcher's guess
    uint32_t b_mru_hits = 0, b_mru_ghost_hits = 0;
    uint32_t b_mfu_hits = 0, b_mfu_ghost_hits = 0;
    kmutex_t b_evict_lock{"b_evict_lock"};
};

constexpr int64_t ARC_MINTIME_NS = 62'500'000;          // hz / 16 ticks: accesses closer together count once
constexpr int64_t arc_min_prefetch_ns = 1'000'000'000;  // a block that was only read ahead is not evicted before
constexpr uint64_t arc_meta_min = 1ull << 24;           // SPA_MAXBLOCKSIZE: below it data go first
constexpr uint32_t zfs_arc_meta_limit_percent = 75;     // of arc_c_max
constexpr uint32_t zfs_arc_meta_adjust_restarts = 4096; // passes over the lists for the limit on metadata
constexpr uint32_t arc_evict_batch_limit = 10; // headers taken from one piece of a list before the next piece's turn
constexpr uint32_t arc_overflow_shift = 8;     // zfs_arc_overflow_shift: allocations wait above arc_c + arc_c / 256
constexpr uint32_t arc_p_min_shift = 4;        // arc_p stays within arc_c / 16 of both ends
constexpr uint32_t arc_adapt_most = 10;        // how much one ghost hit can move arc_p, in times its size

// A read that nobody waits for, and how it goes on.
struct arc_prefetch_t {
    bool predictive = false; // a guess: it goes to the disk behind what is wanted
    uint32_t child = 0;      // of an indirect block: which pointer `done` is given
    // Null: the block itself was what is wanted. from_disk: some other thread than the one that asked calls it.
    std::function<void(const blkptr_t &child, bool from_disk)> done;
};

struct arc_t {
    explicit arc_t(const model_config &config, uint32_t buf_locks);
    ~arc_t(); // with every buffer that no dbuf shows

    struct hash_lock_t {
        kmutex_t lock{"hash_lock"};
        // under lock:
        kcondvar_t read_cv; // a block has been read
    };
    struct arc_list_t {
        multilist_t<arc_buf_t> list{member_offset(&arc_buf_t::b_arc_node), Fn::arc_state_multilist_index_func};
        uint64_t esize = 0; // bytes on it: what can be evicted
    };

    kmutex_t &hash_lock(uint64_t dva) { return hash_locks[dva % hash_lock_count].lock; }
    kcondvar_t &read_cv(uint64_t dva) { return hash_locks[dva % hash_lock_count].read_cv; }
    arc_buf_t *&slot(uint64_t dva);
    arc_list_t &list(const arc_buf_t &buf) { return list(buf.b_state, buf.b_type); }
    arc_list_t &list(arc_state_t state, arc_buf_contents_t type);
    uint64_t esize(arc_state_t state, arc_buf_contents_t type) const // what could be evicted, in bytes
    {
        return lists_[static_cast<size_t>(state) - 1][static_cast<size_t>(type)].esize;
    }
    uint64_t size() const;      // of what has its data in memory
    uint64_t meta_used() const; // of it, metadata
    bool is_overflowing() const;

    const uint64_t hash_lock_count;
    std::unique_ptr<hash_lock_t[]> hash_locks; // headers found by DVA
    std::vector<arc_buf_t *> by_dva;
    std::array<std::array<uint64_t, arc_contents_count>, arc_state_count> arcs_size{}; // bytes
    std::unordered_map<uint64_t, std::vector<arc_prefetch_t>> readers; // of blocks on their way; under their hash locks
    arc_stats_t stats;
    // What everything in memory comes to, by kind: three words that whoever makes or frees anything changes.
    atomic_uint64_t arcstat_other_size, arcstat_meta_used, arc_space;
    uint64_t arc_c;          // target size
    uint64_t arc_c_max;      // zfs_arc_max
    uint64_t arc_p;          // of it, what mru should have
    uint64_t arc_meta_limit; // zfs_arc_meta_limit
    uint64_t arc_meta_max = 0;

    kmutex_t arc_adjust_lock{"arc_adjust_lock"};
    // under arc_adjust_lock:
    bool adjust_needed = false;
    bool adjust_running = false;
    bool exiting = false;
    kcondvar_t arc_adjust_cv, arc_adjust_waiters_cv, exit_cv;
    hrtime_t adjusted_at{}; // begun

private:
    std::array<std::array<arc_list_t, arc_contents_count>, arc_state_count - 1> lists_; // not for arc_anon
};

inline bool arc_is_anonymous(const arc_buf_t &buf)
{
    return buf.b_state == arc_state_t::anon;
}
inline bool GHOST_STATE(arc_state_t state)
{
    return state == arc_state_t::mru_ghost || state == arc_state_t::mfu_ghost;
}
// The same, asked under the buffer's lock.
bool arc_released(dmu_state_t &dmu, arc_buf_t &buf);

// The service thread that evicts when the ARC is above its target; it ends with arc_stop.
void arc_start(dmu_state_t &dmu);
void arc_stop(dmu_state_t &dmu);

// Bytes in use for dnodes, dbufs, headers and buffers: asked of nobody here, but each call is three atomics that all
// CPUs share.
void arc_space_consume(dmu_state_t &dmu, uint64_t bytes);
void arc_space_return(dmu_state_t &dmu, uint64_t bytes);
// A zeroed anonymous buffer, and one with the contents of another.
arc_buf_t *arc_buf_alloc(dmu_state_t &dmu, block_kind kind, arc_buf_contents_t type, uint32_t size);
arc_buf_t *arc_buf_copy(dmu_state_t &dmu, const arc_buf_t &original);
// The buffer of a block on disk, from memory or from the disk (then the caller's thread waits for it, or for whoever
// has it read already). A block that has been freed meanwhile may come as an anonymous buffer of zeroes, of the given
// kind. REQUIRES: !BP_IS_HOLE(bp), no lock held that a disk read must not be made under.
arc_buf_t *arc_read(spa_t &spa, const blkptr_t &bp, block_kind kind);
// Has a block read and waits for nothing. A block that has been freed meanwhile is not read, and `done` not called.
// REQUIRES: !BP_IS_HOLE(bp).
void arc_prefetch(spa_t &spa, const blkptr_t &bp, arc_prefetch_t prefetch);
// Makes it anonymous so that it can be changed; the disk keeps what it has.
void arc_release(dmu_state_t &dmu, arc_buf_t &buf);
// The buffer has been written in txg `birth` to dva (0: it was all holes or zeroes and is nowhere): it can be found
// there from now on.
void arc_write_done(dmu_state_t &dmu, arc_buf_t &buf, uint64_t dva, uint64_t birth);
// The block at dva is no longer part of any tree.
void arc_freed(dmu_state_t &dmu, uint64_t dva);
// 2016: a dbuf takes up its cached buffer again, or nobody holds the dbuf any more.
void arc_buf_add_ref(dmu_state_t &dmu, arc_buf_t &buf, dmu_buf_impl_t *user);
void arc_buf_remove_ref(dmu_state_t &dmu, arc_buf_t &buf);
// 2019: a hold of a cached buffer counts as an access.
void arc_buf_access(dmu_state_t &dmu, arc_buf_t &buf);
// The dbuf is gone; the block stays cached unless the buffer is anonymous.
void arc_buf_destroy(dmu_state_t &dmu, arc_buf_t *buf);
// Drops buffers of a state and type that no dbuf shows, least recently used first, until `bytes` have been freed or
// there are none left; headers of ghost states are dropped altogether. The bytes freed.
uint64_t arc_evict_state(dmu_state_t &dmu, arc_state_t state, arc_buf_contents_t type, uint64_t bytes);
// Evicts until the ARC is within its target and the ghost lists within theirs. The bytes freed.
uint64_t arc_adjust(dmu_state_t &dmu);
// Drops every buffer that no dbuf shows, and every ghost, as exporting a pool does.
void arc_flush(dmu_state_t &dmu);

} // namespace dmu
