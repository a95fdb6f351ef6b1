// What a dnode's dn_struct_rwlock is made of.
#pragma once

#include <cstdint>
#include <memory>

#include "model/struct_rwlock.h"

namespace dmu {

class struct_lock_t {
public:
    virtual ~struct_lock_t() = default;
    // Called once for each dnode_t, before anybody can find it.
    virtual void prepare(struct_rwlock_t &lock) const = 0;
};

std::unique_ptr<const struct_lock_t> make_struct_lock_rwlock();
std::unique_ptr<const struct_lock_t> make_struct_lock_fan_out(uint32_t locks);

} // namespace dmu
