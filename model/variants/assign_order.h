// A change of one object under its structure lock: is the transaction assigned before the lock is taken, or after?
#pragma once

#include <memory>

#include "model/dmu_tx.h"
#include "model/result.h"

namespace dmu {

class assign_order_t {
public:
    virtual ~assign_order_t() = default;
    // Changes the object's bonus under dn_struct_rwlock as writer, which takes `work`. ENOENT: there is none.
    virtual Result<> update(objset_t &os, uint64_t object, Duration work) const = 0;
};

std::unique_ptr<const assign_order_t> make_assign_first();
std::unique_ptr<const assign_order_t> make_lock_first();

} // namespace dmu
