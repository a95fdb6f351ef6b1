// What the kernel announces. The default hears nothing, and nothing it could do changes a result.
//
// Announcements of one thread come in the order of its simulated time; between threads the order is that of the host's
// execution, which may be ahead for one of them: whoever wants one order sorts by time.
#pragma once

#include "sim/call_tree.h"
#include "sim/time.h"

#include <cstdint>
#include <string>

namespace sim {

struct Thread;

struct LockWait { // somebody had to wait for a lock, and has it now
    const Thread &thread;
    const void *lock;
    uint16_t lock_class;
    Time from;
    Time until;
    Duration spin; // of it, on a CPU
    const CallNode &waiter;
    const CallNode &holder; // where the owner had taken it when the waiter came
};

struct LockHold { // a lock was released
    const Thread &thread;
    const void *lock;
    uint16_t lock_class;
    Time from;
    Time until;
    const CallNode &holder;
};

class Observer {
public:
    virtual ~Observer() = default;

    // Asked once, when a simulator starts. Holds and frames cost the simulator time, so they are announced on demand.
    virtual bool wants_holds() const { return false; }
    virtual bool wants_frames() const { return false; }

    virtual void thread_started(const Thread &, Time) {}
    virtual void thread_finished(const Thread &, Time) {}
    virtual void switched(uint32_t /*cpu*/, const Thread * /*to; null: idle*/, Time) {}
    virtual void waited(const LockWait &) {}
    virtual void held(const LockHold &) {}
    virtual void slept(const Thread &, Time /*from*/, Time /*until*/, const CallNode &) {}
    virtual void frame_entered(const Thread &, const CallNode &, Time) {}
    virtual void frame_left(const Thread &, const CallNode &, Time) {}
};

} // namespace sim
