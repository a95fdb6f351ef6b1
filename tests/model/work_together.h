// Several simulated threads at work, and a wait for the last of them.
#pragma once

#include <cstdint>

#include "model/spl.h"
#include "sim/simulator.h"

namespace dmu_test {

// Runs body(0) to body(threads - 1), each in a simulated thread of its own; returns when all have returned.
// REQUIRES: in a simulated thread.
template <class Body>
void work_together(sim::Simulator &simulator, uint64_t threads, Body body)
{
    uint64_t running = threads;
    dmu::kmutex_t lock{"first"};
    dmu::kcondvar_t done;
    for (uint64_t t = 0; t < threads; ++t)
        simulator.spawn("worker", {}, [&, t] {
            body(t);
            auto held = mutex_enter(lock);
            --running;
            cv_broadcast(done);
        });
    auto held = mutex_enter(lock);
    while (running > 0)
        cv_wait(done, lock);
}

} // namespace dmu_test
