// The mutex. What a waiter does is the machine's policy (lock_policy.h); this is the rest.
//
// Entering a free mutex is one read-modify-write on its line, and the line comes from the CPU that had it last. Leaving
// costs one owned access. Both run inline when nobody else comes first.
//
// Release ahead of time: a thread that has charged past the horizon would have to let the others come first before it
// may leave a mutex. When nobody waits for the mutex and its time slice lasts, nobody can notice if it does not: it
// leaves at once, and the mutex remembers from when on it is free. Somebody who comes earlier finds it taken, waits,
// and is served by a timer at that instant. Results are the same with and without (a standing test), the speed is not.
#pragma once

#include "sim/lock.h"

namespace sim {

class Mutex : private LockBase {
public:
    explicit Mutex(uint16_t lock_class) : LockBase(lock_class, LockKind::mutex) {}
    ~Mutex();

    // REQUIRES: the running thread does not hold it.
    void enter()
    {
        if (hot.key < hot.horizon && is_free()) [[likely]]
            take();
        else
            enter_slow();
    }
    // REQUIRES: the running thread holds it.
    void exit()
    {
        VERIFY(owner == hot.thread);
        charge_key(hot.prices.release);
        count_hold(*this);
        if (waiters == nullptr && (hot.key < hot.release_ahead || hot.key < hot.horizon)) [[likely]] {
            owner = nullptr;
            key = hot.key;
        } else {
            exit_slow();
        }
    }
    // Takes it if it is free. Settles.
    [[nodiscard]] bool try_enter();
    bool owned() const { return owner == hot.thread; }
    // Somebody holds it. Settles.
    [[nodiscard]] bool held_by_anyone() const;

private:
    friend class Scheduler;
    friend void pass_on(LockBase &);

    void take()
    {
        const uint32_t cpu = current_cpu();
        if (hot.counting) [[likely]]
            count_acquisition(line != cpu);
        if (line != cpu) {
            charge_key(transfer(line, cpu));
            line = static_cast<uint16_t>(cpu);
        } else {
            charge_key(hot.prices.rmw_owned);
        }
        owner = hot.thread;
        key = hot.key;
        node = hot.node->index;
    }
    void count_acquisition(bool changes_owner)
    {
        LockClassCounts &counts = hot.lock_counts[lock_class];
        ++counts.acquisitions;
        counts.owner_changes += changes_owner ? 1 : 0;
        digest_event(*hot.thread, hot.key + lock_class);
    }
    void enter_slow();
    void exit_slow();
    // To whoever is next.
    bool is_free() const { return owner == nullptr && key <= hot.key; }
    void line_up(Thread &self);
    void contend();
    void wait_out();
    void pass_on_mutex();
};

static_assert(sizeof(Mutex) <= 40);

} // namespace sim
