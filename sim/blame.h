// Who is to blame for waiting: whoever held the lock meanwhile, for as long as that was, once for each thread that
// waited.
//
// Threads that wait for a lock are a number (LockInstance::waiting), not a list to be gone through: whenever a waiter
// comes or goes, or the lock changes hands, the time since the last such moment, times that number, is put down to the
// call path in which the holder had taken the lock. So what holders are blamed for adds up to what waiters have waited,
// to the picosecond (checked at the end of every run), and nothing happens where nobody waits.
//
// Nobody is to blame (Blame::hand_over) for the time in which the lock travels to the one it has been granted to, or a
// woken waiter to a CPU. Which readers hold a rwlock is not kept: the last to come is named for all of them.
//
// While the holder itself waits for a lock, the waiting is put down to that chain as well (WaitChain).
#pragma once

#include "sim/lock.h"

namespace sim {

// The thread waits for the lock, from `at_ps`, which is now. REQUIRES: it is not among the waiters.
void blame_joins(LockBase &lock, Thread &thread, int64_t at_ps);
// It waits on, but what it waits for is on its way. REQUIRES: it is among the waiters.
void blame_leaves(LockBase &lock, Thread &thread, int64_t at_ps);
// Its wait is over.
void blame_ends(LockBase &lock, Thread &thread, int64_t at_ps);
// The lock is about to change hands, at `at_ps`, which is now.
void blame_until(LockBase &lock, int64_t at_ps);
// The measurement ends while the thread waits.
void blame_is_cut(LockBase &lock, Thread &thread, int64_t at_ps);
// The whole of a wait to whoever had the lock when the thread came.
void blame_is_simple(LockBase &lock, const Thread &thread, uint64_t wait_ps);

// What the wait that ends took goes to the list of the thread's current operation.
void keep_lock_share(const LockBase &lock, Thread &thread, uint64_t wait_ps, uint64_t spin_ps);

} // namespace sim
