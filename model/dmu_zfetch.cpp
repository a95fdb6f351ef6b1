// See the head of dmu_zfetch.h.
#include "model/dmu_zfetch.h"

#include <algorithm>

#include "model/dbuf_impl.h"

namespace dmu {

namespace {

zfetch_t &zfetch_of(dnode_t &dn)
{
    if (dn.dn_zfetch == nullptr) [[unlikely]]
        dn.dn_zfetch = std::make_unique<zfetch_t>();
    return *dn.dn_zfetch;
}

// REQUIRES: zf_lock is held.
void dmu_zfetch_stream_create(const dnode_t &dn, zfetch_t &zf, uint64_t blkid)
{
    Probe probe{Fn::dmu_zfetch_stream_create};
    const hrtime_t now = gethrtime();
    uint32_t streams = 0;
    for (auto at = zf.zf_stream.begin(); at != zf.zf_stream.end();) {
        if ((now - at->zs_atime).ns() / 1'000'000'000 > zfetch_min_sec_reap) {
            at = zf.zf_stream.erase(at);
            kmem_free(sizeof(zstream_t));
        } else {
            ++streams;
            ++at;
        }
    }
    // In a small file fewer, so that they do not overlap.
    const uint64_t fitting = dn.dn_maxblkid * dn.dn_datablksz / zfetch_max_distance;
    const uint64_t most = std::max<uint64_t>(1, std::min<uint64_t>(zfetch_max_streams, fitting));
    if (streams >= most)
        return;
    kmem_zalloc(sizeof(zstream_t));
    zstream_t &fresh = zf.zf_stream.emplace_front();
    fresh.zs_blkid = fresh.zs_pf_blkid = fresh.zs_ipf_blkid = blkid;
    fresh.zs_atime = now;
}

// What a stream wants next: data blocks [pf_start, pf_start + pf_nblks), indirect blocks [ipf_begin, ipf_end).
struct ahead_t {
    uint64_t pf_start = 0, pf_nblks = 0;
    uint64_t ipf_begin = 0, ipf_end = 0;
};

// Twice as far ahead as before, up to the limits. REQUIRES: zs_lock is held.
ahead_t advance(const dnode_t &dn, zstream_t &zs, uint64_t blkid, uint64_t nblks, bool fetch_data)
{
    const int64_t end = static_cast<int64_t>(blkid + nblks);
    const auto blocks = [&](uint64_t bytes) { return static_cast<int64_t>(bytes >> dn.dn_datablkshift); };
    const auto more = [&](int64_t reached, int64_t start, int64_t extra, uint64_t distance) {
        const int64_t doubled = reached - static_cast<int64_t>(blkid) + extra;
        return std::max<int64_t>(0, std::min(doubled, blocks(distance) - (start - end)));
    };
    ahead_t ahead;
    const int64_t pf_start = std::max(static_cast<int64_t>(zs.zs_pf_blkid), end);
    const int64_t pf_nblks = fetch_data ? more(static_cast<int64_t>(zs.zs_pf_blkid), pf_start,
                                               static_cast<int64_t>(nblks), zfetch_max_distance)
                                        : 0;
    zs.zs_pf_blkid = static_cast<uint64_t>(pf_start + pf_nblks);
    const int64_t ipf_start = static_cast<int64_t>(std::max(zs.zs_ipf_blkid, zs.zs_pf_blkid));
    const int64_t ipf_nblks = more(static_cast<int64_t>(zs.zs_ipf_blkid), ipf_start,
                                   static_cast<int64_t>(nblks) + pf_nblks, zfetch_max_idistance);
    zs.zs_ipf_blkid = static_cast<uint64_t>(ipf_start + ipf_nblks);
    zs.zs_atime = gethrtime();
    zs.zs_blkid = static_cast<uint64_t>(end);

    const uint32_t epbs = dn.dn_indblkshift - SPA_BLKPTRSHIFT;
    const auto rounded_up = [&](uint64_t block) { return (block + (1ull << epbs) - 1) >> epbs; };
    ahead.pf_start = static_cast<uint64_t>(pf_start);
    ahead.pf_nblks = static_cast<uint64_t>(pf_nblks);
    ahead.ipf_begin = rounded_up(static_cast<uint64_t>(ipf_start));
    ahead.ipf_end = rounded_up(zs.zs_ipf_blkid);
    return ahead;
}

} // namespace

void dmu_zfetch(dnode_t &dn, uint64_t blkid, uint64_t nblks, bool fetch_data, bool have_lock)
{
    Probe probe{Fn::dmu_zfetch};
    const era_t &era = dn.dn_objset->os_dmu.era;
    if (blkid == 0)
        return; // of a file with one block there is nothing to be foreseen
    zfetch_t &zf = zfetch_of(dn);
    if (!era.zfetch_streams) {
        auto reader = rw_enter(zf.zf_rwlock, RW_READER);
        return;
    }

    Probe stream_probe{Fn::dmu_zfetch_stream};
    rw_guard_t reader;
    if (!have_lock)
        reader = rw_enter(dn.dn_struct_rwlock, RW_READER);
    ahead_t ahead;
    {
        auto held = mutex_enter(zf.zf_lock);
        auto zs = zf.zf_stream.begin();
        for (; zs != zf.zf_stream.end(); ++zs)
            if (zs->zs_blkid == blkid || zs->zs_blkid == blkid + 1)
                break;
        if (zs == zf.zf_stream.end()) {
            dmu_zfetch_stream_create(dn, zf, blkid + nblks);
            return;
        }
        auto stream = mutex_enter(zs->zs_lock);
        if (zs->zs_blkid == blkid + 1) { // not block-aligned: the last block read was the first of these
            ++blkid;
            if (--nblks == 0)
                return;
        }
        ahead = advance(dn, *zs, blkid, nblks, fetch_data);
    }
    for (uint64_t i = 0; i < ahead.pf_nblks; ++i)
        dbuf_prefetch_cached(dn, 0, ahead.pf_start + i);
    for (uint64_t iblk = ahead.ipf_begin; iblk < ahead.ipf_end; ++iblk)
        dbuf_prefetch_cached(dn, 1, iblk);
}

} // namespace dmu
