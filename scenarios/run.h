// run(): the only way a simulation starts, and RunResult: everything that came out of it.
//
// RunResult is plain data, integers and text, ordered. It knows nothing of JSON, percentages or layout: analysis/ turns
// it into reports. Times are picoseconds of simulated time (the kernel's unit, so that parts add up exactly); a rate or
// a share is left as its two integers and divided once, where it is printed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/repeats.h"

namespace sim {
class Observer;
}

namespace scenarios {

struct Scenario;

// How a run ended. Everything but `completed` and `refused` leaves an incomplete result.
enum class End {
    completed,   // every thread returned, or the stop time was reached and the running steps were finished
    refused,     // a step with "must": true was refused by the simulated system
    deadlock,    // nobody can run and no timer is set: `ending` is the wait-for ring
    lost_wakeup, // nobody can run, for nobody will signal a condition that threads sleep on
    livelock,    // simulated time or events go by and no step ends
    invariant,   // the simulated system broke a rule of its own: `ending` is the message with its call path
    limit,       // a limit of the simulator was reached (threads, memory, simulated time)
    interrupted, // the caller asked for the end
};

// Where a thread's time went. The six add up to the time it lived.
struct TimeParts {
    uint64_t running = 0;
    uint64_t spinning = 0;
    uint64_t blocked = 0; // on a lock, a condition or a sleep of the script's own
    uint64_t cpu_wait = 0;
    uint64_t txg_wait = 0;
    uint64_t disk = 0;
};

struct Latency {
    uint64_t p50 = 0, p90 = 0, p99 = 0, max = 0; // picoseconds
};

// Waiting for the locks of one class.
struct LockTime {
    std::string lock_class;
    uint64_t spinning = 0;
    uint64_t blocked = 0;
    uint64_t cpu_wait = 0; // ready, and no CPU, while it waited
};

struct OpResult {
    std::string name;                       // "alloc", "create", ...
    uint64_t count = 0;                     // that succeeded
    std::map<std::string, uint64_t> errors; // "EEXIST" -> how often; not in count
    Latency latency;                        // over all of them
    TimeParts parts;                        // sums over all of them
    std::vector<LockTime> locks;            // what of the parts was waiting for which class of locks, longest first
};

struct CpuResult {
    uint64_t busy_ps = 0;
    uint64_t idle_ps = 0;
};

struct FunctionResult {
    std::string name;
    uint64_t calls = 0;
    uint64_t self_ps = 0;
    uint64_t total_ps = 0; // recursion counted once
    uint64_t spin_ps = 0;  // the part of self_ps spent spinning
    bool recorded = false; // its cost comes from recorded instructions; otherwise it is assumed
};

// The calling-context tree: children follow their parent. Its root is the first node, below it one node for each group
// of threads. Folded stacks and flame graphs come from it.
struct CallNode {
    std::string group;     // of the root of a group of threads
    uint32_t parent = 0;   // index in the same list; the root is its own parent
    uint32_t function = 0; // index in RunResult::functions; UINT32_MAX for the root and the groups
    uint64_t calls = 0;
    uint64_t self_ps = 0;
    uint64_t spin_ps = 0;
    uint64_t blocked_ps = 0;
};

struct NamedTime {
    std::string name;
    uint64_t ps = 0;
};

struct HotLock {
    std::string name;
    uint64_t ps = 0;
    std::vector<NamedTime> holders; // add up to ps
};

struct LockResult {
    std::string lock_class;
    uint64_t instances = 0; // that were ever taken
    uint64_t acquisitions = 0;
    uint64_t contended = 0;
    uint64_t wait_ps = 0, wait_max_ps = 0, wait_p99_ps = 0; // spinning and blocked together
    uint64_t spin_ps = 0;
    uint64_t blocked_ps = 0;
    uint64_t hold_ps = 0, hold_max_ps = 0, hold_p99_ps = 0;
    uint64_t owner_changes = 0;
    std::vector<NamedTime> waiters; // by caller, longest first
    std::vector<NamedTime> holders; // by caller, the waiting they are to blame for, longest first
    std::vector<NamedTime> paths;   // the same by call path
    std::vector<HotLock> hottest;   // by instance, longest wait first
};

// Waiting during which the holder itself waited: for a lock that somebody held, and so on.
struct ChainResult {
    struct Link {
        std::string lock_class;
        std::string holder; // the function that had it
    };
    std::vector<Link> links; // the lock that was waited for first
    uint64_t ps = 0;
};

enum class HistogramScale { quantize, linear };

struct HistogramRow {
    uint64_t bucket = 0; // quantize: 0, 1, 2, 4, 8, ... as DTrace's; linear: the value itself
    uint64_t count = 0;
};

struct HistogramResult {
    std::string name;
    HistogramScale scale = HistogramScale::quantize;
    std::string unit;
    std::vector<HistogramRow> rows; // ascending; empty buckets are left out
};

// One object, or first, first + stride, ... last (stride may be negative).
struct ObjectRun {
    uint64_t first = 0, last = 0;
    int64_t stride = 1;
};

struct FillLevel {
    uint32_t level = 0;
    std::vector<std::pair<uint64_t, uint64_t>>
        fills; // run-length coded (fill, how many block pointers), in block order
};

struct AllocatorResult {
    bool objects_recorded = false;
    std::vector<ObjectRun> objects; // in the order handed out
    uint64_t rescans = 0;           // searches that began again at object 0
    uint64_t objects_in_use = 0;    // open-context view
    uint64_t dnode_blocks_in_use = 0;
    uint64_t holes = 0; // null level-0 pointers up to the highest block
    uint64_t highest_block = 0;
    uint64_t os_obj_next = 0;
    std::vector<uint64_t> os_obj_next_percpu; // empty where the variant has one cursor
    uint64_t os_freed_dnodes = 0;
    bool os_rescan_dnodes = false;
    std::vector<FillLevel> fills; // synced, highest level first
};

struct TxgRow {
    uint64_t txg = 0;
    uint64_t open_ps = 0;    // how long it was open
    uint64_t quiesce_ps = 0; // how long it waited for its last holder
    uint64_t sync_ps = 0;
    uint64_t accounting_ps = 0; // of it, in accounting for what owners use
    uint64_t dirty_bytes = 0;
    uint64_t allocated = 0; // objects
    uint64_t freed = 0;
    uint64_t allocated_when_sync_began = 0; // objects, in all txgs since the pool was made, setup included
    uint64_t allocated_when_synced = 0;
};

struct Series {
    std::string name; // what was sampled
    std::string unit;
    std::vector<std::pair<uint64_t, uint64_t>> samples; // (ps since the start of the measured part, value)
};

struct StackResult {
    uint64_t bytes = 0; // deepest simulated kernel stack of the measured part
    std::vector<std::string> path;
    struct Frame {
        uint64_t bytes = 0; // what its caller pushed for it counts to the caller's
        uint64_t depth = 0; // with everything above it
    };
    std::vector<Frame> frames; // of the path
};

// One group of the workload.
struct GroupResult {
    std::string name;
    uint64_t threads = 0;
    TimeParts parts; // summed over its threads, from its first instruction to its last
};

// A step that was refused although it had to succeed.
struct Refusal {
    std::string step;  // path in the scenario: workload.0.steps.1
    std::string error; // errno's name
};

struct RunResult {
    End end = End::completed;
    std::string
        ending; // for people: the ring, the broken invariant, what was refused; several lines, no newline at the end
    std::vector<Refusal> refusals;
    bool complete = true; // the measured part went to its end

