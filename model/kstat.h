// One counter of a kstat.
//
// In the code of 2018 and 2019 most statistics of the caches are single words that every CPU adds to atomically: they
// cost what a shared cache line costs (atomic_add). Elsewhere counting is free of charge (++, +=).
#pragma once

#include <cstdint>

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
    // atomic_add_64 on a word that all CPUs share.
    void atomic_add(int64_t delta)
    {
        settle();
        line_.modify();
        value_ += static_cast<uint64_t>(delta);
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
    sim::Line line_;
    uint64_t value_ = 0;
};

} // namespace dmu
