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
    const auto fails = [](const Json &candidate) {
        for (const Json &group : candidate["workload"]) {
            const std::string text = group["steps"].dump();
            const size_t x = text.find("\"x\""), y = text.find("\"y\"");
            if (x != std::string::npos && y != std::string::npos && x < y && group["threads"] >= 3)
                return true;
        }
        return false;
    };
    REQUIRE(fails(scenario));
    const Shrunk shrunk = shrink(scenario, fails, 10'000);
    CHECK(shrunk.finished);
    CHECK(fails(shrunk.scenario));
    const ScenarioSize size = scenario_size(shrunk.scenario);
    CHECK(size.threads == 3);
    CHECK(size.steps == 2);
    CHECK(shrunk.scenario["params"]["n"] == 1);
    CHECK(shrunk.scenario["machine"]["cpus"] == 1);
    CHECK_FALSE(shrunk.scenario.contains("expect"));

    const Shrunk cut = shrink(scenario, fails, 3);
    CHECK_FALSE(cut.finished);
    CHECK(cut.trials == 3);
    CHECK(fails(cut.scenario));
}
