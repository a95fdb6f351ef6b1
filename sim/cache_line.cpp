#include "sim/cache_line.h"

#include "sim/lock.h"
#include "sim/simulator.h"

#include <algorithm>
#include <bit>

namespace sim {

namespace {

uint64_t sharer_bit(uint32_t cpu)
{
    return uint64_t{1} << ((cpu >> hot.sharer_shift) & 63);
}

// The library's popcount is a call on machines as old as the compiler assumes.
uint64_t count_of(uint64_t bits)
{
    bits -= (bits >> 1) & 0x5555555555555555ull;
    bits = (bits & 0x3333333333333333ull) + ((bits >> 2) & 0x3333333333333333ull);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0full;
    return (bits * 0x0101010101010101ull) >> 56;
}

// From the farthest of the sharers. Those of the CPU's own socket are neighbours of its bit; all others are as far as
// the other socket. REQUIRES: there are sharers, and the CPU is none of them.
Key transfer_of_farthest(uint64_t sharers, uint32_t cpu)
{
    if (hot.sharer_shift == 0) {
        const uint32_t per_socket = hot.simulator->machine().cpus_per_socket;
        const uint64_t socket =
            per_socket < 64 ? ((uint64_t{1} << per_socket) - 1) << (cpu / per_socket * per_socket) : ~uint64_t{0};
        return std::max<Key>((sharers & socket) != 0 ? hot.prices.transfer[0] : 0,
                             (sharers & ~socket) != 0 ? hot.prices.transfer[1] : 0);
    }
    Key farthest = 0;
    for (uint64_t rest = sharers; rest != 0; rest &= rest - 1) {
        const uint32_t sharer = static_cast<uint32_t>(std::countr_zero(rest)) << hot.sharer_shift;
        if (sharer != cpu)
            farthest = std::max(farthest, transfer(static_cast<uint16_t>(sharer), cpu));
    }
    return farthest;
}

} // namespace

// From wherever it is. REQUIRES: somebody has it, and the machine has a line model.
Key Line::fetch_price() const
{
    const uint32_t cpu = current_cpu();
    const uint32_t owner = cpu_of(state);
    Key cost = hot.prices.rmw_owned;
    if (owner != cpu)
        cost = std::max(cost, transfer(static_cast<uint16_t>(owner), cpu));
    if (const uint64_t others = sharers & ~sharer_bit(cpu); others != 0) [[unlikely]] {
        // The farthest copy: any sharer of another socket is as far as the other socket.
        cost = std::max(cost, transfer_of_farthest(others, cpu));
        cost += hot.prices.crowd * count_of(others & ~sharer_bit(owner));
    }
    if (state > hot.key)
        cost += (state - hot.key) & ~Key{limits::timer_cpu};
    return cost;
}

// A line that nobody has had yet is the most frequent case where objects come by the million: it needs no frame.
void Line::modify_slow()
{
    const bool fetched = cpu_of(state) != limits::timer_cpu && hot.line_model && !hot.free_running;
    charge_key(fetched ? fetch_price() : hot.prices.rmw_owned);
    state = hot.key;
    sharers = 0;
}

void Line::load_slow()
{
    const uint32_t cpu = current_cpu();
    if ((sharers & sharer_bit(cpu)) != 0) {
        charge_key(hot.prices.load_hit);
        return;
    }
    const uint32_t owner = cpu_of(state);
    if (owner == cpu || owner == limits::timer_cpu || !hot.line_model || hot.free_running) {
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
