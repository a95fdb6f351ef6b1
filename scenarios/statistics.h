// Counting what the operations of a script took: latencies in a log-linear histogram, integers throughout.
#pragma once

#include "scenarios/run.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <vector>

namespace scenarios {

// One bucket a value.
class Linear {
public:
    void add(uint64_t value) { ++buckets_[value]; }
    std::vector<HistogramRow> rows() const
    {
        std::vector<HistogramRow> rows;
        for (const auto &[value, count] : buckets_)
            rows.push_back({value, count});
        return rows;
    }
    void clear() { buckets_.clear(); }

private:
    std::map<uint64_t, uint64_t> buckets_;
};

// Values to within one part in 64: below 64 exactly, above it 64 buckets to each doubling. A quantile is the lower
// bound of the bucket it falls into; the maximum is exact.
class LatencyHistogram {
public:
    void add(uint64_t value)
    {
        const size_t index = index_of(value);
        if (index >= buckets_.size())
            buckets_.resize(index + 1);
        ++buckets_[index];
        ++count_;
        max_ = value > max_ ? value : max_;
    }
    uint64_t count() const { return count_; }
    // The smallest bucket that has at least `percent` of the values at or below it.
    uint64_t quantile(uint64_t percent) const
    {
        const uint64_t wanted = (count_ * percent + 99) / 100;
        uint64_t seen = 0;
        for (size_t i = 0; i < buckets_.size(); ++i) {
            seen += buckets_[i];
            if (seen >= wanted && seen > 0)
                return lower_bound(i);
        }
        return 0;
    }
    Latency summary() const { return {quantile(50), quantile(90), quantile(99), max_}; }

private:
    static constexpr uint64_t sub_bits = 6;
    static size_t index_of(uint64_t value)
    {
        if (value < (1u << sub_bits))
            return static_cast<size_t>(value);
        const uint64_t shift = static_cast<uint64_t>(std::bit_width(value)) - sub_bits - 1;
        return static_cast<size_t>(((shift + 1) << sub_bits) + ((value >> shift) - (1u << sub_bits)));
    }
    static uint64_t lower_bound(size_t index)
    {
        if (index < (2u << sub_bits))
            return index;
        const uint64_t shift = (index >> sub_bits) - 1;
        return ((index & ((1u << sub_bits) - 1)) + (1u << sub_bits)) << shift;
    }

    std::vector<uint64_t> buckets_;
    uint64_t count_ = 0;
    uint64_t max_ = 0;
};

// How many, or how much time, by equal intervals of simulated time. An interval is a millisecond until there are too
// many of them; then it doubles, which two neighbours' sum survives exactly. The order in which events are told plays
// no part.
class Timeline {
public:
    void add(uint64_t ps, uint64_t amount = 1)
    {
        while (ps / interval_ps_ >= intervals_max)
            double_interval();
        const size_t index = static_cast<size_t>(ps / interval_ps_);
        if (index >= counts_.size())
            counts_.resize(index + 1);
        counts_[index] += amount;
        total_ += amount;
    }
    // The time from `from` to `until`, to each interval its part.
    void add_span(uint64_t from, uint64_t until)
    {
        if (from >= until)
            return;
        while ((until - 1) / interval_ps_ >= intervals_max)
            double_interval();
        while (from < until) {
            const uint64_t end = std::min((from / interval_ps_ + 1) * interval_ps_, until);
            add(from, end - from);
            from = end;
        }
    }
    uint64_t total() const { return total_; }
    // (end of the interval, amount in it / unit), from the beginning to `length`, in intervals that depend on the
    // length alone: timelines of one run have the same.
    std::vector<std::pair<uint64_t, uint64_t>> samples(uint64_t length, uint64_t unit = 1) const
    {
        Timeline whole = *this;
        while (length > whole.interval_ps_ * intervals_max)
            whole.double_interval();
        std::vector<std::pair<uint64_t, uint64_t>> samples;
        const size_t intervals = static_cast<size_t>((length + whole.interval_ps_ - 1) / whole.interval_ps_);
        for (size_t i = 0; i < std::max(intervals, whole.counts_.size()); ++i)
            samples.emplace_back((i + 1) * whole.interval_ps_, i < whole.counts_.size() ? whole.counts_[i] / unit : 0);
        return samples;
    }

private:
    static constexpr size_t intervals_max = 1000;
    void double_interval()
    {
        for (size_t i = 0; i < counts_.size(); ++i)
            counts_[i / 2] = i % 2 == 0 ? counts_[i] : counts_[i / 2] + counts_[i];
        counts_.resize((counts_.size() + 1) / 2);
        interval_ps_ *= 2;
    }

    std::vector<uint64_t> counts_;
    uint64_t total_ = 0;
    uint64_t interval_ps_ = 1'000'000'000;
};

// Object numbers in the order handed out, kept as runs of equal stride.
class ObjectRuns {
public:
    void add(uint64_t object)
    {
        if (!runs_.empty()) {
            ObjectRun &last = runs_.back();
            const int64_t stride = static_cast<int64_t>(object - last.last);
            if (stride != 0 && last.first == last.last) {
                last.stride = stride;
                last.last = object;
                return;
            }
            if (stride != 0 && stride == last.stride) {
                last.last = object;
                return;
            }
        }
        runs_.push_back({object, object, 1});
    }
    void clear() { runs_.clear(); }
    const std::vector<ObjectRun> &runs() const { return runs_; }

private:
    std::vector<ObjectRun> runs_;
};

} // namespace scenarios
