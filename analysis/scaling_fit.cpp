#include "analysis/scaling_fit.h"

#include "analysis/text.h"
#include "sim/verify.h"

#include <Eigen/Dense>
#include <cmath>

namespace analysis {

namespace {

constexpr double knee_share = 0.95;
constexpr double r_squared_min = 0.95;
constexpr size_t points_min = 4; // three parameters

double law(const ScalingFit &fit, double n)
{
    return fit.lambda * n / (1 + fit.sigma * (n - 1) + fit.kappa * n * (n - 1));
}

} // namespace

ScalingFit fit_scaling(const std::vector<double> &cpus, const std::vector<double> &rates)
{
    VERIFY3(cpus.size(), ==, rates.size());
    ScalingFit fit;
    for (size_t i = 0; i < cpus.size(); ++i)
        if (rates[i] > fit.peak_rate) {
            fit.peak_rate = rates[i];
            fit.peak_cpus = cpus[i];
        }
    for (size_t i = cpus.size(); i-- > 0;)
        if (rates[i] >= knee_share * fit.peak_rate)
            fit.knee_cpus = cpus[i];
    if (cpus.size() < points_min)
        return fit;

    auto points = static_cast<Eigen::Index>(cpus.size());
    Eigen::MatrixXd terms(points, 3);
    Eigen::VectorXd ones = Eigen::VectorXd::Ones(points);
    double mean = 0;
    for (Eigen::Index i = 0; i < points; ++i) {
        auto at = static_cast<size_t>(i);
        double n = cpus[at], weight = rates[at] / n; // N / X(N) times this is 1
        terms.row(i) << weight, weight * (n - 1), weight * n * (n - 1);
        mean += rates[at] / static_cast<double>(cpus.size());
    }
    Eigen::VectorXd solved = terms.colPivHouseholderQr().solve(ones);
    if (!(solved(0) > 0))
        return fit;
    fit.fitted = true;
    fit.lambda = 1 / solved(0);
    fit.sigma = solved(1) * fit.lambda;
    fit.kappa = solved(2) * fit.lambda;
    double residual = 0, total = 0;
    for (size_t i = 0; i < cpus.size(); ++i) {
        residual += std::pow(rates[i] - law(fit, cpus[i]), 2);
        total += std::pow(rates[i] - mean, 2);
    }
    fit.r_squared = total > 0 ? 1 - residual / total : 0;
    fit.describes = fit.sigma >= 0 && fit.kappa >= 0 && fit.r_squared >= r_squared_min;
    return fit;
}

std::string scaling_words(const ScalingFit &fit)
{
    std::string words = "peak " + digits_text(fit.peak_rate, 4) + " at " + digits_text(fit.peak_cpus, 1) + " CPUs";
    if (fit.knee_cpus < fit.peak_cpus)
        words += ", 95 % of it from " + digits_text(fit.knee_cpus, 1) + " on";
    if (!fit.fitted)
        return words;
    std::string law = "lambda " + digits_text(fit.lambda, 4) + ", sigma " + digits_text(fit.sigma, 4) + ", kappa " +
                      digits_text(fit.kappa, 4) + ", R^2 " + digits_text(fit.r_squared, 4);
    if (!fit.describes)
        return words + "; the scalability law does not describe it (" + law + ")";
    words += "; scalability law " + law;
    if (fit.kappa > 0)
        words += ", its peak at " + digits_text(std::sqrt((1 - std::min(fit.sigma, 1.0)) / fit.kappa), 3) + " CPUs";
    return words;
}

} // namespace analysis
