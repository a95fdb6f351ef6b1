// A cache line: who has it, who shares it, and until when it is on its way.
//
// Read-modify-write by CPU k at t: alone its owner, k pays one owned access. Otherwise it waits until the line has
// arrived wherever it was going, takes it from the farthest of owner and sharers, pays a crowd step for each other
// sharer, and owns it alone. A load by a sharer hits; otherwise it waits likewise, takes one transfer from the owner,
// and shares.
//
// `state` is a key: until when the line is on its way, above the number of its owner. Above 64 CPUs neighbours share a
// bit of `sharers`. On a machine without line model every access costs the same, and nothing is ever on its way.
#pragma once

#include "sim/kernel.h"

namespace sim {

struct Line {
    Key state = limits::timer_cpu; // nobody has it
    uint64_t sharers = 0;          // with the owner; 0: the owner alone

    // Both charge the running thread. REQUIRES: it has settled.
    SIM_ALWAYS_INLINE void modify()
    {
        if (is_alone(hot.key)) [[likely]]
            charge_key(hot.prices.rmw_owned);
        else
            modify_slow();
    }
    SIM_ALWAYS_INLINE void load()
    {
        if (cpu_of(state ^ hot.key) == 0) [[likely]]
            charge_key(hot.prices.load_hit);
        else
            load_slow();
    }
    // The CPU of that key has it, and no other.
    SIM_ALWAYS_INLINE bool is_alone(Key at) const { return (cpu_of(state ^ at) | sharers) == 0; }

private:
    void modify_slow();
    void load_slow();
    __attribute__((noinline)) Key fetch_price() const;
};

// Lines that lie together and are used together, in objects whose lines are not followed one by one: which CPUs have
// them. A CPU that has not takes each from memory. Above 64 CPUs neighbours share a bit.
class Footprint {
public:
    // Both settle.
    void read(uint32_t lines)
    {
        if (hot.prices.miss == 0)
            return;
        settle();
        const uint64_t own = uint64_t{1} << ((current_cpu() >> hot.sharer_shift) & 63);
        if ((having_ & own) == 0)
            charge_key(hot.prices.miss * lines);
        having_ |= own;
    }
    void write(uint32_t lines)
    {
        if (hot.prices.miss == 0)
            return;
        settle();
        const uint64_t own = uint64_t{1} << ((current_cpu() >> hot.sharer_shift) & 63);
        if ((having_ & own) == 0)
            charge_key(hot.prices.miss * lines);
        having_ = own;
    }

private:
    uint64_t having_ = 0;
};

} // namespace sim
