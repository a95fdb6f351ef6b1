// How a read finds its stream of the prefetcher: what guards a dnode's streams, and what happens when it is taken.
#pragma once

#include <memory>
#include <optional>

#include "model/dmu_zfetch.h"

namespace dmu {

class zfetch_form_t {
public:
    virtual ~zfetch_form_t() = default;
    // False: reads do not consult the prefetcher at all.
    virtual bool enabled() const { return true; }
    // What the access's stream wants next; nothing if there is none, or it was not looked for.
    virtual std::optional<zfetch_ahead_t> consult(const dnode_t &dn, zfetch_t &zf, zfetch_access_t access) const = 0;
};

// can_upgrade: rw_tryupgrade may succeed; without it no stream ever begins.
std::unique_ptr<const zfetch_form_t> make_zfetch_rwlock(bool can_upgrade);
std::unique_ptr<const zfetch_form_t> make_zfetch_mutex();
std::unique_ptr<const zfetch_form_t> make_zfetch_try();
std::unique_ptr<const zfetch_form_t> make_zfetch_off();

} // namespace dmu
