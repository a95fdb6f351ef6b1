// zfetch "mutex": OpenZFS since 2018. "try": the same, but who finds the mutex taken reads on without having asked
// (zfs#6568). "off": zfs_prefetch_disable.
//
// Accesses that are not aligned to blocks read a block twice: the first block of one may be the last of the one before.
// Followed: OpenZFS 64b6c47d90 (2019).
#include "model/variants/zfetch.h"

namespace dmu {

namespace {

std::optional<zfetch_ahead_t> consult_held(const dnode_t &dn, zfetch_t &zf, zfetch_access_t access)
{
    Probe probe{Fn::dmu_zfetch_stream};
    for (zstream_t &zs : zf.zf_stream) {
        if (zs.zs_blkid != access.blkid && zs.zs_blkid != access.blkid + 1)
            continue;
        auto stream = mutex_enter(zs.zs_lock);
        if (zs.zs_blkid == access.blkid + 1) {
            ++access.blkid;
            if (--access.nblks == 0)
                return {};
        }
        return dmu_zfetch_stream_advance(dn, zs, access);
    }
    zfetch_missed(dn);
    dmu_zfetch_stream_create(dn, zf, access);
    return {};
}

class mutex_t final : public zfetch_form_t {
public:
    std::optional<zfetch_ahead_t> consult(const dnode_t &dn, zfetch_t &zf, zfetch_access_t access) const override
    {
        auto held = mutex_enter(zf.zf_lock);
        return consult_held(dn, zf, access);
    }
};

class try_t final : public zfetch_form_t {
public:
    std::optional<zfetch_ahead_t> consult(const dnode_t &dn, zfetch_t &zf, zfetch_access_t access) const override
    {
        auto held = mutex_tryenter(zf.zf_lock);
        if (!held)
            return {};
        return consult_held(dn, zf, access);
    }
};

class off_t final : public zfetch_form_t {
public:
    bool enabled() const override { return false; }
    std::optional<zfetch_ahead_t> consult(const dnode_t &, zfetch_t &, zfetch_access_t) const override { return {}; }
};

} // namespace

std::unique_ptr<const zfetch_form_t> make_zfetch_mutex()
{
    return std::make_unique<mutex_t>();
}

std::unique_ptr<const zfetch_form_t> make_zfetch_try()
{
    return std::make_unique<try_t>();
}

std::unique_ptr<const zfetch_form_t> make_zfetch_off()
{
    return std::make_unique<off_t>();
}

} // namespace dmu
