#include "analysis/shrink.h"

#include <doctest/doctest.h>

using namespace analysis;

// Fails whenever some thread does x before y.
TEST_CASE("shrinking leaves the steps without which it does not fail, and the smallest numbers")
{
    const Json scenario = Json::parse(R"({ "params": { "n": 500 }, "setup": [ { "op": "p" }, { "op": "q" } ],
      "machine": { "cpus": 16 }, "expect": [ 1 ],
      "workload": [ { "name": "a", "threads": 9, "steps": [ { "op": "z" } ] },
                    { "name": "b", "threads": 32, "steps": [ { "repeat": 64, "steps": [ { "op": "w" }, { "op": "x" },
                      { "choose": [ { "weight": 1, "steps": [ { "op": "v" } ] } ] }, { "op": "y" } ] } ] } ] })");
    const auto fails = [](const Json &candidate, Patience) {
        for (const Json &group : candidate["workload"]) {
            const std::string text = group["steps"].dump();
            const size_t x = text.find("\"x\""), y = text.find("\"y\"");
            if (x != std::string::npos && y != std::string::npos && x < y && group["threads"] >= 3)
                return true;
        }
        return false;
    };
    REQUIRE(fails(scenario, Patience::much));
    const Shrunk shrunk = shrink(scenario, fails, 10'000);
    CHECK(shrunk.finished);
    CHECK(fails(shrunk.scenario, Patience::much));
    const ScenarioSize size = scenario_size(shrunk.scenario);
    CHECK(size.threads == 3);
    CHECK(size.steps == 2);
    CHECK(shrunk.scenario["params"]["n"] == 1);
    CHECK(shrunk.scenario["machine"]["cpus"] == 1);
    CHECK_FALSE(shrunk.scenario.contains("expect"));

    const Shrunk cut = shrink(scenario, fails, 3);
    CHECK_FALSE(cut.finished);
    CHECK(cut.trials == 3);
    CHECK(fails(cut.scenario, Patience::much));
}

// y is found under one schedule in five or so, z always.
TEST_CASE("what fails readily is taken before what seldom fails, and what seldom fails is found in the end")
{
    const Json scenario = Json::parse(R"({ "workload": [ { "name": "a", "threads": 1, "steps": [ { "op": "y" } ] },
      { "name": "b", "threads": 1, "steps": [ { "op": "z" }, { "op": "w" } ] } ] })");
    std::vector<Patience> asked;
    const auto fails = [&](const Json &candidate, Patience patience) {
        asked.push_back(patience);
        const std::string text = candidate.dump();
        return text.find("\"z\"") != std::string::npos ||
               (text.find("\"y\"") != std::string::npos && patience == Patience::much);
    };
    const Shrunk shrunk = shrink(scenario, fails, 1000);
    CHECK(shrunk.finished);
    CHECK(scenario_size(shrunk.scenario).steps == 1);
    CHECK(shrunk.scenario["workload"][0]["name"] == "b");
    CHECK(asked.front() == Patience::little);
    CHECK(asked.back() == Patience::much);
    CHECK(shrunk.trials == asked.size());
}

// From 3,300 names down to the 2,049 that it takes: halving the distance, not one by one.
TEST_CASE("a number is lessened by halving, and threads that are an expression become a number")
{
    const Json scenario = Json::parse(R"({ "params": { "n": 3300, "t": 8 },
      "workload": [ { "name": "a", "threads": "$t", "steps": [ { "op": "x" } ] } ] })");
    CHECK(scenario_size(scenario).threads == 8);
    const auto fails = [](const Json &candidate, Patience) {
        return candidate["params"]["n"] >= 2049 &&
               (candidate["workload"][0]["threads"].is_string() || candidate["workload"][0]["threads"] >= 2) &&
               candidate["workload"][0]["steps"].size() == 1;
    };
    const Shrunk shrunk = shrink(scenario, fails, 1000);
    CHECK(shrunk.finished);
    CHECK(shrunk.scenario["params"]["n"] == 2049);
    CHECK(shrunk.scenario["workload"][0]["threads"] == 2);
    CHECK(shrunk.trials < 60);
}
