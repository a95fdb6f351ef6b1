// What a waiter for a lock does, and what the one that leaves does for it: one small file for each policy.
//
// A policy is a row of properties and one formula. The properties steer mutex.cpp; the formula says how long the lock
// is between hands when a spinning waiter takes it over, given the line transfer between the two CPUs and the number of
// waiters spinning at that moment.
#pragma once

#include "sim/machine.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace sim {

struct LockPolicy {
    const char *name;
    const char *sentence;
    bool sleeps;          // a waiter whose lock's owner is off its CPU goes to sleep; false: it spins whatever happens
    bool wakes_all;       // leaving wakes every sleeper; false: the first one only
    bool keeps_turn;      // strictly first come, first served, also when the first is not running
    bool leaves_by_store; // leaving an uncontended lock is a plain store, not a read-modify-write
    // In picoseconds. REQUIRES: waiters >= 1, the one that is served included.
    int64_t (*hand_off_ps)(const Machine &machine, int64_t transfer_ps, int64_t waiters);
};

extern const LockPolicy adaptive_ttas;
extern const LockPolicy adaptive_backoff;
extern const LockPolicy queued;
extern const LockPolicy ticket;

std::span<const LockPolicy *const> lock_policies();
// Null if there is none of that name.
const LockPolicy *find_lock_policy(std::string_view name);

} // namespace sim
