#include "analysis/grid.h"

#include <doctest/doctest.h>

using namespace analysis;

TEST_CASE("values are JSON where they are JSON and bare strings where not")
{
    Axis axis = parse_axis("code.object_alloc=legacy,8,\"9\",true,[1,2]");
    CHECK(dump(Json(axis.values)) == R"(["legacy",8,"9",true,[1,2]])");
}

TEST_CASE("ranges go by one, by a step, or by powers")
{
    CHECK(dump(Json(parse_axis("a=1..4").values)) == "[1,2,3,4]");
    CHECK(dump(Json(parse_axis("a=1..8:3,20").values)) == "[1,4,7,20]");
    CHECK(dump(Json(parse_axis("a=2^3..2^6").values)) == "[8,16,32,64]");
    CHECK(dump(Json(parse_axis("a=2^63..2^63").values)) == "[9223372036854775808]");
    CHECK(dump(Json(parse_axis("a=a..b").values)) == R"(["a..b"])");
}

TEST_CASE("what is no axis is told with what is wrong")
{
    CHECK_THROWS_AS(parse_axis("params.objects"), GridError);
    CHECK_THROWS_AS(parse_axis("=1"), GridError);
    CHECK_THROWS_WITH_AS(parse_axis("a=1,,2"), "a: a value is missing", GridError);
    CHECK_THROWS_WITH_AS(parse_axis("a=4..1"), "a: the range 4..1 is empty", GridError);
    CHECK_THROWS_AS(parse_axis("a=1..99999999"), GridError);
    CHECK_THROWS_AS(parse_axis("a=2^1..3^4"), GridError);
    CHECK_THROWS_WITH_AS(Grid({parse_axis("a=1"), parse_axis("a=2")}), "a is varied twice", GridError);
}

TEST_CASE("the first axis is the outermost")
{
    Grid grid({parse_axis("a=1,2"), parse_axis("b=x,y")});
    CHECK(grid.size() == 4);
    CHECK(dump(grid.point(0)) == R"({"a":1,"b":"x"})");
    CHECK(dump(grid.point(1)) == R"({"a":1,"b":"y"})");
    CHECK(dump(grid.point(2)) == R"({"a":2,"b":"x"})");
}
