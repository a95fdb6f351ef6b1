// The results of a sweep seen along one of the numbers that were varied.
//
// Results that differ in the seed alone are one spot: median, least and most. A line is what remains when every other
// varied path is held: one curve of a chart, one fit.
#pragma once

#include "analysis/json.h"

#include <cmath>
#include <string>
#include <vector>

namespace analysis {

// A value that somebody varied, in full where it is a whole number.
inline Json varied_value(double x)
{
    constexpr double whole_max = 9007199254740992.0;
    return x == std::floor(x) && std::fabs(x) < whole_max ? Json(static_cast<int64_t>(x)) : Json(x);
}

struct Spot {
    double x = 0;
    double least = 0, median = 0, most = 0;
    size_t runs = 0;
};

struct Line {
    Json others; // the other varied paths and their values, without the seed
    std::vector<Spot> spots;
};

class SweepView {
public:
    struct Axis {
        std::string path;
        std::vector<Json> values; // in the order of first appearance
        bool numeric = true;      // every value a number, none below 0
    };

    explicit SweepView(const std::vector<Json> &results);
    const std::vector<Axis> &axes() const { return axes_; } // without the seed
    size_t seeds() const { return seeds_; }
    const std::vector<Json> &results() const { return results_; }

    // x ascending; results without the metric are left out, lines without a spot too.
    std::vector<Line> lines(const std::string &path, const std::string &metric) const;

private:
    const std::vector<Json> &results_;
    std::vector<Axis> axes_;
    size_t seeds_ = 1;
};

} // namespace analysis