    std::string scenario; // the effective scenario, JSON text: every default, era and override filled in
    uint64_t simulated_ps = 0;
    uint64_t digest = 0; // of everything announced; 0 where no observer asked for it

    std::vector<OpResult> ops; // by name
    std::vector<GroupResult> groups;
    std::vector<CpuResult> cpus;
    std::vector<FunctionResult> functions; // by self time, longest first
    std::vector<CallNode> call_tree;
    std::vector<LockResult> locks;            // by wait, longest first
    std::vector<ChainResult> chains;          // longest first
    std::vector<HistogramResult> histograms;  // by name
    std::map<std::string, uint64_t> counters; // function calls and kstats by their OpenZFS names
    AllocatorResult allocator;
    std::vector<TxgRow> txgs;
    std::vector<Series> series;
    std::map<std::string, std::map<std::string, uint64_t>> kstats; // "zap", "dbuf", "arc", "dnode" -> name -> value
    std::map<std::string, std::string> kstat_texts; // of those that RunOptions names: as /proc/spl/kstat/zfs has them
    StackResult stack;
    std::vector<std::string> warnings; // for people, on stderr
};

struct Progress {
    uint64_t simulated_ps = 0;
    uint64_t operations = 0;
};

struct RunOptions {
    sim::Observer *observer = nullptr;
    std::vector<std::string> kstats; // names of kstat_names() whose text is wanted
    bool release_ahead = true;       // false: slower, and nothing else (Simulator::set_release_ahead); for tests
    sim::Repeats repeats = sim::Repeats::added; // likewise (Simulator::set_repeats)
    std::function<bool(const Progress &)>
        progress; // called now and then by the host's pace; false ends the run (interrupted)
};

// Does not throw for what happens inside the simulation; the Scenario must have passed the reader. InputError: a number
// of the script turned out to be out of bounds in some round. Expectations are not judged here: they speak of the
// printed result (metric.h finds the value).
RunResult run(const Scenario &scenario, const RunOptions &options = {});

} // namespace scenarios
