// How dnode_setdirty finds out that a dnode is on the dirty list already.
#pragma once

#include <memory>

#include "model/dnode.h"

namespace dmu {

class dirty_check_t {
public:
    virtual ~dirty_check_t() = default;
    // It is on the list of that txg, as far as can be seen without the list's lock. False: look under the lock.
    virtual bool listed(const dnode_t &dn, size_t slot) const = 0;
};

std::unique_ptr<const dirty_check_t> make_dirty_check_under_lock();
std::unique_ptr<const dirty_check_t> make_dirty_check_before_lock();

} // namespace dmu
