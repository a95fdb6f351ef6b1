#include "analysis/json.h"

#include <doctest/doctest.h>

using namespace analysis;

TEST_CASE("a quotient is an integer where it is whole, and one correctly rounded division where not")
{
    CHECK(dump(quotient(6, 3)) == "2");
    CHECK(dump(quotient(1, 3)) == "0.3333333333333333");
    CHECK(dump(quotient(1, 0)) == "null");
    // a rate: operations by picoseconds, beyond 2^64 on the way
    CHECK(dump(quotient(974'377, 24'000'000'000'000, 1'000'000'000'000)) == "40599.041666666664");
    CHECK(dump(quotient(30'000, 1'000'000'000'000, 1'000'000'000'000)) == "30000");
}

TEST_CASE("picoseconds print as nanoseconds without losing any, up to an hour")
{
    CHECK(dump(nanoseconds(144)) == "0.144");
    CHECK(dump(nanoseconds(5'000)) == "5");
    CHECK(dump(nanoseconds(3'999'999'999'999'999)) == "3999999999999.999");
}
