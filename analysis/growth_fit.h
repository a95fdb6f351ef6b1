// How a cost grows with a number: the exponent that betrays O(n^2).
//
// Between two neighbouring points the local exponent is log(y2/y1) / log(x2/x1). Over all points the exponent is the
// slope of a least-squares line through the logarithms (Eigen). A cost with a linear and a quadratic part has local
// exponents that climb towards 2, so the verdict in words follows the last local exponent, not the slope, which lags
// behind. Results are printed to four digits: what two compilers' rounding can differ in lies far below.
#pragma once

#include <string>
#include <vector>

namespace analysis {

struct GrowthFit {
    std::vector<double> local; // one for each neighbouring pair
    double exponent = 0;       // slope
    double error = 0;          // its standard error; 0 with fewer than three points
    double tendency = 0;       // the last local exponent
};

// REQUIRES: x ascending; both positive; at least two points of the same number.
GrowthFit fit_growth(const std::vector<double> &x, const std::vector<double> &y);

// "O(1)", "O(n)", "O(n^2)", "O(n^3)", or "about n^1.49" where the tendency is near no whole number.
std::string growth_class(double tendency);

// "exponent tends to 2.000 (local 2.582, 2.223, ...; fitted 2.110 +- 0.031): O(n^2)"
std::string growth_words(const GrowthFit &fit);

} // namespace analysis
