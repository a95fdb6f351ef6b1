#include "sim/condvar.h"

#include "sim/observer.h"
#include "sim/scheduler.h"
#include "sim/simulator.h"

namespace sim {

namespace {

Part part_of(WaitKind kind)
{
    switch (kind) {
    case WaitKind::lock:
        return Part::blocked;
    case WaitKind::txg:
        return Part::txg_wait;
    case WaitKind::disk:
        return Part::disk;
    case WaitKind::other:
        return Part::sleeping;
    }
    PANIC("no such kind of wait");
}

} // namespace

void CondVar::sleep_and_reenter(Mutex &mutex, WaitKind kind)
{
    Thread &self = *hot.thread;
    const Time from = now();
    self.woken = false;
    self.waits_on = this;
    ring_append(waiters_, self);
    line_.modify();
    mutex.exit();
    hot.scheduler->sleep(part_of(kind));
    // Whoever signalled has taken it out; the timer has not.
    if (self.next != nullptr)
        ring_remove(waiters_, self);
    self.waits_on = nullptr;
    digest_event(self, hot.key);
    if (Observer *observer = hot.simulator->observer())
        observer->slept(self, from, now(), *hot.node);
    mutex.enter();
}

void CondVar::wait(Mutex &mutex, WaitKind kind)
{
    VERIFY(mutex.owned());
    settle();
    sleep_and_reenter(mutex, kind);
}

bool CondVar::timed_wait(Mutex &mutex, Time until, WaitKind kind)
{
    VERIFY(mutex.owned());
    settle();
    if (until <= now())
        return false;
    Thread &self = *hot.thread;
    Scheduler &scheduler = *hot.scheduler;
    self.timed_out = false;
    scheduler.add_timer(self, until);
    sleep_and_reenter(mutex, kind);
    scheduler.remove_timer(self);
    return !self.timed_out;
}

void CondVar::nobody_hears()
{
    unheard_ = {hot.thread, hot.node->index, now()};
    line_.load();
}

void CondVar::signal()
{
    settle();
    if (waiters_ == nullptr) {
        nobody_hears();
        return;
    }
    const Time at = now();
    line_.modify();
    Thread &first = *waiters_;
    ring_remove(waiters_, first);
    hot.scheduler->remove_timer(first);
    hot.scheduler->wake(first, at);
}

void CondVar::broadcast()
{
    settle();
    if (waiters_ == nullptr) {
        nobody_hears();
        return;
    }
    const Time at = now();
    line_.modify();
    while (waiters_ != nullptr) {
        Thread &first = *waiters_;
        ring_remove(waiters_, first);
        hot.scheduler->remove_timer(first);
        hot.scheduler->wake(first, at);
    }
}

} // namespace sim
