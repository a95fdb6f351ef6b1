#include "sim/mutex.h"

#include "sim/scheduler.h"

namespace sim {

Mutex::~Mutex()
{
    // Not a VERIFY: destructors also run while a broken run is being unwound.
    waiters = nullptr;
}

void Mutex::enter_slow()
{
    VERIFY(owner != hot.thread);
    settle();
    if (owner == nullptr && key <= hot.key)
        take();
    else
        contend();
}

bool Mutex::try_enter()
{
    VERIFY(owner != hot.thread);
    settle();
    if (owner == nullptr && key <= hot.key) {
        take();
        return true;
    }
    charge_key(hot.prices.load_hit);
    return false;
}

bool Mutex::held_by_anyone() const
{
    settle();
    return owner != nullptr || key > hot.key;
}

void Mutex::contend()
{
    if (owner == nullptr)
        take_back_release(*this);
    wait_begins(*this, true);

    Thread &self = *hot.thread;
    const LockPolicy &policy = *hot.policy;
    for (;;) {
        if (should_spin(*this)) {
            // Spinners stand before sleepers, so that the one to serve is found at once; where turns are kept, all stand
            // in the order they came.
            if (self.next == nullptr) {
                Thread *at = waiters;
                if (!policy.keeps_turn && at != nullptr && at->previous->pending != Pending::spin) {
                    if (at->pending != Pending::spin)
                        ring_prepend(waiters, self);
                    else {
                        while (at->pending == Pending::spin)
                            at = at->next;
                        ring_append(at, self); // before `at`
                    }
                } else {
                    ring_append(waiters, self);
                }
            }
            wait_spinning(*this);
        } else {
            if (self.slept)
                ring_prepend(waiters, self);
            else
                ring_append(waiters, self);
            wait_sleeping(*this);
            self.slept = true;
        }
        if (self.granted)
            break;
        if (self.next != nullptr && !policy.keeps_turn)
            ring_remove(waiters, self);
        if (owner == nullptr) {
            if (key <= hot.key) {
                self.slept = false;
                wait_ends(*this);
                take();
                return;
            }
            take_back_release(*this);
        }
    }
    self.slept = false;
    wait_ends(*this);
}

void Mutex::exit_slow()
{
    if (!hot.broken)
        settle();
    pass_on_mutex();
}

void Mutex::pass_on_mutex()
{
    const LockPolicy &policy = *hot.policy;
    const Time at = now();
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
            ring_remove(waiters, *sleeper);
            hot.scheduler->wake(*sleeper, at);
            if (!policy.wakes_all)
                break;
        }
        sleeper = following;
    }
}

} // namespace sim
