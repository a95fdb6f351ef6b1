// One simulated kernel thread: its stack, where its time went, what it waits for.
//
// The kernel's own fields are public on purpose: scheduler and locks are one machine in several files. Code above sim/
// reads name, id, group, calls and parts_now(), and nothing else.
#pragma once

#include "sim/call_tree.h"
#include "sim/cpu.h"
#include "sim/event_queue.h"
#include "sim/fiber.h"
#include "sim/time.h"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sim {

struct LockBase;
class CondVar;
class Mutex;
struct Thread;

// Where a thread's time goes; at any instant exactly one of these, so the parts add up to its age.
enum class Part : uint8_t { running, spinning, blocked, cpu_wait, txg_wait, disk, sleeping };
inline constexpr size_t part_count = 7;
extern const char *const part_names[part_count];

struct TimeParts {
    std::array<int64_t, part_count> ps{};

    int64_t operator[](Part part) const { return ps[static_cast<size_t>(part)]; }
    int64_t &operator[](Part part) { return ps[static_cast<size_t>(part)]; }
    int64_t total() const;
    TimeParts operator-(const TimeParts &earlier) const;
    TimeParts &operator+=(const TimeParts &other);
};

// Why a thread sleeps, which says to which part its time goes: blocked, txg_wait, disk or sleeping.
enum class WaitKind : uint8_t { lock, txg, disk, other };

// What the dispatcher does when the CPU that this thread is on is next.
enum class Pending : uint8_t {
    resume, // go on in its fiber
    spin,   // nothing: it waits on its CPU, only its time slice can end
    sleep,  // the cost of blocking is paid: leave the CPU, unless what it waits for has come meanwhile
};

// What a thread waits for on a condition variable, or by looking now and then, when whoever waits tells it: so that a
// deadlock which leads through more than locks can be told too. Asked only when nobody can run or gets anywhere any
// more.
struct WaitReason {
    std::string (*what)(const void *subject);   // what for, in words
    const Thread *(*whom)(const void *subject); // the thread that could end the wait, or null
    const void *subject;
};

enum class Where : uint8_t { on_cpu, run_queue, asleep, finished };

struct ThreadOptions {
    std::string group = "main";  // threads of a group share a call tree
    CpuSet cpus = CpuSet::all(); // where it may run
    Time start{};
    bool counted = true; // false: a service thread; the run does not wait for it to make progress
};

// What waits for the locks of one class took, since the list was last emptied. The three are the whole wait.
struct LockShare {
    uint16_t lock_class;
    int64_t spin_ps;
    int64_t blocked_ps;  // asleep
    int64_t cpu_wait_ps; // ready, and no CPU
};

// A lock that a thread holds, noted only while the order of locks is watched (careful.h).
struct HeldLock {
    LockBase *lock;
    uint32_t node; // call node in which it was taken
    bool write;
};

struct Thread {
    Fiber fiber;
    // ---- hot: touched at every switch ----
    CallNode *node = nullptr;  // while it is not running
    uint64_t *calls = nullptr; // calls of each function so far: differences of two reads count calls in between
    uint64_t digest = 0;       // of its own events, in its own order
    Key debt = 0;              // charged before it lost its CPU, to be worked off when it is back
    Thread *next = nullptr;    // in a run queue, or in the wait queue of a lock or condition variable (then a ring)
    Thread *previous = nullptr;
    uint16_t cpu = 0; // where it is, or was last
    Pending pending = Pending::resume;
    Where where = Where::asleep;
    Part part = Part::sleeping;
    Part part_before = Part::sleeping;
    Part sleep_part = Part::sleeping; // what the part becomes when it leaves its CPU
    bool woken = false;               // while it sleeps or is about to
    bool timed_out = false;
    bool granted = false; // the lock it waits for is its own
    bool wants_write = false;
    bool slept = false;   // it lost the lock after having been woken
    Key data_due = 0;     // with the lock that it has been granted: the data behind it come along
    int64_t since_ps = 0; // when `part` began; may lie ahead when a CPU takes it later
    uint32_t timer_slot = Timers::none;
    uint32_t id = 0;

    // ---- waiting for a lock ----
    Mutex *wants = nullptr; // its next attempt is the dispatcher's
    LockBase *waits_for = nullptr;
    const CondVar *waits_on = nullptr;
    const WaitReason *reason = nullptr; // of that wait
    uint32_t holder_node = 0;           // where the owner had taken the lock when this thread came
    int64_t wait_since_ps = 0;
    int64_t wait_spin_ps = 0;    // part[spinning] when the wait began
    int64_t wait_blocked_ps = 0; // and part[blocked]
    int64_t alone_since_ps = 0; // since when it is not among its lock's waiters any more: the lock, or a CPU, is on its
                                // way (blame.h)
    bool among_waiters = false;
    bool keeps_lock_shares = false;
    uint16_t last_wait_class = 0;       // of the last wait that ended
    uint32_t last_wait_node = 0;        // and where the holder had that lock from
    std::vector<LockShare> lock_shares; // kept where somebody asks for them

    // ---- in careful runs only (careful.h) ----
    int64_t wait_idle_ps = 0; // idle time of all CPUs when its wait for a supposed lock began
    uint64_t credit_ps = 0;   // computing that takes no time, since waiting took it already
    Key resumed_at = never;   // its clock when it got the CPU, until it gives way
    std::vector<HeldLock> held;

    TimeParts parts;
    int64_t lock_wait_ps = 0;

    std::string name;
    std::string group;
    const CpuSet *cpus = nullptr;
    uint32_t run_queue = 0; // the queue of its CPU set
    bool counted = true;
    bool fresh = true; // it has never run
    CallNode *root = nullptr;
    Stack stack;
    std::function<void()> body;

    // Where its time went so far, the current part included. REQUIRES: it is the running thread.
    TimeParts parts_now() const;
};

// The running thread waits for this reason while the object lives.
class WaitsBecause {
public:
    explicit WaitsBecause(const WaitReason &reason);
    ~WaitsBecause();
    WaitsBecause(const WaitsBecause &) = delete;
    WaitsBecause &operator=(const WaitsBecause &) = delete;

private:
    WaitReason reason_;
    Thread *thread_;
};

} // namespace sim
