#include "analysis/expectation.h"
#include "analysis/metric.h"

#include <doctest/doctest.h>

using namespace analysis;

namespace {

const Json result = Json::parse(R"({
    "complete": true, "simulated_ns": 2000,
    "ops": {"alloc": {"count": 4, "per_s": 2000000.5, "errors": {}}},
    "locks": [{"class": "os_obj_lock", "wait_ns": {"total": 75}, "holders": [{"caller": "next_chunk", "blamed_ns": 7}]},
              {"class": "db_mtx", "wait_ns": {"total": 5}}],
    "histograms": {"dnode_hold_impl per dmu_object_alloc":
        {"scale": "quantize", "unit": "calls", "rows": [[1, 13], [2, 970], [4096, 3], [8192, 6]]}},
    "counters": {"dnode_hold_impl": 10, "dnode_next_offset_level[lvl=1]": 8, "none": 0},
    "txgs": [{"txg": 5, "allocated": 100}],
    "scenario": {}
})");

Json value(const char *path)
{
    MetricValue found = metric_value(result, path);
    INFO(path, ": ", found.problem);
    CHECK(found.problem.empty());
    return found.value;
}

std::string problem(const char *path)
{
    MetricValue found = metric_value(result, path);
    CHECK(found.value.is_null());
    return found.problem;
}

} // namespace

TEST_CASE("a metric walks keys by dots and lists of named things by name")
{
    CHECK(value("simulated_ns") == 2000);
    CHECK(value("complete") == 1);
    CHECK(value("ops.alloc.per_s") == 2000000.5);
    CHECK(value("locks[os_obj_lock].wait_ns.total") == 75);
    CHECK(value("locks[os_obj_lock].holders[next_chunk].blamed_ns") == 7);
    CHECK(value("locks.1.wait_ns.total") == 5);
    CHECK(value("txgs[5].allocated") == 100);
    CHECK(value("txgs.0.allocated") == 100);
    CHECK(value("counters[dnode_next_offset_level[lvl=1]]") == 8);
}

TEST_CASE("a histogram is entered by bucket or by a range of buckets, and an absent bucket counts 0")
{
    CHECK(value("histograms[dnode_hold_impl per dmu_object_alloc][4096]") == 3);
    CHECK(value("histograms[dnode_hold_impl per dmu_object_alloc][16384]") == 0);
    CHECK(value("histograms[dnode_hold_impl per dmu_object_alloc][4096..]") == 9);
    CHECK(value("histograms[dnode_hold_impl per dmu_object_alloc][1..2]") == 983);
}

TEST_CASE("one metric may be divided by another")
{
    CHECK(value("counters.dnode_hold_impl / ops.alloc.count") == 2.5);
    CHECK(problem("simulated_ns / counters.none") == "counters.none is 0");
    CHECK(value("counters.zap_increment") == 0); // a function, and never called
    CHECK(value("counters[zap_increment]") == 0);
    CHECK(!problem("counters.zap_incremen").empty());
    CHECK(!problem("counters.zap_increment.calls").empty());
}

TEST_CASE("a path that leads nowhere says where it ends and what is near")
{
    CHECK(problem("locks[os_obj_lok].wait_ns.total") == "locks has no \"os_obj_lok\"; did you mean \"os_obj_lock\"?");
    CHECK(problem("ops.alloc.per_s.x") == "ops.alloc.per_s is a number or a text; nothing is inside it");
    CHECK(problem("ops.alloc") == "ops.alloc is not a number");
    CHECK(problem("") == "a metric is empty");
    CHECK(problem("ops..count") == "a key is empty");
    CHECK(problem("locks[x") == "a bracket is not closed");
    CHECK(problem("histograms[dnode_hold_impl per dmu_object_alloc][many]").find("not a bucket") != std::string::npos);
}

TEST_CASE("a first key that no result has is found before anything runs")
{
    CHECK(metric_problem("ops.alloc.per_s").empty());
    CHECK(metric_problem("counters.a / ops.alloc.count").empty());
    CHECK(metric_problem("lokcs[x].contended") == "a result has no \"lokcs\"; did you mean \"locks\"?");
    CHECK_FALSE(metric_problem("counters.a / op.alloc.count").empty());
}

TEST_CASE("every bound of an expectation must hold")
{
    Json judged = result;
    judged["scenario"] = Json::parse(R"({"expect": [
        {"metric": "simulated_ns", "at_least": 2000, "at_most": 2000, "because": "S1"},
        {"metric": "simulated_ns", "at_least": 2001},
        {"metric": "simulated_ns", "equals": 2000},
        {"metric": "simulated_ns", "within": {"of": 2100, "percent": 5}},
        {"metric": "simulated_ns", "within": {"of": 2200, "percent": 5}},
        {"metric": "counters.absent", "at_most": 5}]})");
    Json expect = judge_expectations(judged);
    std::vector<bool> held;
    for (const Json &one : expect)
        held.push_back(one["held"].get<bool>());
    CHECK(held == std::vector<bool>{true, false, true, true, false, false});
    CHECK(expect[0]["because"] == "S1");
    CHECK(expect[5]["value"].is_null());
    CHECK_FALSE(all_held(expect));
}
