// dbuf_evict_notify "unlocked": OpenZFS since 38240ebd7a (June 2017).
#include "model/dbuf_impl.h"
#include "model/variants/dbuf_evict_notify.h"

namespace dmu {

namespace {

class unlocked_t final : public dbuf_evict_notify_t {
public:
    void over_target(dmu_state_t &dmu) const override
    {
        if (dmu.dbuf_stats.cache_size_bytes.atomic_load() > dmu.dbuf_cache.hiwater_bytes())
            dbuf_evict_one(dmu);
        cv_signal(dmu.dbuf_cache.dbuf_evict_cv);
    }
};

} // namespace

std::unique_ptr<const dbuf_evict_notify_t> make_dbuf_evict_notify_unlocked()
{
    return std::make_unique<unlocked_t>();
}

} // namespace dmu
