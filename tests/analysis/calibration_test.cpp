// The fit on figures worked out by formula: it comes back to what made them, stays inside bounds, predicts what it is
// not shown, and tries the same points whatever it is run by.
#include "analysis/calibration.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace analysis;

namespace {

// Rates and shares of a lock that takes `hold`, with `work` between: the kind of thing that is fitted.
CalibrationFigures queue(const CalibrationPoint &p)
{
    const double work = static_cast<double>(p[0]), hold = static_cast<double>(p[1]), far = static_cast<double>(p[2]);
    const double alone = 1e9 / (work + hold), eight = 1e9 / std::max((work + hold) / 8, hold + 0.05 * work),
                 sixteen = 1e9 / std::max((work + hold + far) / 16, hold + far);
    return {alone, eight, sixteen, hold / (work + hold), 1 + far};
}

std::vector<CalibrationFigures> all(const std::vector<CalibrationPoint> &points)
{
    std::vector<CalibrationFigures> figures;
    for (const CalibrationPoint &point : points)
        figures.push_back(queue(point));
    return figures;
}

const CalibrationPoint truth = {20'000, 3'000, 700};

std::vector<CalibrationTarget> targets()
{
    const CalibrationFigures measured = queue(truth);
    std::vector<CalibrationTarget> list;
    for (size_t i = 0; i < measured.size(); ++i)
        list.push_back({"t" + std::to_string(i), measured[i], 1});
    return list;
}

std::vector<CalibrationParameter> from(double times)
{
    std::vector<CalibrationParameter> list;
    for (size_t i = 0; i < truth.size(); ++i)
        list.push_back({"p" + std::to_string(i), truth[i] / 5, truth[i] * 5,
                        static_cast<int64_t>(static_cast<double>(truth[i]) * times)});
    return list;
}

} // namespace

TEST_CASE("from a start where every parameter is twice or half what it should be it comes back to the targets")
{
    for (const double times : {0.5, 2.0}) {
        for (const uint64_t trials : {uint64_t{0}, uint64_t{40}}) {
            const CalibrationResult result = calibrate(from(times), targets(), {trials, 20, false}, all);
            INFO(times << " times, " << trials << " trials: cost " << result.cost);
            CHECK(result.start_cost > 0.1);
            for (size_t t = 0; t < result.at_fitted.size(); ++t)
                CHECK(std::abs(calibration_error(result.at_fitted[t], targets()[t].value)) < 0.02);
            for (size_t i = 0; i < truth.size(); ++i)
                CHECK(std::abs(calibration_error(static_cast<double>(result.fitted[i]),
                                                 static_cast<double>(truth[i]))) < 0.05);
        }
    }
}

TEST_CASE("bounds hold, and the one that a parameter runs into is where it stays")
{
    std::vector<CalibrationParameter> parameters = from(0.5);
    parameters[2].most = truth[2] / 2;
    const CalibrationResult result =
        calibrate(parameters, targets(), {20, 20, false}, [&](const std::vector<CalibrationPoint> &points) {
            for (const CalibrationPoint &point : points)
                for (size_t i = 0; i < point.size(); ++i) {
                    CHECK(point[i] >= parameters[i].least);
                    CHECK(point[i] <= parameters[i].most);
                }
            return all(points);
        });
    CHECK(result.fitted[2] == truth[2] / 2);
}

TEST_CASE("a target that was left out is predicted by the others, where they say enough")
{
    std::vector<CalibrationTarget> wrong = targets();
    wrong[4].value *= 3; // nobody else believes it
    const CalibrationResult result = calibrate(from(2.0), wrong, {40, 20, true}, all);
    REQUIRE(result.predicted.size() == wrong.size());
    CHECK(std::abs(calibration_error(result.predicted[0], targets()[0].value)) < 0.1);
    CHECK(result.predicted[4] < wrong[4].value);
    CHECK(result.predicted[4] < result.at_fitted[4]); // further from the wrong figure than when it was fitted to it
}

TEST_CASE("a target without weight is shown, and does not pull")
{
    std::vector<CalibrationTarget> list = targets();
    list[4].value *= 3;
    list[4].weight = 0;
    const CalibrationResult result = calibrate(from(2.0), list, {0, 20, false}, all);
    CHECK(std::abs(calibration_error(result.at_fitted[4], targets()[4].value)) < 0.05);
}

TEST_CASE("the slopes are what one per cent more of a parameter does")
{
    const CalibrationResult result = calibrate(from(1.0), targets(), {0, 1, false}, all);
    CHECK(result.slopes[2][4] == doctest::Approx(1.0).epsilon(0.02));  // 1 + far
    CHECK(result.slopes[0][4] == doctest::Approx(0.0).epsilon(0.001)); // says nothing of work
    CHECK(result.slopes[0][0] == doctest::Approx(-20.0 / 23).epsilon(0.02));
}
