#include "analysis/scaling_fit.h"

#include <doctest/doctest.h>

using namespace analysis;

TEST_CASE("a curve made by the law gives its parameters back")
{
    std::vector<double> cpus = {1, 2, 4, 8, 16, 32}, rates;
    for (double n : cpus)
        rates.push_back(1000 * n / (1 + 0.05 * (n - 1) + 0.002 * n * (n - 1)));
    ScalingFit fit = fit_scaling(cpus, rates);
    CHECK(fit.describes);
    CHECK(fit.lambda == doctest::Approx(1000));
    CHECK(fit.sigma == doctest::Approx(0.05));
    CHECK(fit.kappa == doctest::Approx(0.002));
    CHECK(fit.peak_cpus == 16);
    CHECK(scaling_words(fit).find("its peak at 21.8 CPUs") != std::string::npos);
}

TEST_CASE("a curve that halves past its peak is not described by the law, and the measured peak stands")
{
    ScalingFit fit = fit_scaling({1, 2, 4, 6, 8, 10, 12, 16}, {9000, 18000, 34000, 49000, 60000, 45000, 38000, 30000});
    CHECK_FALSE(fit.describes);
    CHECK(fit.peak_cpus == 8);
    CHECK(fit.knee_cpus == 8);
    CHECK(scaling_words(fit).find("does not describe") != std::string::npos);
}

TEST_CASE("few points have a peak and a knee but no law")
{
    ScalingFit fit = fit_scaling({1, 2, 4}, {10, 19.5, 20});
    CHECK_FALSE(fit.fitted);
    CHECK(fit.knee_cpus == 2);
}
