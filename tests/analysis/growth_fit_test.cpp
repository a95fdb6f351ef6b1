#include "analysis/growth_fit.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace analysis;

TEST_CASE("a cost that grows with the square has exponent 2 between every two points")
{
    GrowthFit fit = fit_growth({1, 2, 4, 8}, {3, 12, 48, 192});
    CHECK(fit.exponent == doctest::Approx(2));
    CHECK(fit.error == doctest::Approx(0).epsilon(1e-9));
    CHECK(growth_words(fit) == "exponent is 2.000: O(n^2)");
}

TEST_CASE("a linear part hides the square at first, and the verdict follows the last pair")
{
    // y = n + n^2 / 100: 1.09 between the first two, 1.91 between the last two
    std::vector<double> x, y;
    for (double n = 10; n < 2000; n *= 2) {
        x.push_back(n);
        y.push_back(n + n * n / 100);
    }
    GrowthFit fit = fit_growth(x, y);
    CHECK(fit.local.front() < 1.2);
    CHECK(fit.tendency > 1.85);
    CHECK(fit.exponent < fit.tendency);
    CHECK(growth_words(fit).ends_with("O(n^2)"));
}

TEST_CASE("the recorded growth of the legacy allocator's searches is told as O(n^2)")
{
    // dnode_next_offset calls for N allocations in one txg, as recorded from the real library
    GrowthFit fit = fit_growth({8192, 16384, 32768, 65536, 131072, 262144, 1048576, 2097152},
                               {4099, 24586, 114724, 491656, 2032144, 8259616, 133726336, 535953664});
    CHECK(growth_words(fit).starts_with("exponent tends to 2.003 (between neighbours 2.584, 2.222"));
    CHECK(growth_class(fit.tendency) == "O(n^2)");
}

TEST_CASE("growth classes are named only where the tendency is near a whole number")
{
    CHECK(growth_class(0.02) == "O(1)");
    CHECK(growth_class(0.95) == "O(n)");
    CHECK(growth_class(1.5) == "about n^1.50");
    CHECK(growth_class(2.9) == "O(n^3)");
    CHECK(growth_class(-1) == "about n^-1.00");
}
