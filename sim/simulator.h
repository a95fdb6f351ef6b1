// One simulation: a machine, its threads, one run, and what was measured.
//
// Made, given threads, run, read, destroyed; one at a time in a process. Before run() and after it the caller itself
// counts as a thread, for which nothing costs time and nobody waits, so that locks may be made and taken while setting
// up.
//
// Statistics cover the time from begin_measurement() (or the start) to end_measurement() (or the end). A thread that is
// waiting at that instant has its time cut there.
#pragma once

#include "sim/call_tree.h"
#include "sim/errors.h"
#include "sim/lock.h"
#include "sim/machine.h"
#include "sim/observer.h"
#include "sim/random.h"
#include "sim/repeats.h"
#include "sim/statistics.h"
#include "sim/thread.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace sim {

class LockOrder;
class Scheduler;

struct Tables {
    std::span<const FunctionInfo> functions;
    std::span<const LockClassInfo> lock_classes;
};

enum class Ending : uint8_t {
    finished,    // every thread returned
    stopped,     // by stop_at() or stop(); threads were left where they were
    deadlock,    // nobody can ever run again; the text is the ring
    lost_wakeup, // nobody can ever run again, for nobody will signal a condition that threads sleep on
    livelock,    // no progress for the time given, or for limits::decisions_without_progress decisions
    invariant,   // an assertion failed; the text says which, where and when
    limit,       // a bound of the program was reached
};

struct End {
    Ending ending = Ending::finished;
    std::string text; // for people; empty for finished
    Time at;
};

// What was measured; plain data.
struct Measurements {
    static constexpr uint32_t no_node = ~uint32_t{0};

    struct Node {        // a call path; parents before children, children by function
        uint32_t parent; // no_node for a root
        uint16_t function;
        uint32_t stack_bytes;
        uint64_t calls;
        uint64_t self_ps; // without waiting
        uint64_t spin_ps;
        uint64_t blocked_ps; // waiting for locks, off the CPU
        std::string group;   // of a root
    };
    struct PerThread {
        std::string name;
        std::string group;
        bool counted;
        TimeParts parts;
        int64_t lock_wait_ps;
        std::vector<uint64_t> calls;
    };
    struct PerCpu {
        int64_t busy_ps;
        int64_t idle_ps;
        int64_t switch_ps;
    };

    Time from;
    Time until;
    std::vector<Node> nodes;
    std::vector<PerThread> threads;
    std::vector<PerCpu> cpus;
    LockStatistics locks;
    std::vector<Histogram> holds; // by lock class; LockStatistics::counts[i].hold points here
    uint32_t deepest_node = no_node;
};

class Simulator {
public:
    Simulator(const Machine &machine, const Tables &tables, uint64_t seed, Observer *observer = nullptr);
    Simulator(const Simulator &) = delete;
    Simulator &operator=(const Simulator &) = delete;
    ~Simulator();

    // Also from a running thread. The body starts at options.start or now, whichever is later.
    Thread &spawn(std::string name, ThreadOptions options, std::function<void()> body);
    // Until every thread has returned, or an Ending of another kind. What a body throws, other than InvariantBroken and
    // LimitReached, comes out of here.
    End run();

    // ---- from a running thread, or before run() ----

    // Setting up: nothing costs time, and when nobody can run the clock jumps to the next timer.
    void set_free(bool yes);
    // Everything counted so far is forgotten, at this instant.
    void begin_measurement();
    // What is counted from here on does not count.
    void end_measurement();
    // The run ends at that instant, with Ending::stopped. Known beforehand, it does not disturb releases ahead of time.
    void stop_at(Time at);
    // The run ends as soon as the running thread touches shared state again.
    void stop(Ending ending, std::string text);
    // A step of the workload is done: it is no livelock.
    void progress();
    // Until then somebody does as he is told by doing nothing.
    void progress_until(Time at) { last_progress_ = std::max(last_progress_, at); }
    // How much simulated time may pass without one; 0: any. Then the run ends, at that very instant.
    void set_patience(Duration patience);
    // Called now and then by the host's pace, by nobody's turn: it may call stop(), and touches nothing that is
    // simulated.
    void set_watch(std::function<void()> watch) { watch_ = std::move(watch); }
    // Measurement will begin at an instant that is not known beforehand; until then releases wait for their turn.
    void expect_measurement()
    {
        measurement_pending_ = true;
        set_release_limit();
    }
    // Off: locks keep no accounts of holds and waits. What happens is the same.
    void set_counting(bool yes);
    // Off: every release waits for its turn. Nothing but speed changes; for tests.
    void set_release_ahead(bool yes);

    // ---- before anything else is made: runs that are watched, changed or disturbed (careful.h) ----

