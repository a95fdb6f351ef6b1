// The running CPU's clock, and everything else that every primitive touches: one small struct, one instance, inline
// access.
//
// A simulated thread runs ahead: charge() only adds to its CPU's key. Before it touches anything that another thread
// can see, the key is compared with the horizon, the first key at which anybody else has to be looked at (another CPU's
// turn, a timer, the end of the time slice). Below it the thread goes on without a switch; otherwise settle() lets the
// others come first. So shared state is touched in the order (time, CPU), exactly as if every charge had been an event
// of its own.
//
// There is one kernel at a time, and it is not for threads of the host: parallel work forks processes.
#pragma once

#include "sim/call_tree.h"
#include "sim/cpu.h"
#include "sim/event_queue.h"
#include "sim/machine.h"
#include "sim/statistics.h"
#include "sim/thread.h"
#include "sim/time.h"

#include <cstdint>

namespace sim {

class Simulator;
class Scheduler;
struct LockPolicy;

// What primitives cost, as key spans; all zero while the simulator runs free.
struct Prices {
    Key rmw_owned = 0;
    Key load_hit = 0;
    Key transfer[2] = {0, 0}; // within a socket, between sockets
    Key crowd = 0;
    Key release = 0; // leaving an uncontended lock
    Key block = 0;
    Key wake = 0;
    Key wake_latency = 0;
    Key context_switch = 0;
    Key data[2] = {0, 0}; // what lies behind a lock, within a socket, between sockets
    Key miss = 0;         // a line of memory that this CPU lacks
    Key allocate = 0;
    Key free = 0;
};

// For what every operation passes: a call would cost as much as the work.
#define SIM_ALWAYS_INLINE inline __attribute__((always_inline))
#define SIM_OUT_OF_LINE __attribute__((noinline, cold))

// What happens when a lock is left: nothing; its hold is counted; it is announced as well.
enum class HoldAccounts : uint8_t { none, counted, announced };

struct alignas(64) Hot {
    Key key = 0;         // of the running CPU: what time it is for the running thread
    Key horizon = never; // the first key at which anybody else has to be looked at
    Slice slice;         // the running thread's
    Thread *thread = nullptr;
    CallNode *node = nullptr;
    uint64_t *calls = nullptr;
    Key counted_from = 0;      // a hold or wait counts from here on
    Key plain_holds_from = 0;  // a hold that began here or later is counted and nothing else; never: holds are special
    uint64_t charged_bits = 0; // all ones, or none while nothing costs time
    bool watch_frames = false;
    bool counting = true;                               // locks keep their accounts (Simulator::set_counting)
    HoldAccounts hold_accounts = HoldAccounts::counted; // none without counting
    bool line_model = false;
    bool free_running = true;
    bool broken = false; // an invariant does not hold: locks fall open, so that unwinding does not switch threads
    Prices prices;
    Simulator *simulator = nullptr;
    Scheduler *scheduler = nullptr;
    const LockPolicy *policy = nullptr;
    uint32_t sharer_shift = 0; // CPUs of 2^shift share a bit of Line::sharers
    uint8_t socket[limits::cpus + 2] = {};
    LockClassCounts lock_counts[limits::lock_classes] = {};

    int64_t counted_from_ps() const { return time_of(counted_from).ps; }
};

// Hidden: within one program, so no detour through a table of addresses.
__attribute__((visibility("hidden"))) inline constinit Hot hot;

// ---- for everybody ----

inline Time now()
{
    return time_of(hot.key);
}
inline Thread &curthread()
{
    return *hot.thread;
}
inline uint32_t current_cpu()
{
    return cpu_of(hot.key);
}

// REQUIRES: 0 <= length. The running thread computes for this long.
inline void charge(Duration length)
{
    VERIFY(static_cast<uint64_t>(length.ps) < static_cast<uint64_t>(limits::charge_ps));
    const uint64_t ps = static_cast<uint64_t>(length.ps) & hot.charged_bits;
    hot.key += ps << limits::cpu_bits;
    hot.node->charged_ps += ps;
}

void settle_slow();
// Returns when nobody else comes before the running thread: what it reads now is what is there now.
inline void settle()
{
    if (hot.key >= hot.horizon) [[unlikely]]
        settle_slow();
}

// Sleeps; both settle first. An instant that has passed does not sleep.
void sleep_until(Time until, WaitKind kind);
void sleep_for(Duration length, WaitKind kind);
// Lets waiting threads of the same CPU run first.
void yield_cpu();
// The number of the CPU the thread runs on, for what belongs to that CPU alone: threads of one CPU run in the order of
// time, so nobody has to come first. Only at the end of its time slice may the thread be moved.
inline uint32_t cpu_seqid()
{
    if (hot.key >= hot.slice.end) [[unlikely]]
        settle_slow();
    return current_cpu();
}

// ---- for the primitives ----

SIM_ALWAYS_INLINE void charge_key(Key span)
{
    hot.key += span;
    hot.node->charged += span;
}

} // namespace sim
