// dbuf_evict_notify "locked": OpenZFS from d3c2ae1c08 (2016) until 38240ebd7a (June 2017).
//
// Above the target every last release takes dbuf_evict_lock to look once more: one lock for all readers of the pool.
#include "model/dbuf_impl.h"
#include "model/variants/dbuf_evict_notify.h"

namespace dmu {

namespace {

class locked_t final : public dbuf_evict_notify_t {
public:
    void over_target(dmu_state_t &dmu) const override
    {
        bool evict_now = false;
        {
            auto held = mutex_enter(dmu.dbuf_cache.dbuf_evict_lock);
            if (dmu.dbuf_stats.cache_size_bytes.atomic_load() > dmu.dbuf_cache.target_bytes()) {
                evict_now = dmu.dbuf_stats.cache_size_bytes.atomic_load() > dmu.dbuf_cache.hiwater_bytes();
                cv_signal(dmu.dbuf_cache.dbuf_evict_cv);
            }
        }
        if (evict_now)
            dbuf_evict_one(dmu);
    }
};

} // namespace

std::unique_ptr<const dbuf_evict_notify_t> make_dbuf_evict_notify_locked()
{
    return std::make_unique<locked_t>();
}

} // namespace dmu
