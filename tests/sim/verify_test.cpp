#include "sim/verify.h"

#include <doctest/doctest.h>

TEST_CASE("a condition that does not hold is reported with both values")
{
    int three = 3;
    CHECK_THROWS_WITH_AS(VERIFY3(three, ==, 4), doctest::Contains("3 == 4"), sim::InvariantBroken);
}
