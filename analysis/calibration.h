// Fitting numbers of a machine to measured figures: which values of the free parameters bring a set of targets closest.
//
// Parameters are positive whole numbers inside bounds, and everything is done on logarithms: what is minimised is the
// sum over the targets of weight * ln(figure / target)^2, so that ten per cent too much of one weighs as ten per cent
// of another, whatever their units. First a simplex of points (Nelder and Mead) crawls downhill, which needs no slopes
// and is not led astray by the steps that contention makes; then Levenberg and Marquardt's method goes on from the best
// point, on slopes by differences (Eigen). Values are rounded to three digits, so two compilers try the same points.
//
// At the end each target is left out in turn, the rest fitted anew, and the one left out predicted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace analysis {

struct CalibrationParameter {
    std::string name;
    int64_t least = 1; // 1 <= least <= start <= most
    int64_t most = 1;
    int64_t start = 1;
};

struct CalibrationTarget {
    std::string name;
    double value = 1;  // > 0
    double weight = 1; // >= 0; 0: shown, and not fitted
};

using CalibrationPoint = std::vector<int64_t>;  // a value for each parameter
using CalibrationFigures = std::vector<double>; // one for each target, > 0

// The figures at each of the points. Called with points that do not depend on how fast or in which order it works.
using CalibrationEvaluate = std::function<std::vector<CalibrationFigures>(const std::vector<CalibrationPoint> &)>;

struct CalibrationOptions {
    uint64_t trials = 0; // points of the first search
    uint64_t rounds = 0; // steps of the second
    bool leave_one_out = true;
};

struct CalibrationResult {
    CalibrationPoint start, fitted;
    CalibrationFigures at_start, at_fitted;
    double start_cost = 0, cost = 0; // the sum that is minimised
    // By parameter, then target: by how much per cent the figure grows where the parameter grows by one.
    std::vector<std::vector<double>> slopes;
    // By target: the figure where the others were fitted without it; empty without leave_one_out.
    std::vector<double> predicted;
    uint64_t points = 0; // evaluated
};

// ln(figure / target), as a share: 0.1 is a tenth too much.
double calibration_error(double figure, double target);

// REQUIRES: at least one parameter and one target, of which one has weight.
CalibrationResult calibrate(const std::vector<CalibrationParameter> &parameters,
                            const std::vector<CalibrationTarget> &targets, const CalibrationOptions &options,
                            const CalibrationEvaluate &evaluate);

} // namespace analysis
