#include "analysis/conform.h"

#include <doctest/doctest.h>

using namespace analysis;

TEST_CASE("a difference is told at the first leaf where recorded and got part")
{
    Comparison comparison(true);
    comparison.step(3, "alloc");
    comparison.equal("totals", Json::parse(R"({"a": 1, "b": [1, 2, 3]})"), Json::parse(R"({"a": 1, "b": [1, 5, 3]})"));
    comparison.equal("live", 7u, 7);
    comparison.equal("objects", Json::parse("[1, 2]"), Json::parse("[1]"));
    comparison.equal("hist", Json::parse(R"({"0": 1})"), Json::parse(R"({"0": 1, "2": 4})"));
    REQUIRE(comparison.differences().size() == 3);
    CHECK(comparison.differences()[0].step == "step 3 (alloc)");
    CHECK(comparison.differences()[0].field == "totals.b[1]");
    CHECK(comparison.differences()[0].recorded == "2");
    CHECK(comparison.differences()[0].got == "5");
    CHECK(comparison.differences()[1].field == "objects[1]");
    CHECK(comparison.differences()[1].got == "nothing");
    CHECK(comparison.differences()[2].field == "hist.2");
    CHECK(comparison.differences()[2].recorded == "nothing");
}

TEST_CASE("without --keep-going the first difference ends the comparison")
{
    Comparison comparison(false);
    CHECK_THROWS_AS(comparison.equal("live", 1, 2), Comparison::Stop);
    CHECK(comparison.differences().size() == 1);
}

TEST_CASE("a file that is no known trace is refused with what is known")
{
    CHECK_THROWS_AS(trace_kind(Json::parse("[]")), BadTrace);
    CHECK_THROWS_AS(trace_kind(Json::parse("{}")), BadTrace);
    CHECK_THROWS_AS(trace_kind(Json::parse(R"({"format": "other-1"})")), BadTrace);
    CHECK_THROWS_AS(trace_kind(Json::parse(R"({"kind": 7})")), BadTrace);
}
