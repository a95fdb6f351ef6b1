// Careful runs: nobody runs ahead, so that every touch of shared state can be watched, delayed, or given back time.
//
// Three things need that, and each is off unless asked for before the run:
//
// Supposing a lock cheaper. What would happen were the locks of a class k times cheaper, or free? Entering, leaving and
// handing over take a k-th (free: nothing). Mutual exclusion itself stays, for without it the simulated code would be
// wrong; but whoever finds the lock taken gets (k - 1)/k of the CPU time it spins (free: all of it) back: the next that
// long of its computing takes no time. Going to sleep, waking and changing threads for the lock take a k-th too, and
// time asleep is given back as far as CPUs were idle meanwhile; where other threads had its CPU, nothing was lost. So
// over a run each thread has as much time for its work as if it had not waited, no CPU computes more than there is time
// for, and no clock ever goes back. Time given back for spinning is told as running. What is not undone: while it waits
// for the lock, a thread keeps others waiting for whatever else it holds.
//
// Disturbing the schedule. At every eighth touch or so a thread is held up, for one nanosecond to sixteen microseconds,
// seldom for a millisecond. Which ones, and for how long, depends on one number.
//
// Watching the order of locks (lock_order.h).
//
// The scheduler's horizon is 0 in such a run, so every primitive goes its slow way, where all this has its place; other
// runs pay nothing for it. A careful run without any of the three comes out like any other.
#pragma once

#include "sim/cache_line.h"
#include "sim/lock.h"

namespace sim {

class Scheduler;

// There is a supposition about the cost of its class.
SIM_ALWAYS_INLINE bool is_supposed(const LockBase &lock)
{
    return lock.line >= odd_line && lock.line != no_cpu;
}
// timer_cpu: nobody's yet.
inline uint16_t cpu_of_line(uint16_t line)
{
    return line >= odd_line ? static_cast<uint16_t>(line & limits::timer_cpu) : line;
}
// What its `line` becomes when the current CPU takes it.
inline uint16_t line_here(const LockBase &lock)
{
    const uint16_t cpu = static_cast<uint16_t>(current_cpu());
    return is_supposed(lock) ? static_cast<uint16_t>(odd_line | cpu) : cpu;
}
// REQUIRES: is_supposed(lock). The supposed part of a cost.
Duration supposed(const LockBase &lock, Duration cost);
Key supposed_release(const LockBase &lock);
inline Key release_price(const LockBase &lock)
{
    return is_supposed(lock) ? supposed_release(lock) : hot.prices.release;
}
// The line of a rwlock is modified, at the supposed price. REQUIRES: is_supposed(lock).
void touch_supposed_line(const LockBase &lock, Line &line);
// Seen as shared, the line of a supposed lock never lets a primitive go its fast way.
void keep_line_odd(const LockBase &lock, Line &line);
// From one reader to the next, when several are let in at once.
Duration next_reader_step(const LockBase &lock, uint32_t cpu);
// What it costs to sleep, to be woken, to change threads, when that is for a supposed lock; null: for none.
Key supposed_sleep(const LockBase &lock, Key price);
SIM_ALWAYS_INLINE Key sleep_price(const LockBase *lock, Key price)
{
    return lock != nullptr && is_supposed(*lock) ? supposed_sleep(*lock, price) : price;
}
// The running thread's wait is over; returns what of it is told.
struct SupposedWait {
    uint64_t wait_ps;
    uint64_t spin_ps;
};
SupposedWait give_back_wait(const LockBase &lock, Thread &self, uint64_t wait_ps, uint64_t spin_ps);

// The running thread gives way: it is held up, or given time back. True: whose turn it is has to be looked up again.
bool take_care(Scheduler &scheduler);

// The running thread has taken a lock; `waits`: it would have waited for it. It has left one.
void note_taken(LockBase &lock, bool write, bool waits);
void note_left(LockBase &lock);

} // namespace sim
