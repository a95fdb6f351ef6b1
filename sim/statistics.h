// What the kernel counts about locks: by class, by caller, by instance. Integers, dense tables, no lookups.
//
// Half of it is touched at every acquisition and stays together (LockClassCounts). The rest is touched only by those
// that had to wait. Who waited is told by the function that waited; who is to blame, by the function in which the
// lock's owner had taken it when the waiter came. So for each class both columns add up to the same sum.
#pragma once

#include "sim/histogram.h"
#include "sim/limits.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sim {

struct alignas(64) LockClassCounts {
    uint64_t acquisitions = 0;
    uint64_t owner_changes = 0; // acquisitions by another CPU than the last
    uint64_t writes = 0;        // of the acquisitions of a rwlock, those for writing
    uint64_t instances = 0;     // locks of the class made so far (never reset)
    Histogram *hold = nullptr;  // picoseconds from acquisition to release; a rwlock: from its first reader to its last
};

struct LockClassWaits {
    uint64_t contended = 0;
    uint64_t spin_ps = 0;    // of the waits, on a CPU
    uint64_t blocked_ps = 0; // of the waits, off the CPU: asleep, or waiting for a CPU
    uint64_t labels = 0;     // numbers given to instances without a description
    Histogram wait;          // picoseconds from coming to having it
};

struct LockInstance {
    uint16_t lock_class;
    std::string label; // from LockClassInfo::describe when first waited for; else a number
    uint64_t contended = 0;
    uint64_t wait_ps = 0;
};

struct LockStatistics {
    std::vector<LockClassCounts> counts; // by class
    std::vector<LockClassWaits> waits;   // by class
    std::vector<uint64_t> waiter_ps;     // [class * (functions + 1) + function that waited; the last: none]
    std::vector<uint64_t> holder_ps;     // [the same, function that held]
    std::vector<LockInstance> instances; // in the order of their first wait
    uint32_t functions = 0;
};

} // namespace sim
