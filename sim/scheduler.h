// Who runs where next: the dispatcher, the run queues, sleeping and waking, time slices.
//
// The dispatcher runs on the stack of whoever gives way and switches straight to the next thread, so there is at most
// one switch for one decision; and what a waiting CPU would do next (try for a lock, leave the CPU) it does in that
// thread's place, so a thread is switched to only when it can go on.
//
// A ready thread prefers the CPU it was on, then an idle CPU of the same socket, then any idle CPU, else it waits in
// the queue of its CPU set; queues are first come, first served across sets. A time slice ends at one exact instant, in
// the order of all events: if a thread waits for that CPU then, the running one goes to the back of its queue, owing
// the time it has charged beyond the instant; if none does, it gets a whole new slice.
#pragma once

#include "sim/cpu.h"
#include "sim/event_queue.h"
#include "sim/kernel.h"
#include "sim/thread.h"

#include <algorithm>
#include <deque>
#include <vector>

namespace sim {

class Scheduler {
public:
    void start(const Machine &machine);

    // ---- for the running thread; each returns when it runs again ----

    // Its leaf and `pending` say what it waits for.
    void dispatch();
    void dispatch_inline(Key own); // in scheduler.cpp alone; `own` is the target of the running thread's CPU
    // The same after giving `pending` and the time at which it wants to go on.
    void give_way(Pending pending, Key target);
    // Pays for going to sleep and sleeps until woken. The caller has cleared `woken` before anybody could wake it.
    void sleep(Part part);
    // It will not run again.
    [[noreturn]] void finish();

    // ---- for what the running thread does to others ----

    // Charges the running thread for waking. `at` is the instant to which it has settled: what it charges for this and
    // other wake-ups lies after it, and nobody may be made ready in a future that others have yet to reach.
    // REQUIRES: `thread` sleeps or is about to.
    void wake(Thread &thread, Time at);
    // A thread without a CPU can run from now on; `fresh`: it is new, no CPU has to be woken or switched for it.
    void ready(Thread &thread, Time at, bool fresh = false);
    // A thread that spins on its CPU may go on at `at`.
    void resume_spinner(Thread &thread, Time at);
    // An owner does not run: those who spin for it go to sleep, if the policy has it so.
    void owner_left(Thread &owner, Key at);
    // It goes on later than it would have. REQUIRES: it is on a CPU, and not the running thread.
    void delay_target(Thread &thread, Duration by) { set_leaf(thread.cpu, cpus_[thread.cpu].target + key_span(by)); }
    // It will not spin longer than that.
    void spin_until(Thread &thread, Key limit);
    void spinning(Thread &thread, bool yes)
    {
        if (yes) {
            spinning_.insert(thread.cpu);
            ++spinners_;
        } else {
            spinning_.erase(thread.cpu);
            --spinners_;
        }
    }

    void set_part(Thread &thread, Part part, int64_t at_ps)
    {
        VERIFY(at_ps >= thread.since_ps);
        thread.parts[thread.part] += at_ps - thread.since_ps;
        thread.part_before = thread.part;
        thread.part = part;
        thread.since_ps = at_ps;
    }
    void set_leaf(uint32_t cpu, Key target)
    {
        Cpu &c = cpus_[cpu];
        c.target = target;
        if (&c != turn_)
            tree_.set(*c.leaf, target);
    }
    // The same for the running thread's CPU.
    void set_own(Key target) { turn_->target = target; }
    bool someone_waits_for(uint32_t cpu) const;
    uint32_t make_run_queue(const CpuSet &cpus, const CpuSet *&stored);
    void run_free(bool yes); // slices neither end nor matter while nothing costs time

