// What the DMU sees of the ARC: buffers, whose they are, which list they are on.
//
// An arc_buf_t is one block in memory. It is anonymous (arc_anon) while nobody can find it by its place on disk: fresh,
// or about to be changed. Once written or read it belongs to mru or mfu and is found again by its DVA. Header and
// buffer are one here, because without snapshots and clones no block has two buffers. Followed: OpenZFS 81285582b9
// (2016-05) for the states and locks; 64b6c47d90 (2019-10) for arc_buf_access. Left out: the L2ARC, ghost lists,
// compression, adaptation of the target sizes.
#pragma once

#include <cstdint>
#include <vector>

#include "model/block.h"
#include "model/list.h"
#include "model/spl.h"

namespace dmu {

struct dmu_state_t;
struct spa_t;
struct dmu_buf_impl_t;

enum class arc_state_t : uint8_t { anon, mru, mfu };

struct arc_buf_t {
    block_ref b_data;
    uint64_t b_dva = 0;               // 0: anonymous
    dmu_buf_impl_t *b_user = nullptr; // the dbuf that shows it; null: only cached
    hrtime_t b_access{};              // of the last access that counted
    list_node_t b_link;               // on its state's list while nobody holds it
    arc_state_t b_state = arc_state_t::anon;
    uint32_t b_mru_hits = 0;
    uint32_t b_mfu_hits = 0;
    kmutex_t b_evict_lock{"b_evict_lock"};
};

constexpr uint32_t ARC_BUF_LOCKS = 256;
constexpr int64_t ARC_MINTIME_NS = 62'500'000; // hz / 16 ticks: accesses closer together count once

struct arc_stats_t {
    uint64_t hits = 0, misses = 0;
    uint64_t mru_hits = 0, mfu_hits = 0;
    uint64_t mru_size = 0, mfu_size = 0, anon_size = 0; // bytes
    uint64_t evicted = 0;                               // buffers
};

struct arc_t {
    struct hash_lock_t {
        kmutex_t lock{"hash_lock"};
    };

    kmutex_t &hash_lock(uint64_t dva) { return hash_locks[dva % ARC_BUF_LOCKS].lock; }
    arc_buf_t *&slot(uint64_t dva);
    list_t<arc_buf_t> &evictable(arc_state_t state);
    uint64_t &size(arc_state_t state);

    hash_lock_t hash_locks[ARC_BUF_LOCKS]; // headers found by DVA
    kmutex_t mls_lock{"mls_lock"};         // the lists below
    list_t<arc_buf_t> evictable_mru{member_offset(&arc_buf_t::b_link)};
    list_t<arc_buf_t> evictable_mfu{member_offset(&arc_buf_t::b_link)};
    std::vector<arc_buf_t *> by_dva;
    arc_stats_t stats;

    ~arc_t(); // with every buffer that no dbuf shows
};

inline bool arc_is_anonymous(const arc_buf_t &buf)
{
    return buf.b_state == arc_state_t::anon;
}
// The same, asked as the code of the era does.
bool arc_released(dmu_state_t &dmu, arc_buf_t &buf);

// A zeroed anonymous buffer.
arc_buf_t *arc_buf_alloc(dmu_state_t &dmu, block_kind kind, uint32_t size);
// The buffer of a block on disk, from memory or from the disk (then the caller's thread waits for it).
// REQUIRES: !BP_IS_HOLE(bp), no lock held that a disk read must not be made under.
arc_buf_t *arc_read(spa_t &spa, const blkptr_t &bp);
// Makes it anonymous so that it can be changed; the disk keeps what it has.
void arc_release(dmu_state_t &dmu, arc_buf_t &buf);
// The buffer has been written to dva (0: it was all holes or zeroes and is nowhere): it can be found there from now on.
void arc_write_done(dmu_state_t &dmu, arc_buf_t &buf, uint64_t dva);
// The block at dva is no longer part of any tree.
void arc_freed(dmu_state_t &dmu, uint64_t dva);
// 2016: a dbuf takes up its cached buffer again, or nobody holds the dbuf any more.
void arc_buf_add_ref(dmu_state_t &dmu, arc_buf_t &buf, dmu_buf_impl_t *user);
void arc_buf_remove_ref(dmu_state_t &dmu, arc_buf_t &buf);
// 2019: a hold of a cached buffer counts as an access.
void arc_buf_access(dmu_state_t &dmu, arc_buf_t &buf);
// The dbuf is gone; the block stays cached unless the buffer is anonymous.
void arc_buf_destroy(dmu_state_t &dmu, arc_buf_t *buf);
// Drops buffers that no dbuf shows, least recently used first, until `bytes` have been freed.
uint64_t arc_evict(dmu_state_t &dmu, uint64_t bytes);
// Drops every buffer that no dbuf shows, as exporting a pool does.
void arc_flush(dmu_state_t &dmu);

} // namespace dmu
