// Random numbers of our own: xoshiro256** in named streams, all split from one seed.
//
// The standard library's distributions give different numbers on different implementations, and one shared generator
// would let a new consumer shift everybody else's numbers. So each consumer names a stream: its state is a hash of the
// seed, the name and an index. Hashing also keeps seeds that are close, or multiples of one another, from giving
// related streams.
#pragma once

#include <cstdint>
#include <string_view>

namespace sim {

class Random {
public:
    Random(uint64_t seed, std::string_view stream, uint64_t index = 0);

    uint64_t next()
    {
        auto rotate = [](uint64_t x, int k) { return (x << k) | (x >> (64 - k)); };
        const uint64_t result = rotate(state_[1] * 5, 7) * 9;
        const uint64_t t = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= t;
        state_[3] = rotate(state_[3], 45);
        return result;
    }

    // Uniform over [0, bound). REQUIRES: bound > 0.
    uint64_t below(uint64_t bound);
    // Uniform over [low, high], both ends included.
    uint64_t between(uint64_t low, uint64_t high);

private:
    uint64_t state_[4];
};

} // namespace sim
