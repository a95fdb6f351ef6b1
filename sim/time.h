// Simulated time: whole picoseconds in types of their own.
//
// A cost may be a fraction of a nanosecond (one instruction is 144 ps), so nanoseconds would round; a double would make
// results depend on the compiler. An instant and a length are different types, so that adding two instants does not
// compile. An instant is at most 2^54 ps, five hours: what is left of 64 bits above the CPU number (event_queue.h).
#pragma once

#include "sim/verify.h"

#include <compare>
#include <cstdint>

namespace sim {

struct Duration {
    int64_t ps = 0;

    constexpr auto operator<=>(const Duration &) const = default;
    constexpr int64_t ns() const { return ps / 1000; }
    constexpr Duration &operator+=(Duration other)
    {
        ps += other.ps;
        return *this;
    }
};

struct Time {
    int64_t ps = 0;

    constexpr auto operator<=>(const Time &) const = default;
    constexpr int64_t ns() const { return ps / 1000; }
};

constexpr Duration operator+(Duration a, Duration b)
{
    return {a.ps + b.ps};
}
constexpr Duration operator-(Duration a, Duration b)
{
    return {a.ps - b.ps};
}
constexpr Time operator+(Time a, Duration b)
{
    return {a.ps + b.ps};
}
constexpr Time operator-(Time a, Duration b)
{
    return {a.ps - b.ps};
}
constexpr Duration operator-(Time a, Time b)
{
    return {a.ps - b.ps};
}

constexpr Duration checked_product(int64_t count, int64_t unit_ps)
{
    int64_t product = 0;
    VERIFY(!__builtin_mul_overflow(count, unit_ps, &product));
    return {product};
}

constexpr Duration picoseconds(int64_t n)
{
    return {n};
}
constexpr Duration nanoseconds(int64_t n)
{
    return checked_product(n, 1000);
}
constexpr Duration microseconds(int64_t n)
{
    return checked_product(n, 1000 * 1000);
}
constexpr Duration milliseconds(int64_t n)
{
    return checked_product(n, 1000 * 1000 * 1000);
}
constexpr Duration seconds(int64_t n)
{
    return checked_product(n, int64_t{1000} * 1000 * 1000 * 1000);
}
constexpr Duration operator*(int64_t n, Duration unit)
{
    return checked_product(n, unit.ps);
}

} // namespace sim
