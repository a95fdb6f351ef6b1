#include "sim/lock.h"

#include "sim/blame.h"
#include "sim/careful.h"
#include "sim/mutex.h"
#include "sim/observer.h"
#include "sim/rwlock.h"
#include "sim/scheduler.h"
#include "sim/simulator.h"

#include <algorithm>

namespace sim {

Thread released_ahead;

void ring_append(Thread *&first, Thread &thread)
{
    VERIFY(thread.next == nullptr);
    if (first == nullptr) {
        first = thread.next = thread.previous = &thread;
        return;
    }
    thread.next = first;
    thread.previous = first->previous;
    thread.previous->next = &thread;
    first->previous = &thread;
}

void ring_prepend(Thread *&first, Thread &thread)
{
    ring_append(first, thread);
    first = &thread;
}

void ring_remove(Thread *&first, Thread &thread)
{
    VERIFY(thread.next != nullptr);
    if (thread.next == &thread) {
        first = nullptr;
    } else {
        thread.previous->next = thread.next;
        thread.next->previous = thread.previous;
        if (first == &thread)
            first = thread.next;
    }
    thread.next = thread.previous = nullptr;
}

void wait_begins(LockBase &lock, Thread &self, bool wants_write)
{
    self.waits_for = &lock;
    self.wants_write = wants_write;
    self.granted = false;
    self.holder_node = lock.node;
    self.wait_since_ps = now().ps;
    hot.scheduler->set_part(self, Part::spinning, self.wait_since_ps);
    self.wait_spin_ps = self.parts[Part::spinning];
    self.wait_blocked_ps = self.parts[Part::blocked];
    self.alone_since_ps = self.wait_since_ps;
    if (!is_supposed(lock)) [[likely]]
        blame_joins(lock, self, self.wait_since_ps);
    else
        self.wait_idle_ps = hot.scheduler->idle_ps(self.wait_since_ps);
    hot.simulator->look_for_ring(self);
}

void wait_ends(LockBase &lock)
{
    Thread &self = *hot.thread;
    const int64_t until = now().ps;
    hot.scheduler->set_part(self, Part::running, until);
    self.waits_for = nullptr;

    const int64_t from = std::max(self.wait_since_ps, hot.counted_from_ps());
    uint64_t wait = static_cast<uint64_t>(until - from);
    uint64_t spin = static_cast<uint64_t>(self.parts[Part::spinning] - self.wait_spin_ps);
    VERIFY3(spin, <=, wait);
    if (is_supposed(lock)) [[unlikely]] {
        const SupposedWait told = give_back_wait(lock, self, wait, spin);
        wait = told.wait_ps;
        spin = told.spin_ps;
        blame_is_simple(lock, self, wait);
    } else {
        blame_ends(lock, self, until);
    }
    hot.node->spin_ps += spin;
    hot.node->blocked_ps += wait - spin;
    self.lock_wait_ps += static_cast<int64_t>(wait);
    if (hot.counting && (wait > 0 || !is_supposed(lock))) [[likely]]
        hot.simulator->count_wait(lock, *hot.node, wait, spin);
    self.last_wait_class = lock.lock_class;
    self.last_wait_node = self.holder_node;
    if (self.keeps_lock_shares && wait > 0 && !is_supposed(lock))
        keep_lock_share(lock, self, wait, spin);
    if (Observer *observer = hot.simulator->observer())
        observer->waited({self,
                          &lock,
                          lock.lock_class,
                          {self.wait_since_ps},
                          {until},
                          {static_cast<int64_t>(spin)},
                          *hot.node,
                          hot.simulator->call_tree().node(self.holder_node)});
}

bool should_spin(const LockBase &lock)
{
    return !hot.policy->sleeps || lock.owner == nullptr || lock.owner->where == Where::on_cpu;
}

void spin_or_sleep(LockBase &lock, Thread &self)
{
    Scheduler &scheduler = *hot.scheduler;
    if (should_spin(lock)) {
        ++lock.spinners;
        scheduler.spinning(self, true);
        self.pending = Pending::spin;
        scheduler.set_leaf(self.cpu, spin_limit(lock));
    } else {
        self.woken = false;
        self.sleep_part = Part::blocked;
        self.pending = Pending::sleep;
        scheduler.set_leaf(self.cpu, hot.key + sleep_price(&lock, hot.prices.block));
    }
}

Key spin_limit(const LockBase &lock)
{
    const bool limited = hot.policy->sleeps && held_by_readers(lock);
    return limited ? hot.key + sleep_price(&lock, hot.prices.block) : never;
}

void stops_spinning(Thread &thread)
{
    LockBase &lock = *thread.waits_for;
    --lock.spinners;
    hot.scheduler->spinning(thread, false);
    // Spinners stand before the others, except where the ring is the order of service.
    if (lock.kind == LockKind::mutex && !hot.policy->keeps_turn) {
        ring_remove(lock.waiters, thread);
        ring_append(lock.waiters, thread);
    }
}

bool could_take(const Thread &thread)
{
    return thread.waits_for != nullptr && thread.waits_for->kind == LockKind::mutex &&
           thread.waits_for->owner == nullptr;
}

void grant(LockBase &lock, Thread &thread, Time released, Duration after)
{
    if (thread.among_waiters) [[likely]]
        blame_leaves(lock, thread, released.ps);
    ring_remove(lock.waiters, thread);
    thread.granted = true;
    LockClassCounts &counts = hot.lock_counts[lock.lock_class];
    ++counts.acquisitions;
    counts.writes += lock.kind == LockKind::rwlock && thread.wants_write ? 1 : 0;
    const uint16_t line = is_supposed(lock) ? static_cast<uint16_t>(odd_line | thread.cpu) : thread.cpu;
    if (lock.line != line)
        ++counts.owner_changes;
    if (lock.kind == LockKind::mutex || thread.wants_write)
        thread.data_due = data_behind(lock.line, thread.cpu);
    lock.owner = &thread;
    lock.line = line;
    lock.key = key_of(released + after, thread.cpu);
    lock.node = thread.node->index;
    digest_event(thread, lock.key + lock.lock_class);

    if (thread.pending == Pending::spin) {
        --lock.spinners;
        hot.scheduler->spinning(thread, false);
        hot.scheduler->resume_spinner(thread, released + after);
    } else if (thread.where == Where::on_cpu) { // on its way to sleep, or to try again: it fetches the line then
        hot.scheduler->delay_target(thread, after);
        thread.woken = true;
    } else {
        thread.debt += key_span(after);
        hot.scheduler->wake(thread, released); // in a run queue it is only told not to sleep
        if (thread.where != Where::on_cpu)
            hot.scheduler->owner_left(thread, key_of(released, 0)); // the others spin for an owner that does not run
    }
}

Duration hand_off(const LockBase &lock, uint32_t cpu)
{
    if (hot.free_running)
        return {};
    const int64_t waiters = std::max<int64_t>(lock.spinners, 1);
    if (is_supposed(lock)) [[unlikely]] {
        const int64_t transfer_ps = time_of(transfer(cpu_of_line(lock.line), cpu)).ps;
        return supposed(lock, {hot.policy->hand_off_ps(*hot.scheduler->machine, transfer_ps, waiters)});
    }
    const int64_t transfer_ps = time_of(transfer(lock.line, cpu)).ps;
    return {hot.policy->hand_off_ps(*hot.scheduler->machine, transfer_ps, waiters)};
}

void take_back_release(LockBase &lock)
{
    VERIFY(lock.owner == nullptr);
    VERIFY(lock.key > hot.key);
    lock.owner = &released_ahead;
    released_ahead.where = Where::on_cpu;
    hot.scheduler->add_release(lock, lock.key);
}

void pass_on(LockBase &lock)
{
    if (lock.kind == LockKind::mutex)
        static_cast<Mutex &>(lock).pass_on_mutex();
    else
        static_cast<RwLock &>(lock).pass_on_rwlock();
}

bool held_by_readers(const LockBase &lock)
{
    return lock.kind == LockKind::rwlock && static_cast<const RwLock &>(lock).read_held();
}

void enter_holds(EqualHolds &equal)
{
    if (equal.times > 0)
        hot.lock_counts[equal.lock_class].hold->add(equal.span >> limits::cpu_bits, equal.times);
    equal.times = 0;
}

// A class whose holds differ all the time does not drive out the others.
void count_other_hold(const LockBase &lock, Key until, HoldPlaces &places)
{
    const Key span = until - lock.key;
    if (cpu_of(until ^ lock.key) != 0) { // its thread was moved while holding it
        hot.lock_counts[lock.lock_class].hold->add((until >> limits::cpu_bits) - (lock.key >> limits::cpu_bits));
        return;
    }
    EqualHolds &equal = place_of(lock, places);
    enter_holds(equal);
    equal = {span, 1, lock.lock_class};
}

void count_hold(const LockBase &lock, Key until)
{
    if (lock.key < hot.plain_holds_from)
        count_special_hold(lock, until);
    else
        count_plain_hold(lock, until, hot.node->mutex_holds);
}

void count_special_hold(const LockBase &lock, Key until)
{
    if (hot.hold_accounts == HoldAccounts::none)
        return;
    const Time from = time_of(std::max(lock.key, hot.counted_from));
    hot.lock_counts[lock.lock_class].hold->add(static_cast<uint64_t>((time_of(until) - from).ps));
    if (hot.hold_accounts == HoldAccounts::announced)
        hot.simulator->observer()->held(
            {*hot.thread, &lock, lock.lock_class, from, time_of(until), hot.simulator->call_tree().node(lock.node)});
}

} // namespace sim
