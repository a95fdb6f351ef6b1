// Throughput over CPUs: where it peaks, where adding CPUs stops paying, and whether the scalability law describes it.
//
// The universal scalability law says X(N) = l N / (1 + s (N - 1) + k N (N - 1)): s is the part that does not run in
// parallel, k the cost of agreeing. N / X(N) is linear in (1, N - 1, N (N - 1)), so the fit is one least-squares
// problem (Eigen), weighted so that relative errors of X count. The law cannot follow a curve that falls steeply: where
// s comes out negative, or R^2 is under 0.95, it says that it does not describe the curve, and the measured peak stands
// alone.
#pragma once

#include <string>
#include <vector>

namespace analysis {

struct ScalingFit {
    double peak_cpus = 0, peak_rate = 0; // measured
    double knee_cpus = 0;                // the fewest CPUs that give 95 % of the peak, measured
    bool fitted = false;                 // enough points for the law
    double lambda = 0, sigma = 0, kappa = 0, r_squared = 0;
    bool describes = false;
};

// REQUIRES: cpus ascending and positive, rates positive, as many of each.
ScalingFit fit_scaling(const std::vector<double> &cpus, const std::vector<double> &rates);

std::string scaling_words(const ScalingFit &fit);

} // namespace analysis