    void add_timer(Thread &thread, Time at)
    {
        ++dealings;
        timers_.add(thread, at);
        note_attention();
        hot.horizon = std::min(hot.horizon, attention_);
    }
    void add_release(LockBase &lock, Key at)
    {
        timers_.add_release(lock, at);
        note_attention();
    }
    void remove_timer(Thread &thread)
    {
        timers_.remove(thread);
        note_attention();
    }
    void stop_at(Key key)
    {
        stop_key_ = key;
        note_attention();
    }
    // No decision is made any more.
    void stop_now(bool yes)
    {
        stop_now_ = yes;
        note_attention();
    }
    Key stop_key() const { return stop_key_; }
    // No release ahead of time from here on.
    void set_release_limit(Key limit);
    void set_slice_end(Cpu &cpu, Key end)
    {
        cpu.slice = {std::min(release_limit_, end), end};
        slices_from_ = std::min(slices_from_, end);
        attention_ = std::min(attention_, end);
    }

    const Machine *machine = nullptr;
    Thread *boot = nullptr; // stands for whoever called Simulator::run()
    uint64_t live = 0;      // threads that have not returned
    uint64_t decisions() const { return checked_ + (check_every_ - until_check_); }
    uint64_t decisions_at_progress = 0;
    // How often the running thread has done something to another one: woken it, left a lock that it waits for.
    uint64_t dealings = 0;
    std::vector<Cpu> &cpus() { return cpus_; }
    int64_t idle_ps(int64_t until_ps) const; // of all CPUs, since the measurement began
    int64_t idle_given_back_ps = 0;          // of it, to threads that slept for supposed locks
    void set_careful();
    bool something_to_do() const { return first() != never || !timers_.empty(); }

private:
    struct RunQueue {
        CpuSet cpus;
        std::deque<std::pair<uint64_t, Thread *>> threads; // with the order in which they came
    };

    // Of all CPUs.
    Key first() const
    {
        const Key others = tree_.first(), own = turn_->target;
        return others < own ? others : own;
    }
    void give_turn(const Cpu &c, Key others); // `others`: when the first other CPU's turn comes
    Cpu *first_slice_end(); // whose slice ends before its thread wants to go on, the first of them, or null
    void slice_ended(Cpu &c);
    bool leave_cpu(Thread &thread, Key at);
    void go_to_sleep(Thread &spinner, Key at);
    enum class Attention : uint8_t { none, again, end }; // again: look whose turn it is
    Attention attend(Key key);
    bool goes_on(Thread &thread);
    bool check_progress();
    void fire_timer();
    void note_attention()
    {
        attention_ = stop_now_ || careful_ ? 0 : std::min({timers_.first(), stop_key_, slices_from_});
    }
    void pick(uint32_t cpu, Time at, Key switching);
    void place(uint32_t cpu, Thread &thread, Time at, Key latency, Key switching);
    void enqueue(Thread &thread);
    void run_until_base();

    WinnerTree tree_;
    Cpu *turn_ = nullptr; // the CPU that is outside the tree: the running thread's, or the last one's
    std::vector<Cpu> cpus_;
    Key attention_ =
        never; // the first key at which something other than a CPU may come: a timer, a slice's end, the end
    Key slices_from_ = never; // no slice ends before this
    Key stop_key_ = never;
    Key release_limit_ = 0;
    bool stop_now_ = false;
    Timers timers_;
    std::deque<RunQueue> queues_;
    CpuSet idle_;
    CpuSet spinning_;
    uint32_t spinners_ = 0;
    uint32_t queued_ = 0;
    uint32_t check_every_ = 1u << 16;
    uint64_t checked_ = 0; // decisions made when progress was last checked
    uint32_t until_check_ = check_every_;
    static constexpr uint64_t timers_per_look = 256;
    uint64_t timers_fired_ = 0;
    bool careful_ = false; // nobody runs ahead (careful.h)
    uint64_t arrivals_ = 0;
    int64_t slice_ps_ = 0;
};

// Every thread of the workload waits to be woken by another one.
bool workload_sleeps(const Simulator &simulator);

} // namespace sim
