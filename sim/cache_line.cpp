#include "sim/cache_line.h"

#include "sim/lock.h"

#include <algorithm>
#include <bit>

namespace sim {

namespace {

uint64_t sharer_bit(uint32_t cpu)
{
    const uint32_t cpus = hot.simulator == nullptr ? 1 : hot.sharer_shift;
    return uint64_t{1} << ((cpu >> cpus) & 63);
}

} // namespace

void Line::modify_slow()
{
    ++hot.uncommon;
    const uint32_t cpu = current_cpu();
    const uint32_t owner = cpu_of(state);
    Key cost = hot.prices.rmw_owned;
    if (owner != limits::timer_cpu && hot.line_model && !hot.free_running) {
        if (state > hot.key)
            charge_key((state - hot.key) & ~Key{limits::timer_cpu});
        // The farthest copy: any sharer of another socket is as far as the other socket.
        cost = owner == cpu ? 0 : transfer(static_cast<uint16_t>(owner), cpu);
        const uint64_t others = sharers & ~sharer_bit(cpu);
        for (uint64_t rest = others; rest != 0; rest &= rest - 1) {
            const uint32_t sharer = static_cast<uint32_t>(std::countr_zero(rest)) << hot.sharer_shift;
            if (sharer != cpu)
                cost = std::max(cost, transfer(static_cast<uint16_t>(sharer), cpu));
        }
        cost = std::max(cost, hot.prices.rmw_owned);
        const uint64_t crowd = others & ~(owner == limits::timer_cpu ? 0 : sharer_bit(owner));
        cost += hot.prices.crowd * static_cast<uint64_t>(std::popcount(crowd));
    }
    charge_key(cost);
    state = (hot.key & ~Key{limits::timer_cpu}) | cpu;
    sharers = 0;
}

void Line::load_slow()
{
    ++hot.uncommon;
    const uint32_t cpu = current_cpu();
    const uint32_t owner = cpu_of(state);
    if (owner == cpu || (sharers & sharer_bit(cpu)) != 0 || owner == limits::timer_cpu || !hot.line_model ||
        hot.free_running) {
        if (owner == limits::timer_cpu)
            state = (hot.key & ~Key{limits::timer_cpu}) | cpu;
        charge_key(hot.prices.load_hit);
        return;
    }
    if (state > hot.key)
        charge_key((state - hot.key) & ~Key{limits::timer_cpu});
    charge_key(transfer(static_cast<uint16_t>(owner), cpu));
    state = (hot.key & ~Key{limits::timer_cpu}) | owner;
    sharers |= sharer_bit(cpu) | sharer_bit(owner);
}

} // namespace sim
