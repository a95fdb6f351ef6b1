// What a sweep shows on the whole: a table of its points, and how every counter grows with every varied number.
#pragma once

#include "analysis/grid.h"
#include "analysis/text.h"

namespace analysis {

// What the summary needs of one result, small enough to be kept for every point: {metric: number}, with the metrics
// asked for among them.
Json sweep_values(const Json &result, const std::vector<std::string> &metrics);

struct SweepPoint {
    Json point;  // {path: value}
    Json values; // sweep_values(), null where the run gave no result
};

// `metrics`: the ones asked for (paths into a result); empty: throughput, and the counters that a histogram is kept of.
std::string sweep_text(const Grid &grid, const std::vector<SweepPoint> &points, const std::vector<std::string> &metrics,
                       Style style);

} // namespace analysis
