// The condition variable: whoever waits leaves the mutex and sleeps; waking is paid by the waker.
//
// Waiters stand in a ring, first come, first woken. A woken thread comes back through the run queue and then competes
// for the mutex like anybody else.
#pragma once

#include "sim/cache_line.h"
#include "sim/mutex.h"

namespace sim {

class CondVar {
public:
    CondVar() = default;
    CondVar(const CondVar &) = delete;
    CondVar &operator=(const CondVar &) = delete;
    ~CondVar() { waiters_ = nullptr; }

    // REQUIRES: the running thread holds `mutex`. Returns holding it. The time asleep goes to the part of `kind`.
    void wait(Mutex &mutex, WaitKind kind);
    // The same with a limit; false: it was reached.
    [[nodiscard]] bool timed_wait(Mutex &mutex, Time until, WaitKind kind);
    void signal();
    void broadcast();
    bool has_waiters() const { return waiters_ != nullptr; }

    // The last signal or broadcast that found nobody waiting: what a lost wake-up is told by.
    struct Unheard {
        const Thread *by = nullptr; // null: there was none
        uint32_t node = 0;          // the call node
        Time at;
    };
    const Unheard &unheard() const { return unheard_; }

private:
    void sleep_and_reenter(Mutex &mutex, WaitKind kind);

    void nobody_hears();

    Thread *waiters_ = nullptr;
    Unheard unheard_;
    Line line_;
};

} // namespace sim
