#include "analysis/compare.h"

#include <doctest/doctest.h>
#include <stdexcept>

using namespace analysis;

namespace {

Json result(double per_s, uint64_t holds, uint64_t wait)
{
    Json json = Json::parse(
        R"({"format": "dmusim-result-1", "version": "1", "scenario": {"code": {"object_alloc": "legacy"}, "seed": 1},
        "ops": {"alloc": {"count": 10, "latency_ns": {"p50": 1, "p99": 2}}},
        "cpu": {"functions": [{"name": "dnode_hold_impl", "self_ns": 100}]},
        "locks": [{"class": "os_obj_lock"}], "histograms": {}, "counters": {}})");
    json["ops"]["alloc"]["per_s"] = per_s;
    json["counters"]["dnode_hold_impl"] = holds;
    json["locks"][0]["wait_ns"] = {{"total", wait}};
    return json;
}

} // namespace

TEST_CASE("what changed is listed by size of effect, per operation where it grows with the run")
{
    Json before = result(1000, 20, 5000), after = result(7500, 10, 0);
    after["scenario"]["code"]["object_alloc"] = "rescan";
    Json comparison = compare_results({before}, {after});
    CHECK(dump(comparison["inputs"]) == R"([{"path":"code.object_alloc","before":"legacy","after":"rescan"}])");
    Json point = comparison["points"][0];
    CHECK(dump(point["throughput"]) == R"([{"name":"alloc","before":1000,"after":7500,"ratio":7.5}])");
    CHECK(dump(point["locks"]) == R"([{"name":"os_obj_lock","before":500,"after":0,"ratio":0}])");
    CHECK(dump(point["counters"]) == R"([{"name":"dnode_hold_impl","before":2,"after":1,"ratio":0.5}])");
    CHECK(point["functions"].empty());
    CHECK(compare_text(comparison, {}).find("7.500x") != std::string::npos);
    CHECK(compare_markdown(comparison).find("| code.object\\_alloc |") != std::string::npos);
}

TEST_CASE("equal results have no changes")
{
    Json comparison = compare_results({result(1, 2, 3)}, {result(1, 2, 3)});
    CHECK(comparison["inputs"].empty());
    CHECK(compare_text(comparison, {}).find("nothing changed in the results") != std::string::npos);
}

TEST_CASE("points are matched by what was varied, and seeds become a spread")
{
    auto at = [](uint64_t cpus, uint64_t seed, double per_s) {
        Json one = result(per_s, 1, 1);
        one["point"] = {{"machine.cpus", cpus}, {"seed", seed}};
        return one;
    };
    Json comparison =
        compare_results({at(8, 1, 100), at(8, 2, 110), at(16, 1, 50)}, {at(8, 1, 105), at(8, 2, 300), at(32, 1, 7)});
    REQUIRE(comparison["points"].size() == 1);
    CHECK(dump(comparison["points"][0]["point"]) == R"({"machine.cpus":8})");
    Json row = comparison["points"][0]["throughput"][0];
    CHECK(row["before"] == 105);
    CHECK(row["after"] == 202.5);
    CHECK(row["within_spread"] == true);
    CHECK(comparison["unmatched"].size() == 2);
}

TEST_CASE("a guard strikes on a change in percent or on a value")
{
    std::vector<Json> before = {result(1000, 20, 5000)}, after = {result(900, 20, 5000)};
    auto strikes = [&](const char *text) { return guard_strikes(parse_guard(text), before, after).size(); };
    CHECK(strikes("ops.alloc.per_s<-5%") == 1);
    CHECK(strikes("ops.alloc.per_s<-15%") == 0);
    CHECK(strikes("ops.alloc.per_s>5%") == 0);
    CHECK(strikes("counters.dnode_hold_impl>19") == 1);
    CHECK(strikes("counters.dnode_hold_impl > 20") == 0);
    CHECK(strikes("counters.absent>1") == 1);
    CHECK_THROWS_AS(parse_guard("ops.alloc.per_s"), std::invalid_argument);
    CHECK_THROWS_AS(parse_guard("ops.alloc.per_s>x%"), std::invalid_argument);
    CHECK_THROWS_AS(parse_guard("opps.alloc.per_s>5%"), std::invalid_argument);
}
