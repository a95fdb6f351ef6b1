// Before and after: what changed in the inputs, then what changed in the results, by size of effect.
//
// Each side is one result or a sweep. Points of the two sides are matched by their varied values; results that differ
// in the seed alone are one point with a spread, and a change that stays inside the spread is said to. What grows with
// the length of a run (time in functions, waits, counters) is compared per operation, so that runs of different length
// can be set side by side.
#pragma once

#include "analysis/text.h"

#include <string>
#include <vector>

namespace analysis {

// {"format": "dmusim-compare-1", "inputs": [...], "points": [{"point", "throughput", "functions", "locks", ...}],
// "unmatched"}
Json compare_results(const std::vector<Json> &before, const std::vector<Json> &after);

std::string compare_text(const Json &comparison, Style style);
std::string compare_markdown(const Json &comparison);

// METRIC>5%, METRIC<-5%: by how much it changed; METRIC>100, METRIC<100: what it is afterwards.
struct Guard {
    std::string text;
    std::string metric;
    bool above = true;
    bool percent = false;
    double limit = 0;
};

// Throws std::invalid_argument with what is wrong.
Guard parse_guard(const std::string &text);

// The points at which the guard strikes, in words; empty: none. A metric that one side lacks strikes too.
std::vector<std::string> guard_strikes(const Guard &guard, const std::vector<Json> &before,
                                       const std::vector<Json> &after);

} // namespace analysis
