// How long an assigned transaction keeps its txg from being synced.
#pragma once

#include <memory>

#include "model/txg.h"

namespace dmu {

class txg_hold_t {
public:
    virtual ~txg_hold_t() = default;
    virtual void assigned(txg_handle_t &handle) const = 0;
    virtual void committed(txg_handle_t &handle) const = 0;
};

std::unique_ptr<const txg_hold_t> make_txg_hold_until_commit();
std::unique_ptr<const txg_hold_t> make_txg_hold_until_assigned();

} // namespace dmu
