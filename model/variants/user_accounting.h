// How sync's changes of what owners use reach the accounting ZAPs.
//
// A task collects the changes of one objset in one txg (model/objset_userused.cpp calls it in the sync thread). No
// task: there is no accounting.
#pragma once

#include <memory>

#include "model/dnode.h"

namespace dmu {

class userquota_task_t {
public:
    virtual ~userquota_task_t() = default;
    // By delta bytes, for user and group.
    virtual void update(owner_t owner, int64_t delta) = 0;
    // No update comes after it.
    virtual void flush() = 0;
};

using make_userquota_task_t = std::unique_ptr<userquota_task_t> (*)(objset_t &os, dmu_tx_t &tx);

std::unique_ptr<userquota_task_t> make_userquota_per_dnode(objset_t &os, dmu_tx_t &tx);
std::unique_ptr<userquota_task_t> make_userquota_aggregated(objset_t &os, dmu_tx_t &tx);

} // namespace dmu
