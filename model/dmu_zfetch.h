// The prefetcher: streams of reads that go through an object in order, and the locks that every read passes for it.
//
// A read that continues a stream asks for the blocks after it, twice as far ahead each time. Until 2017 a dnode's
// streams were under a rwlock, which readers enter shared and upgrade to begin a stream; since 2019 under a mutex.
// Followed: OpenZFS 64b6c47d90, dmu_zfetch.c. Left out: the reads themselves (what is asked for ahead is looked up, and
// not read when it is not there); the streams of the code before 2019, whose upgrade never succeeds in user space,
// where the recordings come from.
#pragma once

#include <cstdint>
#include <list>

#include "model/spl.h"

namespace dmu {

struct dnode_t;

struct zstream_t {
    uint64_t zs_blkid = 0;     // expected next
    uint64_t zs_pf_blkid = 0;  // the next block to ask for
    uint64_t zs_ipf_blkid = 0; // the next to ask for the indirect block of
    hrtime_t zs_atime{};
    kmutex_t zs_lock{"zs_lock"};
};

struct zfetch_t {
    krwlock_t zf_rwlock{"zf_rwlock"}; // until 2017
    kmutex_t zf_lock{"zf_lock"};      // since 2019
    std::list<zstream_t> zf_stream;   // under it
};

constexpr uint32_t zfetch_max_streams = 8;
constexpr int64_t zfetch_min_sec_reap = 2;
constexpr uint64_t zfetch_max_distance = 8 << 20;   // bytes ahead
constexpr uint64_t zfetch_max_idistance = 64 << 20; // of data that indirect blocks are asked for
constexpr uint64_t zfetch_array_rd_sz = 1 << 20;    // larger reads are no stream

// Blocks [blkid, blkid + nblks) are being read. fetch_data: not only the indirect blocks. have_lock: dn_struct_rwlock
// is held as reader.
void dmu_zfetch(dnode_t &dn, uint64_t blkid, uint64_t nblks, bool fetch_data, bool have_lock);

} // namespace dmu