    // Locks of that class cost a k-th, waiting for them included; 0: nothing.
    void suppose_lock(uint16_t lock_class, uint32_t times_cheaper);
    // The function's own instructions are a k-th; 0: none.
    void suppose_function(uint16_t function, uint32_t times_cheaper);
    // Threads are held up now and then, at random moments and for random times that depend on that number alone.
    void disturb(uint64_t schedule);
    // Pairs of locks that were taken in both orders are told in warnings(), whether that struck or not. Not watched are
    // the classes `apart`, whose users never meet for a reason that is none of the kernel's.
    void watch_lock_order(std::set<uint16_t> apart = {});
    const std::vector<std::string> &warnings() const { return warnings_; }

    // What is done with stretches that come again (repeat.h). Nothing but speed changes; for tests.
    void set_repeats(Repeats repeats) { repeats_ = repeats; }
    Repeats repeats() const { return repeats_; }

    // A stream of random numbers that no other consumer moves.
    Random random(std::string_view stream, uint64_t index = 0) const { return Random(seed_, stream, index); }
    const Machine &machine() const { return machine_; }
    const Tables &tables() const { return tables_; }
    CallTree &call_tree() { return call_tree_; }
    const std::vector<std::unique_ptr<Thread>> &threads() const { return threads_; }
    Observer *observer() const { return observer_; }
    // Hash of every thread's history of events. Equal runs, equal number; observers and release ahead do not move it.
    uint64_t digest() const;
    // REQUIRES: the measurement has ended (it ends with the run).
    const Measurements &measurements() const { return measured_; }
    uint64_t decisions() const;
    uint64_t dealings() const; // of running threads with others (scheduler.h)

    // ---- for sim/ ----
    void count_wait(LockBase &lock, const CallNode &waiter, uint64_t wait_ps, uint64_t spin_ps);
    LockInstance &instance_of(LockBase &lock)
    {
        if (lock.instance == 0) [[unlikely]]
            make_instance(lock);
        return statistics_.instances[lock.instance - 1];
    }
    void count_chain(const WaitChain &chain, uint64_t ps) { statistics_.chains[chain] += ps; }
    void look_for_ring(const Thread &thread);
    void look_for_sleep(); // has the workload gone to sleep for ever?
    Random *disturbance() { return disturbed_ ? &disturbance_ : nullptr; }
    LockOrder *lock_order() { return lock_order_.get(); }
    std::string path_text(const CallNode *node) const;
    std::string lock_name(const LockBase &lock) const;
    void warn(std::string text) { warnings_.push_back(std::move(text)); }
    void thread_finished(Thread &thread);
    void invariant_breaks(const std::string &text);
    void check_progress();
    // The end that was set is due. True: a step was done since it was set, and it is later now.
    bool put_off_end();

private:
    SIM_OUT_OF_LINE void make_instance(LockBase &lock);
    static void thread_entry(void *thread);
    void run_body(Thread &thread);
    void set_prices();
    void set_release_limit();
    void set_end();
    std::string waiting_text(const Thread &thread) const;
    std::string ring_text(const Thread &thread) const;
    const Thread *ring_member() const;                   // a thread of a ring, if there is one
    std::string stuck_text(const char *otherwise) const; // a ring if there is one, else every thread under that heading
    std::string place_text() const;
    End stuck_end() const;
    void be_careful();
    void take_measurements();
    void cut_waits(int64_t until_ps);
    void take_blame(LockStatistics &locks, const std::vector<uint32_t> &places) const;
    void measure_nodes(const CallNode &node, uint32_t parent, std::vector<uint32_t> &places);
    void check_conservation() const;

    Machine machine_;
    Tables tables_;
    uint64_t seed_;
    Observer *observer_;
    std::unique_ptr<Scheduler> scheduler_;
    StackPool stacks_;
    CallTree call_tree_;
    std::vector<std::unique_ptr<Thread>> threads_;
    std::unique_ptr<Thread> boot_;
    std::vector<Key> function_costs_;
    std::vector<Key> free_function_costs_;
    std::vector<Histogram> holds_;
    LockStatistics statistics_;
    Measurements measured_;
    Time measured_from_;
    Time last_progress_;
    Duration patience_;
    Time stop_at_{limits::last_time_ps};
    bool free_ = false;
    bool measurement_pending_ = false;
    bool measured_done_ = false;
    std::string broken_text_; // of the first invariant that did not hold
    bool left_unwinding_ = false;
    bool release_ahead_ = true;
    Repeats repeats_ = Repeats::added;
    bool running_ = false;
    End end_;
    std::unique_ptr<LockOrder> lock_order_;
    std::vector<std::string> warnings_;
    bool disturbed_ = false;
    Random disturbance_{0, "schedule"};
    uint64_t asleep_digest_ = 0;
    Time asleep_since_;
    std::exception_ptr thrown_;
    std::function<void()> watch_;
    Key end_key_ = 0;
};

// The text of that end.
std::string time_ran_out(const std::string &why);

} // namespace sim
