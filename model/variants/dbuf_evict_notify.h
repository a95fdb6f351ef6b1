// How whoever releases a dbuf finds out that the dbuf cache is too big, and tells the evicting thread.
//
// Asked on every last release. The question needs no lock: the size is a counter, and a wrong answer is put right by
// the next release.
#pragma once

#include <memory>

namespace dmu {

struct dmu_state_t;

class dbuf_evict_notify_t {
public:
    virtual ~dbuf_evict_notify_t() = default;

    // The cache was above its target a moment ago. REQUIRES: no db_mtx held.
    virtual void over_target(dmu_state_t &dmu) const = 0;
};

std::unique_ptr<const dbuf_evict_notify_t> make_dbuf_evict_notify_locked();
std::unique_ptr<const dbuf_evict_notify_t> make_dbuf_evict_notify_unlocked();

} // namespace dmu
