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
    SIM_ALWAYS_INLINE void enter()
    {
        const Key at = hot.key;
        if (at >= hot.horizon) [[unlikely]]
            enter_in_turn();
        else if (owner == nullptr && key <= at && line == cpu_of(at)) [[likely]]
            take_owned(at);
        else
            enter_elsewhere();
    }
    // REQUIRES: the running thread holds it.
    SIM_ALWAYS_INLINE void exit()
    {
        const Key span = hot.prices.release;
        const Key at = hot.key + span;
        VERIFY(owner == hot.thread);
        if (waiters == nullptr && at < hot.slice.release_ahead && key >= hot.plain_holds_from) [[likely]] {
            hot.key = at;
            CallNode *const call = hot.node;
            call->charged += span;
            count_plain_hold(*this, at, call->mutex_holds);
            owner = nullptr;
            key = at;
        } else {
            exit_slow();
        }
    }
    // Takes it if it is free. Settles.
    [[nodiscard]] bool try_enter();
    bool owned() const { return owner == hot.thread; }
    // The running thread could enter it at once, its line is this CPU's, and nobody waits to be woken when it is left.
    // Free of charge and order.
    bool at_hand() const { return owner == nullptr && waiters == nullptr && key <= hot.key && line == cpu_of(hot.key); }
    // Somebody holds it. Settles.
    [[nodiscard]] bool held_by_anyone() const;

private:
    friend class Scheduler;
    friend void pass_on(LockBase &);

    LockBase &base() { return *this; }
    const LockBase &base() const { return *this; }

    // It is free, and its line is this CPU's.
    SIM_ALWAYS_INLINE void take_owned(Key at)
    {
        Thread *const thread = hot.thread;
        CallNode *const call = hot.node;
        ++hot.lock_counts[lock_class].acquisitions;
        digest_event(*thread, at + lock_class);
        const Key span = hot.prices.rmw_owned;
        call->charged += span;
        hot.key = at + span;
        owner = thread;
        key = at + span;
        node = call->index;
    }
    // The same with its line elsewhere, or not free.
    void enter_elsewhere();
    // The same when somebody else comes first.
    void enter_in_turn();
    void take() { take(*hot.thread); }
    void take(Thread &self)
    {
        const uint32_t cpu = current_cpu();
        LockClassCounts &counts = hot.lock_counts[lock_class];
        ++counts.acquisitions;
        digest_event(self, hot.key + lock_class);
        Key price = hot.prices.rmw_owned;
        Key data = 0;
        if (line != cpu) {
            ++counts.owner_changes;
            if (line >= odd_line) [[unlikely]] {
                data = data_behind(line, cpu);
                charge_odd_line(*this, cpu);
                price = 0;
            } else {
                const bool far = hot.socket[line] != hot.socket[cpu];
                price = hot.prices.transfer[far];
                data = hot.prices.data[far];
                line = static_cast<uint16_t>(cpu);
            }
        }
        owner = &self;
        key = hot.key + price;
        node = hot.node->index;
        charge_key(price + data);
    }
    void exit_slow();
    bool is_free() const { return owner == nullptr && key <= hot.key; }
    void line_up(Thread &self);
    void contend();
    void wait_out();
    void pass_on_mutex();
};

static_assert(sizeof(Mutex) <= 40);

} // namespace sim
