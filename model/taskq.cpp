#include "model/taskq.h"

namespace dmu {

void taskq_t::start()
{
    auto held = mutex_enter(tq_lock);
    VERIFY3(tq_alive, ==, 0u);
    tq_exiting = false;
    tq_alive = tq_nthreads;
    for (uint32_t i = 0; i < tq_nthreads; ++i)
        thread_create(tq_name, [this] { worker(); });
}

void taskq_t::stop()
{
    auto held = mutex_enter(tq_lock);
    tq_exiting = true;
    cv_broadcast(tq_dispatch_cv);
    while (tq_alive != 0)
        cv_wait(tq_wait_cv, tq_lock, WaitKind::other);
}

void taskq_t::dispatch(std::function<void()> task)
{
    Probe probe{Fn::taskq_dispatch};
    auto held = mutex_enter(tq_lock);
    VERIFY(!tq_exiting);
    tq_tasks.push_back(std::move(task));
    cv_signal(tq_dispatch_cv);
}

void taskq_t::wait()
{
    auto held = mutex_enter(tq_lock);
    while (!tq_tasks.empty() || tq_active != 0)
        cv_wait(tq_wait_cv, tq_lock, WaitKind::other);
}

void taskq_t::worker()
{
    auto held = mutex_enter(tq_lock);
    while (true) {
        while (tq_tasks.empty() && !tq_exiting)
            cv_wait(tq_dispatch_cv, tq_lock, WaitKind::other);
        if (tq_tasks.empty())
            break;
        std::function<void()> task = std::move(tq_tasks.front());
        tq_tasks.pop_front();
        ++tq_active;
        held.exit();
        task();
        held = mutex_enter(tq_lock);
        if (--tq_active == 0 && tq_tasks.empty())
            cv_broadcast(tq_wait_cv);
    }
    --tq_alive;
    cv_broadcast(tq_wait_cv);
}

} // namespace dmu
