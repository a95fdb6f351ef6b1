// A task queue: service threads that run what is dispatched to them, first come first served.
//
// Followed: taskq of the SPL, as far as a txg's sync uses it (dp_sync_taskq, OpenZFS 64fc776208, 2017). Left out:
// priorities, dynamic threads, prepared entries.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "model/spl.h"

namespace dmu {

class taskq_t {
public:
    taskq_t(std::string name, uint32_t threads) : tq_name(std::move(name)), tq_nthreads(threads) {}
    taskq_t(const taskq_t &) = delete;
    taskq_t &operator=(const taskq_t &) = delete;

    void start(); // taskq_create
    void stop();  // taskq_destroy: what was dispatched is run first
    void dispatch(std::function<void()> task);
    void wait(); // until everything dispatched has been run

    uint32_t threads() const { return tq_nthreads; }

private:
    void worker();

    const std::string tq_name;
    const uint32_t tq_nthreads;

    kmutex_t tq_lock{"tq_lock"};
    // under tq_lock:
    kcondvar_t tq_dispatch_cv, tq_wait_cv;
    std::deque<std::function<void()>> tq_tasks;
    uint32_t tq_alive = 0;
    uint32_t tq_active = 0; // threads that run a task
    bool tq_exiting = false;
};

} // namespace dmu
