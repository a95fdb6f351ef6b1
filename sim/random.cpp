#include "sim/random.h"

#include "sim/verify.h"

namespace sim {

namespace {

// One step of splitmix64: spreads any change of its input over all 64 bits.
uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

} // namespace

Random::Random(uint64_t seed, std::string_view stream, uint64_t index)
{
    uint64_t hash = mix(seed);
    for (const char c : stream)
        hash = mix(hash ^ static_cast<unsigned char>(c));
    hash = mix(hash ^ index);
    for (uint64_t &word : state_)
        word = hash = mix(hash);
}

uint64_t Random::below(uint64_t bound)
{
    VERIFY(bound > 0);
    // Values under 2^64 mod bound would make the low results more likely; they are thrown away.
    const uint64_t unfair = -bound % bound;
    for (;;) {
        const uint64_t value = next();
        if (value >= unfair)
            return value % bound;
    }
}

uint64_t Random::between(uint64_t low, uint64_t high)
{
    VERIFY3(low, <=, high);
    const uint64_t span = high - low + 1;
    return span == 0 ? next() : low + below(span);
}

} // namespace sim
