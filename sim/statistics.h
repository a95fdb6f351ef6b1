// What the kernel counts about locks: by class, by caller, by instance. Integers, dense tables, no lookups.
//
// Half of it is touched at every acquisition and stays together (LockClassCounts). The rest is touched only by those
// that had to wait. Who waited is told by the function that waited; who is to blame, by the call path in which whoever
// held the lock meanwhile had taken it (blame.h). So for each class both columns add up to the same sum.
#pragma once

#include "sim/histogram.h"
#include "sim/limits.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sim {

struct Thread;

struct alignas(64) LockClassCounts {
    uint64_t acquisitions = 0;
    uint64_t owner_changes = 0;   // acquisitions by another CPU than the last
    uint64_t writes = 0;          // of the acquisitions of a rwlock, those for writing
    uint64_t instances = 0;       // locks of the class made so far (never reset)
    uint16_t first_line = 0xffff; // what a new lock has for its line: nobody's, or that of a supposition (careful.h)
    uint32_t times_cheaper = 1;   // a supposition about the class; 0: free
    Histogram *hold = nullptr; // picoseconds from acquisition to release; a rwlock: from its first reader to its last
};

struct LockClassWaits {
    uint64_t contended = 0;
    uint64_t spin_ps = 0;    // of the waits, on a CPU
    uint64_t blocked_ps = 0; // of the waits, off the CPU: asleep, or waiting for a CPU
    uint64_t labels = 0;     // numbers given to instances without a description
    Histogram wait;          // picoseconds from coming to having it
};

// Waiting that one call path is to blame for: it had taken the lock and held it meanwhile.
struct Blame {
    static constexpr uint32_t hand_over = ~uint32_t{0}; // nobody: the lock, or a CPU for the waiter, was on its way

    uint32_t node; // call node; in Measurements the index in `nodes`
    uint64_t ps;
};

struct LockInstance {
    uint16_t lock_class = 0;
    std::string label; // from LockClassInfo::describe when the first wait for it is over; else a number
    uint64_t contended = 0;
    uint64_t wait_ps = 0;
    uint64_t hand_over_ps = 0;             // nobody is to blame for it; in Measurements the last entry of `blame`
    std::vector<Blame> blame;              // with it, adds up to wait_ps
    std::array<uint32_t, 16> blame_place{}; // where in it a call node was last found, by the node's number

    // ---- the waiting that goes on ----
    uint32_t waiting = 0; // threads
    int64_t since_ps = 0; // up to here it is accounted
    uint64_t met_key = 0; // LockBase::key of the hold that the first of them met
    const Thread *owner_seen = nullptr;
    uint64_t key_seen = 0;       // of its hold
    int64_t owner_waited_ps = 0; // its lock_wait_ps at since_ps
};

// Who waited for whom, who waited: (class of the lock << 16 | function that held it), link after link, the lock waited
// for first; unused links are `none`.
struct WaitChain {
    static constexpr size_t links_max = 4;
    static constexpr uint32_t none = ~uint32_t{0};

    std::array<uint32_t, links_max> links;
    auto operator<=>(const WaitChain &) const = default;
};

struct LockStatistics {
    std::vector<LockClassCounts> counts;  // by class
    std::vector<LockClassWaits> waits;    // by class
    std::vector<uint64_t> waiter_ps;      // [class * (functions + 1) + function that waited; the last: none]
    std::vector<uint64_t> holder_ps;      // [the same, function that held]; made when the measurement ends
    std::vector<uint64_t> hand_over_ps;   // by class: waiting that no holder is to blame for; made likewise
    std::vector<LockInstance> instances;  // in the order of their first wait
    std::map<WaitChain, uint64_t> chains; // picoseconds of waiting during which the holder itself waited
    uint32_t functions = 0;
};

} // namespace sim
