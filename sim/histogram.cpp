#include "sim/histogram.h"

#include <algorithm>

namespace sim {

uint64_t Histogram::count() const
{
    uint64_t sum = 0;
    for (const uint64_t n : counts_)
        sum += n;
    return sum;
}

uint64_t Histogram::quantile(uint32_t per_mille) const
{
    const uint64_t all = count();
    if (all == 0)
        return 0;
    // Rounded up: the value below which at least that share lies.
    const uint64_t wanted = (all / 1000) * per_mille + ((all % 1000) * per_mille + 999) / 1000;
    uint64_t seen = 0;
    for (unsigned i = 0; i < buckets; ++i) {
        seen += counts_[i];
        if (seen >= wanted && seen > 0)
            return std::min(last(i), max_);
    }
    return max_;
}

void Histogram::add(const Histogram &other)
{
    for (unsigned i = 0; i < buckets; ++i)
        counts_[i] += other.counts_[i];
    total_ += other.total_;
    max_ = std::max(max_, other.max_);
}

} // namespace sim
