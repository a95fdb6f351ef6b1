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

struct spa_t;
struct dmu_buf_impl_t;

enum class arc_state_t : uint8_t { anon, mru, mfu };

struct arc_buf_t {
    block_ref b_data;
    uint64_t b_dva = 0;               // 0: anonymous
    dmu_buf_impl_t *b_user = nullptr; // the dbuf that shows it; null: only cached
    hrtime_t b_access{};              // of the last access that counted
    list_node_t b_link;               // on its state's list while no dbuf uses it
    arc_state_t b_state = arc_state_t::anon;
    uint32_t b_mru_hits = 0;
    uint32_t b_mfu_hits = 0;
};

constexpr uint32_t ARC_BUF_LOCKS = 256;

struct arc_stats_t {
    uint64_t hits = 0, misses = 0;
    uint64_t mru_hits = 0, mfu_hits = 0;
    uint64_t mru_size = 0, mfu_size = 0, anon_size = 0;
    uint64_t evicted = 0;
};

struct arc_t {
    arc_t();

    kmutex_t hash_locks[ARC_BUF_LOCKS]; // "hash_lock": headers found by DVA
    kmutex_t mls_lock{"mls_lock"};      // the lists below
    list_t<arc_buf_t> evictable_mru, evictable_mfu;
    std::vector<arc_buf_t *> by_dva;
    arc_stats_t stats;
};

inline bool arc_released(const arc_buf_t &buf)
{
    return buf.b_state == arc_state_t::anon;
}

// A zeroed anonymous buffer.
arc_buf_t *arc_buf_alloc(spa_t &spa, block_kind kind, uint32_t size);
// The buffer of a block on disk, from memory or from the disk (then the caller's thread waits for it).
// REQUIRES: !BP_IS_HOLE(bp), no lock held that a disk read must not be made under.
arc_buf_t *arc_read(spa_t &spa, const blkptr_t &bp, dmu_buf_impl_t *user);
// Makes it anonymous so that it can be changed; the disk keeps what it has.
void arc_release(spa_t &spa, arc_buf_t &buf);
// The buffer has been written to dva (0: it was all holes or zeroes and is nowhere): it can be found there from now on.
void arc_write_done(spa_t &spa, arc_buf_t &buf, uint64_t dva);
// The block at dva is no longer part of any tree.
void arc_freed(spa_t &spa, uint64_t dva);
// 2016: a dbuf takes up its cached buffer again, or lets go of it.
void arc_buf_add_ref(spa_t &spa, arc_buf_t &buf, dmu_buf_impl_t *user);
void arc_buf_remove_ref(spa_t &spa, arc_buf_t *buf); // destroys an anonymous one
// 2019: a hold of a cached buffer counts as an access.
void arc_buf_access(spa_t &spa, arc_buf_t &buf);
// The dbuf is gone; the block may stay cached.
void arc_buf_destroy(spa_t &spa, arc_buf_t *buf);

} // namespace dmu
