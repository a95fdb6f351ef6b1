// What a tunable does: how far a figure moves while one number is varied, and where it stops to matter.
//
// A threshold is not a size, so no exponent describes it. What a reader of a review wants is the range, the direction,
// where the best value begins, and whether there is a plateau, in words.
#pragma once

#include "analysis/sweep_view.h"

#include <string>

namespace analysis {

struct Sensitivity {
    double least = 0, least_at = 0;
    double most = 0, most_at = 0;
    int direction = 0;  // 1 never falls, -1 never rises, 0 both
    bool moves = false; // by more than 1 % of the greatest value
};

// REQUIRES: at least one spot.
Sensitivity sensitivity(const std::vector<Spot> &spots);

// "falls from 40 at 1,024 to 0 at 262,144; within 5 % of its last value from 65,536 on"
std::string sensitivity_words(const std::vector<Spot> &spots);

// The figures worth watching while a tunable is varied: rates, searches and what they visit, how dense the dnode object
// is.
std::vector<std::string> sensitivity_metrics(const Json &result);

} // namespace analysis
