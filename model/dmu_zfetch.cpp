// See the head of dmu_zfetch.h.
#include "model/dmu_zfetch.h"

#include <algorithm>
#include <bit>

#include "model/dbuf_impl.h"
#include "model/variants/zfetch.h"

namespace dmu {

namespace {

zfetch_t &zfetch_of(dnode_t &dn)
{
    if (dn.dn_zfetch == nullptr) [[unlikely]]
        dn.dn_zfetch = std::make_unique<zfetch_t>(dn);
    return *dn.dn_zfetch;
}

// One word that all CPUs share, as the statistics of the ARC: free of charge before 2017.
void count(const dnode_t &dn, kstat_named_t &counter)
{
    if (dn.dn_objset->os_dmu.config.code.dbuf_cache)
        counter.atomic_add(1);
    else
        ++counter;
}

// Puts the call into the histogram of how long calls took, whichever way it ends.
class latency_probe_t {
public:
    explicit latency_probe_t(zfetch_latency_t &into) : into_(into), from_(gethrtime()) {}
    ~latency_probe_t() { ++into_[static_cast<size_t>(std::bit_width(microseconds_since()))]; }
    latency_probe_t(const latency_probe_t &) = delete;
    latency_probe_t &operator=(const latency_probe_t &) = delete;

private:
    uint64_t microseconds_since() const { return static_cast<uint64_t>((gethrtime() - from_).ns() / 1000); }

    zfetch_latency_t &into_;
    const hrtime_t from_;
};

} // namespace

void zfetch_missed(const dnode_t &dn)
{
    count(dn, dn.dn_objset->os_dmu.zfetch_stats.zfetch_misses);
}

void zfetch_hit(const dnode_t &dn)
{
    count(dn, dn.dn_objset->os_dmu.zfetch_stats.zfetch_hits);
}

void dmu_zfetch_stream_create(const dnode_t &dn, zfetch_t &zf, const zfetch_access_t &access)
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
    if (streams >= most) {
        count(dn, dn.dn_objset->os_dmu.zfetch_stats.zfetch_max_streams);
        return;
    }
    kmem_zalloc(sizeof(zstream_t));
    zstream_t &fresh = zf.zf_stream.emplace_front();
    fresh.zs_blkid = fresh.zs_pf_blkid = fresh.zs_ipf_blkid = access.blkid + access.nblks;
    fresh.zs_atime = now;
}

zfetch_ahead_t dmu_zfetch_stream_advance(const dnode_t &dn, zstream_t &zs, const zfetch_access_t &access)
{
    const auto [blkid, nblks, fetch_data] = access;
    const int64_t begin = static_cast<int64_t>(blkid);
    const int64_t end = static_cast<int64_t>(blkid + nblks);
    const auto blocks = [&](uint64_t bytes) { return static_cast<int64_t>(bytes >> dn.dn_datablkshift); };
    const auto more = [&](int64_t reached, int64_t start, int64_t extra, uint64_t distance) {
        return std::max<int64_t>(0, std::min(reached - begin + extra, blocks(distance) - (start - end)));
    };
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
    return {static_cast<uint64_t>(pf_start), static_cast<uint64_t>(pf_nblks),
            rounded_up(static_cast<uint64_t>(ipf_start)), rounded_up(zs.zs_ipf_blkid)};
}

void dmu_zfetch(dnode_t &dn, uint64_t blkid, uint64_t nblks, bool fetch_data, bool have_lock)
{
    Probe probe{Fn::dmu_zfetch};
    dmu_state_t &dmu = dn.dn_objset->os_dmu;
    const latency_probe_t latency(dmu.zfetch_latency);
    const zfetch_form_t &form = *dmu.variants.zfetch;
    if (blkid == 0 || !form.enabled())
        return; // of a file with one block there is nothing to be foreseen
    zfetch_t &zf = zfetch_of(dn);

    struct_guard_t reader;
    if (!have_lock)
        reader = rw_enter(dn.dn_struct_rwlock, RW_READER);
    const std::optional<zfetch_ahead_t> ahead = form.consult(dn, zf, {blkid, nblks, fetch_data});
    if (!ahead)
        return;
    for (uint64_t i = 0; i < ahead->pf_nblks; ++i)
        dbuf_prefetch(dn, 0, ahead->pf_start + i, prefetch_t::predictive);
    for (uint64_t iblk = ahead->ipf_begin; iblk < ahead->ipf_end; ++iblk)
        dbuf_prefetch(dn, 1, iblk, prefetch_t::predictive);
    zfetch_hit(dn);
}

} // namespace dmu
