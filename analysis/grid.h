// The grid of a sweep: which paths are varied, over which values, in which order.
//
//   params.objects=8192,16384      a list; values are JSON or bare strings
//   machine.cpus=1..16             every whole number; 1..16:3 in steps of 3
//   params.objects=2^13..2^20      powers, doubling; any base from 2
//
// Points are in grid order: the first axis outermost, the last one fastest. Seeds, where asked for, are the last axis.
#pragma once

#include "analysis/json.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace analysis {

struct GridError : std::runtime_error {
    using runtime_error::runtime_error;
};

struct Axis {
    std::string path;
    std::vector<Json> values;
};

// PATH=V,V,... Throws GridError with what is wrong and what is allowed.
Axis parse_axis(const std::string &text);

class Grid {
public:
    static constexpr uint64_t points_max = 1'000'000; // more is a slip of the finger, not a sweep

    explicit Grid(std::vector<Axis> axes); // throws GridError: a path twice, too many points
    const std::vector<Axis> &axes() const { return axes_; }
    size_t size() const { return size_; }
    Json point(size_t index) const; // {path: value, ...} in axis order

private:
    std::vector<Axis> axes_;
    size_t size_ = 1;
};

} // namespace analysis
