// The prefetcher: streams of reads that go through an object in order, and the locks that every read passes for it.
//
// A read that continues a stream asks for the blocks after it, twice as far ahead each time: data up to 8 MiB, the
// indirect blocks of up to 64 MiB. What is asked for is settled under the stream's lock, the reads are issued after it
// has been given back, and nobody waits for them. How a dnode's streams are locked is a choice
// (model/variants/zfetch.h): a rwlock until 2017, a mutex since 2019, a mutex that is only tried. Followed: OpenZFS
// 64b6c47d90, dmu_zfetch.c; the rwlock dbeb879699. Left out: what the prefetcher became in 2021 (a consultation in two
// parts, distances that adapt), streams that are reaped when memory is short.
#pragma once

#include <array>
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
    explicit zfetch_t(const dnode_t &dn) : zf_dnode(dn) {}

    const dnode_t &zf_dnode;
    krwlock_t zf_rwlock{"zf_rwlock"}; // until 2017
    kmutex_t zf_lock{"zf_lock"};      // since 2019
    std::list<zstream_t> zf_stream;   // under it
};

constexpr uint32_t zfetch_max_streams = 8;
constexpr int64_t zfetch_min_sec_reap = 2;
constexpr uint64_t zfetch_max_distance = 8 << 20;   // bytes ahead
constexpr uint64_t zfetch_max_idistance = 64 << 20; // of data that indirect blocks are asked for
constexpr uint64_t zfetch_array_rd_sz = 1 << 20;    // larger reads are no stream

// How long calls of dmu_zfetch took: bucket 0 those below a microsecond, bucket n those of 2^(n-1) microseconds and
// more, below the next.
using zfetch_latency_t = std::array<uint64_t, 65>;

// Blocks [blkid, blkid + nblks) are being read. fetch_data: not only the indirect blocks. have_lock: dn_struct_rwlock
// is held as reader.
void dmu_zfetch(dnode_t &dn, uint64_t blkid, uint64_t nblks, bool fetch_data, bool have_lock);

// ---- for model/variants/zfetch_*.cpp ----

// Blocks that are being read.
struct zfetch_access_t {
    uint64_t blkid, nblks;
    bool fetch_data;
};
// What a stream wants next: data blocks [pf_start, pf_start + pf_nblks), indirect blocks [ipf_begin, ipf_end).
struct zfetch_ahead_t {
    uint64_t pf_start = 0, pf_nblks = 0;
    uint64_t ipf_begin = 0, ipf_end = 0;
};
// A stream for what follows the access, unless there are as many as the object can use.
// REQUIRES: the streams' lock is held so that nobody else has it.
void dmu_zfetch_stream_create(const dnode_t &dn, zfetch_t &zf, const zfetch_access_t &access);
// Moves the stream past the access: twice as far ahead as before, up to the limits. REQUIRES: zs_lock is held.
zfetch_ahead_t dmu_zfetch_stream_advance(const dnode_t &dn, zstream_t &zs, const zfetch_access_t &access);
// The access begins a stream, or goes on with one.
void zfetch_missed(const dnode_t &dn);
void zfetch_hit(const dnode_t &dn);

} // namespace dmu
