// One counter of a kstat.
//
// In the code of 2018 and 2019 most statistics of the caches are single words that every CPU adds to atomically: they
// cost what a shared cache line costs (atomic_add). Elsewhere counting is free of charge (++, +=).
#pragma once

#include <cstdint>
#include <span>

#include "model/spl.h"

namespace dmu {

class kstat_named_t {
public:
    operator uint64_t() const { return value_; } // NOLINT: a counter is read as its value
    kstat_named_t &operator=(uint64_t value)
    {
        value_ = value;
        return *this;
    }
    kstat_named_t &operator++()
    {
        ++value_;
        return *this;
    }
    kstat_named_t &operator--()
    {
        --value_;
        return *this;
    }
    kstat_named_t &operator+=(uint64_t delta)
    {
        value_ += delta;
        return *this;
    }
    kstat_named_t &operator-=(uint64_t delta)
    {
        value_ -= delta;
        return *this;
    }
    // The number itself, for whoever adds to many (sim/repeat.h).
    std::span<uint64_t> word() { return {&value_, 1}; }
    // atomic_add_64_nv on a word that all CPUs share.
    uint64_t atomic_add(int64_t delta)
    {
        settle();
        line_.modify();
        return value_ += static_cast<uint64_t>(delta);
    }
    uint64_t atomic_load()
    {
        settle();
        line_.load();
        return value_;
    }
    // A new maximum is stored, which is rare; the comparison reads the word.
    void atomic_max(uint64_t value)
    {
        settle();
        line_.load();
        if (value <= value_)
            return;
        line_.modify();
        value_ = value;
    }

private:
    template <size_t count>
    friend uint64_t atomic_add_each(const struct kstat_delta_t (&)[count]);

    sim::Line line_;
    uint64_t value_ = 0;
};

struct kstat_delta_t {
    kstat_named_t &counter;
    int64_t delta;
};

// atomic_add of each, one after the other; returns what the first of them had become. Where all their lines are near
// and nobody's turn comes before the last, that is one charge.
template <size_t count>
SIM_ALWAYS_INLINE uint64_t atomic_add_each(const kstat_delta_t (&adds)[count])
{
    const sim::Key at = sim::hot.key;
    const sim::Key price = sim::hot.prices.rmw_owned;
    bool near = at + (count - 1) * price < sim::hot.horizon;
    for (const kstat_delta_t &add : adds)
        near = near && add.counter.line_.is_alone(at);
    if (near) [[likely]] {
        sim::charge_key(count * price);
        for (const kstat_delta_t &add : adds)
            add.counter.value_ += static_cast<uint64_t>(add.delta);
        return adds[0].counter.value_;
    }
    const uint64_t first = adds[0].counter.atomic_add(adds[0].delta);
    for (size_t i = 1; i < count; ++i)
        adds[i].counter.atomic_add(adds[i].delta);
    return first;
}

} // namespace dmu
