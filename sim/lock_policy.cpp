#include "sim/lock_policy.h"

namespace sim {

namespace {

const LockPolicy *const policies[] = {&adaptive_ttas, &adaptive_backoff, &queued, &ticket};

} // namespace

std::span<const LockPolicy *const> lock_policies()
{
    return policies;
}

const LockPolicy *find_lock_policy(std::string_view name)
{
    for (const LockPolicy *policy : policies) {
        if (policy->name == name)
            return policy;
    }
    return nullptr;
}

} // namespace sim
