// What mutexes and rwlocks have in common: their state in place, their waiters in a ring, and the accounts of a wait.
//
// A lock is forty bytes and refers to its statistics by number. Waiters are threads linked through themselves. When the
// owner leaves ahead of its time (mutex.h) the lock is free, but `key` says from when on; whoever comes earlier finds
// it taken, by a stand-in owner, and a timer finishes the release in its proper turn.
#pragma once

#include "sim/kernel.h"
#include "sim/lock_policy.h"

namespace sim {

struct LockClassInfo {
    const char *name;
    // A label for one lock of the class, or null. Called when it is first waited for.
    std::string (*describe)(const void *lock);
};

inline constexpr uint16_t no_cpu = 0xffff;
// From here on a line is not simply some CPU's: it is nobody's yet, or that of a lock with a supposition about its cost
// (careful.h), which has the CPU's number above this.
inline constexpr uint16_t odd_line = 0x8000;

enum class LockKind : uint8_t { mutex, rwlock };

struct LockBase {
    Key key = 0;               // held: when it was taken; free: from when on
    Thread *owner = nullptr;   // of a rwlock held by readers: the last of them to come, perhaps gone
    Thread *waiters = nullptr; // first of the ring
    uint32_t node = 0;         // call node in which it was taken last
    uint32_t instance = 0;     // LockStatistics::instances, from 1; 0: never waited for
    uint16_t lock_class;
    uint16_t line = no_cpu; // the CPU whose cache has it
    uint16_t spinners = 0;  // waiters on a CPU
    LockKind kind;
    uint8_t hold_place; // of the class, in bytes into HoldPlaces

    LockBase(uint16_t lock_class_in, LockKind kind_in)
        : lock_class(lock_class_in), kind(kind_in),
          hold_place(static_cast<uint8_t>(lock_class % hold_places * sizeof(EqualHolds)))
    {
        LockClassCounts &counts = hot.lock_counts[lock_class];
        ++counts.instances;
        line = counts.first_line;
    }
    LockBase(const LockBase &) = delete;
    LockBase &operator=(const LockBase &) = delete;
};

static_assert(sizeof(LockBase) == 40);

// Stands for an owner that has already left, in its own future. It runs on a CPU, holds nothing, and is never woken.
extern Thread released_ahead;

// ---- the ring of waiters ----
void ring_append(Thread *&first, Thread &thread);
void ring_prepend(Thread *&first, Thread &thread);
void ring_remove(Thread *&first, Thread &thread);

// ---- one wait ----

// Opens its account. `self` is next: its key is the clock.
void wait_begins(LockBase &lock, Thread &self, bool wants_write);
// Its CPU spins for the lock, or pays for going to sleep, as the policy says. REQUIRES: it is next, and in the ring.
void spin_or_sleep(LockBase &lock, Thread &self);
// Closes the account of the running thread.
void wait_ends(LockBase &lock);
bool should_spin(const LockBase &lock);
// Which readers hold a lock is not known, so whether all of them run is not either: a waiter for readers spins for as
// long as going to sleep takes, and then sleeps. The CPU bits mean nothing.
Key spin_limit(const LockBase &lock);

// The release of a lock that its owner left ahead of time gets its turn as an event: somebody came before it.
void take_back_release(LockBase &lock);
// That event, and every release that is executed in its turn. REQUIRES: the owner has settled.
void pass_on(LockBase &lock);
// A rwlock that at least one reader holds.
bool held_by_readers(const LockBase &lock);
// A waiter that is on its CPU no longer: preempted, or told to sleep since the owner does not run.
void stops_spinning(Thread &thread);
// It is about to sleep: would it get the lock if it tried?
bool could_take(const Thread &thread);
// It is granted the lock by a release at `released`, the instant to which the running thread has settled. On a CPU it
// goes on `after` that, asleep it is woken.
void grant(LockBase &lock, Thread &thread, Time released, Duration after);

// ---- costs ----
inline Key transfer(uint16_t from, uint32_t to)
{
    if (from == to || from == no_cpu)
        return hot.prices.rmw_owned;
    return hot.prices.transfer[hot.socket[from] != hot.socket[to]]; // which of the two cannot be foretold: no branch
}
// What the lock guards comes along when another CPU takes it to change it: also where the lock itself is supposed to be
// free (careful.h).
inline Key data_behind(uint16_t from, uint32_t to)
{
    if (from == to)
        return 0;
    if (from >= odd_line) [[unlikely]] {
        from &= limits::timer_cpu;
        if (from == to || from == limits::timer_cpu) // nobody had it
            return 0;
    }
    return hot.prices.data[hot.socket[from] != hot.socket[to]];
}
// The line of a lock is nobody's yet, or there is a supposition about its cost (careful.h). It is this CPU's now.
SIM_OUT_OF_LINE void charge_odd_line(LockBase &lock, uint32_t cpu);
// From the release to the moment at which a spinning waiter on `cpu` has it.
Duration hand_off(const LockBase &lock, uint32_t cpu);

inline constexpr uint64_t digest_multiplier = 0x9e3779b97f4a7c15ull;

// One more event in the running thread's history.
SIM_ALWAYS_INLINE void digest_event(Thread &thread, uint64_t what)
{
    thread.digest = (thread.digest + what) * digest_multiplier;
}

// Not counted, announced, or begun before the measurement.
SIM_OUT_OF_LINE void count_special_hold(const LockBase &lock, Key until);

inline EqualHolds &place_of(const LockBase &lock, HoldPlaces &places)
{
    return *reinterpret_cast<EqualHolds *>(reinterpret_cast<char *>(&places) + lock.hold_place);
}

// A hold unlike the one in its class's place.
__attribute__((noinline)) void count_other_hold(const LockBase &lock, Key until, HoldPlaces &places);
// Enters what has been put off.
void enter_holds(EqualHolds &equal);

// REQUIRES: it began at plain_holds_from or later. `places` are the current node's.
SIM_ALWAYS_INLINE void count_plain_hold(const LockBase &lock, Key until, HoldPlaces &places)
{
    EqualHolds &equal = place_of(lock, places);
    if (until - lock.key == equal.span && lock.lock_class == equal.lock_class) [[likely]]
        ++equal.times;
    else
        count_other_hold(lock, until, places);
}

// The lock is left at that instant.
void count_hold(const LockBase &lock, Key until);

} // namespace sim
