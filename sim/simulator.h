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
#include "sim/statistics.h"
#include "sim/thread.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sim {

class Scheduler;

struct Tables {
    std::span<const FunctionInfo> functions;
    std::span<const LockClassInfo> lock_classes;
};

enum class Ending : uint8_t {
    finished,  // every thread returned
    stopped,   // by stop_at() or stop(); threads were left where they were
    deadlock,  // nobody can ever run again; the text is the ring
    livelock,  // no progress for the time given, or for limits::decisions_without_progress decisions
    invariant, // an assertion failed; the text says which, where and when
    limit,     // a bound of the program was reached
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
    // How much simulated time may pass without one; 0: any. Then the run ends, at that very instant.
    void set_patience(Duration patience);
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
    uint64_t thread_switches() const;
    uint64_t decisions() const;

    // ---- for sim/ ----
    void count_wait(LockBase &lock, const Thread &thread, uint64_t wait_ps, uint64_t spin_ps);
    void look_for_ring(const Thread &thread);
    void thread_finished(Thread &thread);
    void invariant_breaks();
    void check_progress();
    // The end that was set is due. True: a step was done since it was set, and it is later now.
    bool put_off_end();

private:
    static void thread_entry(void *thread);
    void run_body(Thread &thread);
    void set_prices();
    void set_release_limit();
    void set_end();
    std::string lock_name(const LockBase &lock) const;
    std::string waiting_text(const Thread &thread) const;
    std::string ring_text(const Thread &thread) const;
    std::string stuck_text(const char *otherwise) const; // a ring if there is one, else every thread under that heading
    std::string place_text() const;
    std::string path_text(const CallNode *node) const;
    void take_measurements();
    void measure_nodes(const CallNode &node, uint32_t parent);
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
    std::string broken_place_;
    bool release_ahead_ = true;
    bool running_ = false;
    End end_;
    std::exception_ptr thrown_;
    Key end_key_ = 0;
};

} // namespace sim
