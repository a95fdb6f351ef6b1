// zfetch "rwlock": OpenZFS until 2017. Streams are looked for as reader; who begins one becomes the writer.
//
// The upgrade is only tried: whoever does not get it, because somebody else reads or because the code runs in user
// space, begins no stream this time. Followed: OpenZFS dbeb879699 (June 2017).
#include "model/variants/zfetch.h"

namespace dmu {

namespace {

class rwlock_t final : public zfetch_form_t {
public:
    explicit rwlock_t(bool can_upgrade) : can_upgrade_(can_upgrade) {}

    std::optional<zfetch_ahead_t> consult(const dnode_t &dn, zfetch_t &zf, zfetch_access_t access) const override
    {
        auto held = rw_enter(zf.zf_rwlock, RW_READER);
        for (zstream_t &zs : zf.zf_stream) {
            settle(); // another reader may be moving it
            if (zs.zs_blkid != access.blkid)
                continue;
            auto stream = mutex_enter(zs.zs_lock);
            if (zs.zs_blkid != access.blkid)
                continue;
            Probe probe{Fn::dmu_zfetch_stream};
            return dmu_zfetch_stream_advance(dn, zs, access);
        }
        zfetch_missed(dn);
        if (rw_tryupgrade(held, can_upgrade_))
            dmu_zfetch_stream_create(dn, zf, access);
        return {};
    }

private:
    const bool can_upgrade_;
};

} // namespace

std::unique_ptr<const zfetch_form_t> make_zfetch_rwlock(bool can_upgrade)
{
    return std::make_unique<rwlock_t>(can_upgrade);
}

} // namespace dmu
