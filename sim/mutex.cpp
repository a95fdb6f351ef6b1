#include "sim/mutex.h"

#include "sim/blame.h"
#include "sim/careful.h"
#include "sim/scheduler.h"

#include <utility>

namespace sim {

Mutex::~Mutex()
{
    // Not a VERIFY: destructors also run while a broken run is being unwound.
    waiters = nullptr;
}

// enter_in_turn() is in scheduler.cpp.

void Mutex::enter_elsewhere()
{
    if (is_free())
        take();
    else
        contend();
}

void Mutex::contend()
{
    Thread &self = *hot.thread;
    self.node = hot.node;
    line_up(self);
    hot.scheduler->dispatch();
    wait_out();
}

// The running thread comes back from waiting, with the mutex or to try once more.
void Mutex::wait_out()
{
    Thread &self = *hot.thread;
    while (!self.granted) {
        if (self.next != nullptr && !hot.policy->keeps_turn)
            ring_remove(waiters, self);
        if (is_free()) {
            self.slept = false;
            wait_ends(*this);
            take();
            return;
        }
        line_up(self);
        hot.scheduler->dispatch();
    }
    self.slept = false;
    wait_ends(*this);
    charge_key(std::exchange(self.data_due, 0));
}

// Spinners stand before sleepers, so that the one to serve is found at once; where turns are kept, all stand in the
// order they came.
void Mutex::line_up(Thread &self)
{
    VERIFY(owner != &self);
    if (owner == nullptr)
        take_back_release(*this);
    if (self.waits_for == nullptr)
        wait_begins(*this, self, true);
    else if (!self.among_waiters && !is_supposed(*this))
        blame_joins(*this, self, now().ps);

    const LockPolicy &policy = *hot.policy;
    if (self.next == nullptr) {
        Thread *at = waiters;
        if (should_spin(*this)) {
            if (policy.keeps_turn || at == nullptr || at->previous->pending == Pending::spin) {
                ring_append(waiters, self);
            } else if (at->pending != Pending::spin) {
                ring_prepend(waiters, self);
            } else {
                while (at->pending == Pending::spin)
                    at = at->next;
                ring_append(at, self); // before `at`
            }
        } else if (self.slept) {
            ring_prepend(waiters, self);
        } else {
            ring_append(waiters, self);
        }
    }
    self.slept = self.slept || !should_spin(*this);
    spin_or_sleep(*this, self);
}

bool Mutex::try_enter()
{
    VERIFY(owner != hot.thread);
    settle();
    if (is_free()) {
        take();
        if (hot.horizon == 0) [[unlikely]]
            note_taken(*this, true, false);
        return true;
    }
    charge_key(hot.prices.load_hit);
    return false;
}

bool Mutex::held_by_anyone() const
{
    settle();
    return !is_free();
}

void Mutex::exit_slow()
{
    charge_key(release_price(*this));
    count_hold(*this, hot.key);
    if (waiters == nullptr && (hot.key < hot.slice.release_ahead || hot.key < hot.horizon)) {
        owner = nullptr;
        key = hot.key;
        return;
    }
    if (hot.horizon == 0) [[unlikely]]
        note_left(*this);
    if (!hot.broken)
        settle();
    pass_on_mutex();
}

void Mutex::pass_on_mutex()
{
    const LockPolicy &policy = *hot.policy;
    const Time at = now();
    if (waiters != nullptr)
        blame_until(*this, at.ps);
    owner = nullptr;
    key = hot.key;
    if (waiters == nullptr || hot.broken)
        return;
    if (spinners > 0 || policy.keeps_turn) {
        Thread &next = *waiters;
        grant(*this, next, at, hand_off(*this, next.cpu));
    }
    if (!policy.sleeps)
        return;

    // Whoever is still paying for going to sleep looks once more before it does, and is not woken.
    Thread *sleeper = waiters;
    while (sleeper != nullptr) {
        Thread *following = sleeper->next == waiters ? nullptr : sleeper->next;
        if (sleeper->where == Where::asleep) {
            if (sleeper->among_waiters)
                blame_leaves(*this, *sleeper, at.ps);
            ring_remove(waiters, *sleeper);
            hot.scheduler->wake(*sleeper, at);
            if (!policy.wakes_all)
                break;
        }
        sleeper = following;
    }
}

} // namespace sim
