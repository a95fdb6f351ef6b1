// Log-linear histogram of lengths of time: every power of two in sixteen steps, so a value is known within 6 %.
//
// Integers only, one increment a value, no allocation. Total and maximum are exact; a quantile is the upper edge of its
// step.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace sim {

class Histogram {
public:
    static constexpr unsigned step_bits = 4;
    static constexpr unsigned steps = 1u << step_bits;
    static constexpr unsigned buckets = (64 - step_bits) * steps + steps;

    __attribute__((always_inline)) void add(uint64_t value)
    {
        ++counts_[bucket(value)];
        total_ += value;
        if (value > max_) [[unlikely]]
            max_ = value;
    }
    void add(uint64_t value, uint64_t times)
    {
        counts_[bucket(value)] += times;
        total_ += value * times;
        max_ = value > max_ ? value : max_;
    }

    uint64_t total() const { return total_; }
    uint64_t max() const { return max_; }
    uint64_t count() const;
    // The smallest step edge that at least `per_mille` thousandths of the values do not exceed, never above max().
    uint64_t quantile(uint32_t per_mille) const;
    void add(const Histogram &other);
    void clear() { *this = Histogram{}; }

    // Bucket by bucket, for reports: first value, last value, count. The leading bit of a value that is shifted stands
    // for the step of its power of two, so small values need no branch of their own.
    static constexpr unsigned bucket(uint64_t value)
    {
        const uint64_t shift = static_cast<uint64_t>(std::bit_width(value | steps)) - 1 - step_bits;
        return static_cast<unsigned>(shift * steps + (value >> shift));
    }
    static constexpr uint64_t first(unsigned bucket)
    {
        if (bucket < steps)
            return bucket;
        const unsigned shift = bucket / steps - 1;
        return (uint64_t{steps} + bucket % steps) << shift;
    }
    static constexpr uint64_t last(unsigned bucket)
    {
        return bucket + 1 < buckets ? first(bucket + 1) - 1 : ~uint64_t{0};
    }
    const std::array<uint64_t, buckets> &counts() const { return counts_; }

private:
    std::array<uint64_t, buckets> counts_{};
    uint64_t total_ = 0;
    uint64_t max_ = 0;
};

} // namespace sim
