#include "analysis/growth_fit.h"

#include "analysis/text.h"
#include "sim/verify.h"

#include <Eigen/Dense>
#include <cmath>

namespace analysis {

namespace {

// How far from a whole exponent a tendency may be and still be called by it. N log N over 2^13..2^20 has 1.07.
constexpr double near = 0.15;

} // namespace

GrowthFit fit_growth(const std::vector<double> &x, const std::vector<double> &y)
{
    VERIFY3(x.size(), ==, y.size());
    VERIFY3(x.size(), >=, size_t{2});
    auto points = static_cast<Eigen::Index>(x.size());
    Eigen::MatrixXd powers(points, 2);
    Eigen::VectorXd logs(points);
    for (Eigen::Index i = 0; i < points; ++i) {
        auto at = static_cast<size_t>(i);
        VERIFY(x[at] > 0);
        VERIFY(y[at] > 0);
        powers(i, 0) = 1;
        powers(i, 1) = std::log(x[at]);
        logs(i) = std::log(y[at]);
    }
    GrowthFit fit;
    for (Eigen::Index i = 1; i < points; ++i)
        fit.local.push_back((logs(i) - logs(i - 1)) / (powers(i, 1) - powers(i - 1, 1)));
    Eigen::VectorXd line = powers.colPivHouseholderQr().solve(logs);
    fit.exponent = line(1);
    fit.tendency = fit.local.back();
    if (points > 2) {
        double residual = (logs - powers * line).squaredNorm() / static_cast<double>(points - 2);
        double spread = (powers.col(1).array() - powers.col(1).mean()).square().sum();
        fit.error = std::sqrt(residual / spread);
    }
    return fit;
}

std::string growth_class(double tendency)
{
    double whole = std::round(tendency);
    if (std::fabs(tendency - whole) > near || whole < 0 || whole > 4)
        return "about n^" + digits_text(tendency, 3);
    if (whole == 0)
        return "O(1)";
    return whole == 1 ? "O(n)" : "O(n^" + std::to_string(static_cast<int>(whole)) + ")";
}

std::string growth_words(const GrowthFit &fit)
{
    bool steady = true;
    std::string local;
    for (double exponent : fit.local) {
        steady = steady && digits_text(exponent, 4) == digits_text(fit.tendency, 4);
        local += (local.empty() ? "" : ", ") + digits_text(exponent, 4);
    }
    std::string words = std::string("exponent ") + (steady ? "is " : "tends to ") + digits_text(fit.tendency, 4);
    if (!steady)
        words += " (between neighbours " + local + "; fitted " + digits_text(fit.exponent, 4) + " +- " +
                 digits_text(fit.error, 2) + ")";
    return words + ": " + growth_class(fit.tendency);
}

} // namespace analysis
