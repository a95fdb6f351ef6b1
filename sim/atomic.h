// Simulated atomics, and fields that are peeked at without a lock. Both are charged through their cache line.
//
// Every access settles, so it happens in the order of simulated time; that is also what makes an unlocked read honest:
// it does not see what another thread will write later.
#pragma once

#include "sim/cache_line.h"

#include <type_traits>

namespace sim {

template <class T>
class Atomic {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Atomic() = default;
    explicit Atomic(T value) : value_(value) {}
    Atomic(const Atomic &) = delete;
    Atomic &operator=(const Atomic &) = delete;

    T load() const
    {
        settle();
        line_.load();
        return value_;
    }
    void store(T value)
    {
        settle();
        line_.modify();
        value_ = value;
    }
    // Returns the value before.
    T fetch_add(T delta)
    {
        settle();
        line_.modify();
        const T before = value_;
        value_ = static_cast<T>(before + delta);
        return before;
    }
    T fetch_or(T bits)
    {
        settle();
        line_.modify();
        const T before = value_;
        value_ = static_cast<T>(before | bits);
        return before;
    }
    T fetch_and(T bits)
    {
        settle();
        line_.modify();
        const T before = value_;
        value_ = static_cast<T>(before & bits);
        return before;
    }
    T exchange(T value)
    {
        settle();
        line_.modify();
        const T before = value_;
        value_ = value;
        return before;
    }
    // Compare-and-swaps that add, until one succeeds; false, and only loaded, when the value is `refused`. The load
    // before the swap and a swap that fails fetch the line for the one that follows at once, before anybody else can
    // have it: so the whole is one visit of the line, whatever the crowd.
    bool add_unless(T refused, T delta)
    {
        const Key at = hot.key + hot.prices.load_hit;
        if (at < hot.horizon && line_.is_alone(at) && value_ != refused) [[likely]] {
            const Key span = hot.prices.load_hit + hot.prices.rmw_owned;
            charge_key(span);
            value_ = static_cast<T>(value_ + delta);
            return true;
        }
        settle();
        if (value_ == refused) {
            line_.load();
            return false;
        }
        charge_key(hot.prices.load_hit);
        line_.modify();
        value_ = static_cast<T>(value_ + delta);
        return true;
    }
    // True and replaced if it was `expected`; else false, and `expected` is what it is.
    bool compare_exchange(T &expected, T desired)
    {
        settle();
        line_.modify();
        if (value_ != expected) {
            expected = value_;
            return false;
        }
        value_ = desired;
        return true;
    }
    // Without cost and order: for statistics, and for checks when the run is over.
    T peek() const { return value_; }
    // Its line is this CPU's alone. Free of charge and order.
    bool at_hand() const { return line_.is_alone(hot.key); }

private:
    mutable Line line_;
    T value_{};
};

// A field guarded by a lock that is sometimes read without it. Reading settles and costs a load; its place says why the
// answer may be out of date without harm. Written under the lock, the cost is the lock's.
template <class T>
class racy {
public:
    racy() = default;
    explicit racy(T value) : value_(value) {}
    racy(const racy &) = delete;
    racy &operator=(const racy &) = delete;

    operator T() const { return load(); }
    T load() const
    {
        settle();
        charge_key(hot.prices.load_hit);
        return value_;
    }
    // Settles, so that nobody reads the value before it is written.
    racy &operator=(T value)
    {
        settle();
        value_ = value;
        return *this;
    }
    // REQUIRES: the guarding lock is held.
    T locked() const { return value_; }

private:
    T value_{};
};

} // namespace sim
