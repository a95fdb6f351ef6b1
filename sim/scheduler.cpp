#include "sim/scheduler.h"

#include "sim/careful.h"
#include "sim/mutex.h"
#include "sim/observer.h"
#include "sim/simulator.h"

#include <algorithm>

namespace sim {

void Scheduler::start(const Machine &machine_in)
{
    machine = &machine_in;
    cpus_.assign(machine->cpus, Cpu{});
    tree_.resize(machine->cpus - 1);
    turn_ = &cpus_[0];
    for (uint32_t cpu = 0; cpu < machine->cpus; ++cpu) {
        idle_.insert(cpu);
        if (cpu > 0)
            cpus_[cpu].leaf = tree_.leaf(cpu - 1);
    }
    slice_ps_ = machine->time_slice_ps;
}

// ---- the dispatcher ----

void Scheduler::dispatch()
{
    dispatch_inline(turn_->target);
}

SIM_ALWAYS_INLINE void Scheduler::give_turn(const Cpu &c, Key others)
{
    hot.slice = c.slice;
    hot.horizon = others < attention_ ? others : attention_;
}

SIM_ALWAYS_INLINE void Scheduler::dispatch_inline(Key own)
{
    Thread *const me = hot.thread;
    me->node = hot.node;
    for (;; own = turn_->target) {
        Key key = tree_.first();
        if (own < key) [[unlikely]] {
            key = own;
            // A branch, which is foretold, and no conditional move: so the host need not know when this thread wants
            // to go on before it can begin with the next one.
            asm volatile("" : "+r"(key));
        }
        if (--until_check_ == 0) [[unlikely]] {
            if (check_progress())
                continue;
        }
        if (key >= attention_) [[unlikely]] {
            const Attention due = attend(key);
            if (due == Attention::again)
                continue;
            if (due == Attention::end) {
                run_until_base();
                return;
            }
        }
        Cpu &c = cpus_[cpu_of(key)];
        Thread *const thread = c.thread;
        hot.key = key;
        hot.thread = thread;
        if (Mutex *const wanted = thread->wants; wanted != nullptr) [[likely]] {
            thread->wants = nullptr;
            if (!wanted->is_free()) [[unlikely]] {
                wanted->line_up(*thread);
                continue;
            }
        } else if (thread->pending != Pending::resume) [[unlikely]] {
            if (!goes_on(*thread))
                continue;
            thread->pending = Pending::resume;
        }
        if (&c == turn_) [[unlikely]] {
            give_turn(c, tree_.first());
            if (thread == me)
                return;
        } else { // the two change places
            turn_->leaf = c.leaf;
            const Key others = tree_.set(*c.leaf, own);
            turn_ = &c;
            give_turn(c, others);
        }
        me->fiber.switch_to(thread->fiber);
        // Whoever switched back has set clock and horizon for this thread.
        hot.node = me->node;
        hot.calls = me->calls;
        return;
    }
}

// Where most of a run's turns are given: the dispatcher is part of it, which saves a frame of it on every switch.
void Mutex::enter_in_turn()
{
    Thread &self = *hot.thread;
    self.wants = this;
    hot.scheduler->set_own(hot.key);
    hot.scheduler->dispatch_inline(hot.key);
    if (self.waits_for == nullptr) [[likely]]
        take(self);
    else
        wait_out();
    if (hot.horizon == 0) [[unlikely]] // nobody runs ahead
        note_taken(*this, true, true);
}

// What the CPU of a waiting thread does in its place. False: the thread still waits.
bool Scheduler::goes_on(Thread &thread)
{
    if (thread.pending == Pending::sleep)
        return leave_cpu(thread, hot.key);
    VERIFY(thread.pending == Pending::spin);
    go_to_sleep(thread, hot.key);
    return false;
}

// True: whose turn it is has to be looked up again.
bool Scheduler::check_progress()
{
    until_check_ = check_every_;
    checked_ += check_every_;
    if (!careful_ || checked_ % (1u << 16) == 0)
        hot.simulator->check_progress();
    return careful_ && take_care(*this);
}

// A key of `never` is the end too: there is nothing left to do. In careful runs everybody's turn comes by here.
Scheduler::Attention Scheduler::attend(Key key)
{
    const Key timer = timers_.first();
    if (stop_now_)
        return Attention::end;
    Cpu *const slice = slices_from_ <= key ? first_slice_end() : nullptr;
    const Key next = slice != nullptr ? std::min(key, slice->slice.end) : key;
    if (std::min(timer, next) >= stop_key_)
        return hot.simulator->put_off_end() ? Attention::again : Attention::end;
    if (timer <= next) {
        fire_timer();
        return Attention::again;
    }
    if (next < key) {
        slice_ended(*slice);
        return Attention::again;
    }
    if (careful_)
        cpus_[cpu_of(key)].thread->resumed_at = key;
    return Attention::none;
}

void Scheduler::set_careful()
{
    careful_ = true;
    checked_ = decisions();
    check_every_ = until_check_ = 1;
    note_attention();
}

// Nothing can happen any more, or nothing may: back to whoever called run().
void Scheduler::run_until_base()
{
    Thread *const me = hot.thread;
    hot.thread = boot;
    if (me != boot)
        me->fiber.switch_to(boot->fiber);
}

void Scheduler::give_way(Pending pending, Key target)
{
    Thread &self = *hot.thread;
    self.pending = pending;
    set_own(target);
    dispatch();
}

void settle_slow()
{
    hot.scheduler->set_own(hot.key);
    hot.scheduler->dispatch_inline(hot.key);
}

void Scheduler::fire_timer()
{
    const Timers::Entry entry = timers_.pop();
    note_attention();
    hot.key = entry.key;
    if (++timers_fired_ % timers_per_look == 0)
        hot.simulator->look_for_sleep();
    if (entry.release != nullptr) {
        pass_on(*entry.release);
        return;
    }
    Thread &thread = *entry.thread;
    thread.timed_out = true;
    thread.woken = true;
    if (thread.where == Where::asleep)
        ready(thread, time_of(entry.key), thread.fresh);
}

Cpu *Scheduler::first_slice_end()
{
    Cpu *first = nullptr;
    slices_from_ = never;
    for (Cpu &c : cpus_) {
        slices_from_ = std::min(slices_from_, c.slice.end);
        if (c.slice.end < c.target && (first == nullptr || c.slice.end < first->slice.end))
            first = &c;
    }
    note_attention();
    return first;
}

void Scheduler::slice_ended(Cpu &c)
{
    const Key at = c.slice.end;
    const uint32_t cpu = cpu_of(at);
    Thread &thread = *c.thread;
    if (queued_ == 0 || !someone_waits_for(cpu)) {
        set_slice_end(c, at + key_span({slice_ps_}));
        return;
    }
    if (thread.pending == Pending::spin) {
        stops_spinning(thread);
        thread.pending = Pending::resume;
    } else {
        thread.debt = c.target - at;
    }
    set_part(thread, Part::cpu_wait, time_of(at).ps);
    enqueue(thread);
    owner_left(thread, at);
    pick(cpu, time_of(at), hot.prices.context_switch);
}

bool Scheduler::leave_cpu(Thread &thread, Key at)
{
    if (thread.woken || could_take(thread))
        return true;
    thread.where = Where::asleep;
    thread.pending = Pending::resume;
    set_part(thread, thread.sleep_part, time_of(at).ps);
    owner_left(thread, at);
    pick(thread.cpu, time_of(at), sleep_price(thread.waits_for, hot.prices.context_switch));
    return false;
}

// From spinning, in its place: it pays for blocking, and sleeps unless the lock is its own by then.
void Scheduler::go_to_sleep(Thread &spinner, Key at)
{
    stops_spinning(spinner);
    spinner.pending = Pending::sleep;
    spinner.sleep_part = Part::blocked;
    spinner.woken = false;
    spin_until(spinner, at + sleep_price(spinner.waits_for, hot.prices.block));
}

void Scheduler::owner_left(Thread &owner, Key at)
{
    if (spinners_ == 0 || !hot.policy->sleeps)
        return;
    const CpuSet everywhere = CpuSet::all();
    const uint32_t end = static_cast<uint32_t>(cpus_.size());
    for (uint32_t cpu = 0; (cpu = spinning_.first_common(everywhere, cpu, end)) != CpuSet::none; ++cpu) {
        Thread &spinner = *cpus_[cpu].thread;
        if (spinner.waits_for->owner == &owner)
            go_to_sleep(spinner, at);
    }
}

// ---- CPUs and run queues ----

int64_t Scheduler::idle_ps(int64_t until_ps) const
{
    int64_t idle = 0;
    for (const Cpu &cpu : cpus_) {
        idle += cpu.idle_ps;
        if (cpu.thread == nullptr && until_ps > cpu.since_ps)
            idle += until_ps - cpu.since_ps;
    }
    return idle;
}

bool Scheduler::someone_waits_for(uint32_t cpu) const
{
    return std::any_of(queues_.begin(), queues_.end(),
                       [cpu](const RunQueue &queue) { return !queue.threads.empty() && queue.cpus.contains(cpu); });
}

uint32_t Scheduler::make_run_queue(const CpuSet &cpus, const CpuSet *&stored)
{
    uint32_t index = 0;
    for (; index < queues_.size(); ++index) {
        if (queues_[index].cpus == cpus)
            break;
    }
    if (index == queues_.size()) {
        VERIFY(cpus.first_common(CpuSet::all(), 0, static_cast<uint32_t>(cpus_.size())) != CpuSet::none);
        queues_.push_back({cpus, {}});
    }
    stored = &queues_[index].cpus;
    return index;
}

void Scheduler::enqueue(Thread &thread)
{
    thread.where = Where::run_queue;
    queues_[thread.run_queue].threads.emplace_back(arrivals_++, &thread);
    ++queued_;
}

void Scheduler::pick(uint32_t cpu, Time at, Key switching)
{
    RunQueue *best = nullptr;
    if (queued_ > 0) {
        for (RunQueue &queue : queues_) {
            if (queue.threads.empty() || !queue.cpus.contains(cpu))
                continue;
            if (best == nullptr || queue.threads.front().first < best->threads.front().first)
                best = &queue;
        }
    }
    Cpu &c = cpus_[cpu];
    if (best != nullptr) {
        Thread &next = *best->threads.front().second;
        best->threads.pop_front();
        --queued_;
        place(cpu, next, at, 0, switching);
        return;
    }
    c.thread = nullptr;
    c.busy_ps += at.ps - c.since_ps;
    c.since_ps = at.ps;
    set_slice_end(c, never);
    idle_.insert(cpu);
    set_leaf(cpu, never);
    if (Observer *observer = hot.simulator->observer())
        observer->switched(cpu, nullptr, at);
}

void Scheduler::place(uint32_t cpu, Thread &thread, Time at, Key latency, Key switching)
{
    Cpu &c = cpus_[cpu];
    const int64_t taken_ps = at.ps + time_of(latency).ps;
    const int64_t start_ps = taken_ps + time_of(switching).ps;
    if (c.thread == nullptr) {
        c.idle_ps += taken_ps - c.since_ps;
        c.since_ps = taken_ps;
        idle_.erase(cpu);
    }
    c.thread = &thread;
    c.switch_ps += start_ps - taken_ps;
    thread.cpu = static_cast<uint16_t>(cpu);
    thread.where = Where::on_cpu;
    set_part(thread, thread.waits_for != nullptr ? Part::spinning : Part::running, start_ps);

    const Key start = key_of({start_ps}, cpu);
    set_slice_end(c, slice_ps_ == 0 || hot.free_running ? never : start + key_span({slice_ps_}));
    set_leaf(cpu, start + thread.debt);
    thread.debt = 0;
    hot.horizon = std::min({hot.horizon, start, c.target});
    if (Observer *observer = hot.simulator->observer())
        observer->switched(cpu, &thread, {start_ps});
}

void Scheduler::ready(Thread &thread, Time at, bool fresh)
{
    VERIFY(thread.where == Where::asleep);
    ++dealings;
    set_part(thread, Part::cpu_wait, at.ps);
    const uint32_t end = static_cast<uint32_t>(cpus_.size());
    uint32_t cpu = CpuSet::none;
    if (thread.cpu < end && idle_.contains(thread.cpu) && thread.cpus->contains(thread.cpu)) {
        cpu = thread.cpu;
    } else {
        const uint32_t per_socket = machine->cpus_per_socket;
        const uint32_t home = thread.cpu < end ? thread.cpu / per_socket * per_socket : 0;
        cpu = idle_.first_common(*thread.cpus, home, std::min(home + per_socket, end));
        if (cpu == CpuSet::none)
            cpu = idle_.first_common(*thread.cpus, 0, end);
    }
    if (cpu == CpuSet::none)
        enqueue(thread);
    else
        place(cpu, thread, at, fresh ? 0 : sleep_price(thread.waits_for, hot.prices.wake_latency),
              fresh ? 0 : sleep_price(thread.waits_for, hot.prices.context_switch));
}

void Scheduler::spin_until(Thread &thread, Key limit)
{
    const Key target = limit == never ? never : key_of(time_of(limit), thread.cpu);
    set_leaf(thread.cpu, target);
    hot.horizon = std::min(hot.horizon, target);
}

void Scheduler::resume_spinner(Thread &thread, Time at)
{
    thread.pending = Pending::resume;
    const Key target = key_of(at, thread.cpu);
    set_leaf(thread.cpu, target);
    hot.horizon = std::min(hot.horizon, target);
}

void Scheduler::run_free(bool yes)
{
    for (uint32_t cpu = 0; cpu < cpus_.size(); ++cpu) {
        Cpu &c = cpus_[cpu];
        if (c.thread == nullptr)
            continue;
        set_slice_end(c, yes || slice_ps_ == 0 ? never : key_of(now(), cpu) + key_span({slice_ps_}));
        if (c.thread != hot.thread)
            set_leaf(cpu, c.target);
    }
    hot.horizon = 0; // the next touch of shared state works it out again
    hot.slice = {0, 0};
}

void Scheduler::set_release_limit(Key limit)
{
    release_limit_ = limit;
    for (Cpu &cpu : cpus_)
        set_slice_end(cpu, cpu.slice.end);
    hot.slice.release_ahead = std::min(hot.slice.release_ahead, limit);
}

// ---- sleeping ----

void Scheduler::sleep(Part part)
{
    Thread &self = *hot.thread;
    self.sleep_part = part;
    if (self.waits_for != nullptr)
        hot.key += hot.prices.block; // part of the wait for the lock, and accounted there
    else
        charge_key(hot.prices.block);
    give_way(Pending::sleep, hot.key);
}

void Scheduler::wake(Thread &thread, Time at)
{
    ++dealings;
    thread.woken = true;
    if (thread.where != Where::asleep)
        return;
    charge_key(sleep_price(thread.waits_for, hot.prices.wake));
    ready(thread, at);
}

void Scheduler::finish()
{
    settle();
    Thread &self = *hot.thread;
    set_part(self, Part::running, now().ps);
    self.where = Where::finished;
    self.node = hot.node;
    --live;
    hot.simulator->thread_finished(self);
    pick(self.cpu, now(), hot.prices.context_switch);
    dispatch();
    PANIC("a finished thread was switched to");
}

void sleep_until(Time until, WaitKind kind)
{
    static constexpr Part parts[] = {Part::blocked, Part::txg_wait, Part::disk, Part::sleeping};
    settle();
    if (until <= now())
        return;
    Thread &self = *hot.thread;
    if (until.ps >= limits::last_time_ps) [[unlikely]] {
        hot.simulator->stop(Ending::limit, time_ran_out("thread " + self.name + " would sleep for " +
                                                        std::to_string((until - now()).ps / seconds(1).ps) + " s"));
        settle();
        PANIC("a thread went on after the end of the run");
    }
    const Time from = now();
    self.woken = false;
    self.timed_out = false;
    hot.scheduler->add_timer(self, until);
    hot.scheduler->sleep(parts[static_cast<size_t>(kind)]);
    if (Observer *observer = hot.simulator->observer())
        observer->slept(self, from, now(), *hot.node);
}

void sleep_for(Duration length, WaitKind kind)
{
    settle();
    sleep_until(now() + length, kind);
}

void yield_cpu()
{
    settle();
    Scheduler &scheduler = *hot.scheduler;
    Thread &self = *hot.thread;
    if (!scheduler.someone_waits_for(self.cpu))
        return;
    // As if the time slice ended here.
    scheduler.set_slice_end(scheduler.cpus()[self.cpu], hot.key);
    scheduler.give_way(Pending::resume, hot.key + 1024 /* one picosecond later: after the end of the slice */);
}

} // namespace sim
