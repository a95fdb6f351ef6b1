#include "analysis/whatif.h"

#include <doctest/doctest.h>

using namespace analysis;

namespace {

Json result()
{
    return Json::parse(R"({ "complete": true, "end": "completed", "scenario": { "name": "s" },
      "ops": { "create": { "count": 10, "per_s": 100 }, "unlink": { "count": 3, "per_s": 30 } },
      "locks": [ { "class": "first", "wait_ns": { "total": 50 } }, { "class": "second", "wait_ns": { "total": 20 } },
                 { "class": "idle", "wait_ns": { "total": 0 } } ],
      "cpu": { "functions": [ { "name": "spinner", "self_ns": 90, "spin_ns": 80 }, { "name": "worker", "self_ns": 60, "spin_ns": 0 } ] } })");
}

Json outcome(double value, const char *next)
{
    return {{"complete", true}, {"end", "completed"}, {"value", value}, {"next", next}};
}

} // namespace

TEST_CASE("tried are the locks that were waited for, and the functions by time of their own without spinning")
{
    const std::vector<Trial> trials = top_trials(result(), 5);
    REQUIRE(trials.size() == 4);
    CHECK(trials[0].name() == "first");
    CHECK(trials[1].name() == "second");
    CHECK(trials[2].name() == "worker");
    CHECK(trials[3].name() == "spinner");
    CHECK(trials[2].kind() == "function");
    CHECK(pair_trials(trials).size() == 6);
    CHECK(throughput_metric(result()) == "ops.create.per_s");
    CHECK(top_of(result()) == "first");
    CHECK(trials[0].suppositions(0).dump() == R"([{"lock":"first","factor":0}])");
}

TEST_CASE("the ranking is by gain, and says when removing the top lock loses")
{
    const std::vector<Trial> trials = top_trials(result(), 2);
    Json ranking = Json::array({ranking_entry(trials[0], 0, "ops.create.per_s", 100, outcome(80, "second")),
                                ranking_entry(trials[1], 0, "ops.create.per_s", 100, outcome(250, "first")),
                                ranking_entry(trials[2], 0, "ops.create.per_s", 100, nullptr)});
    sort_by_gain(ranking);
    CHECK(ranking[0]["name"] == "second");
    CHECK(ranking[0]["gain"] == 2.5);
    CHECK(ranking[1]["gain"] == 0.8);
    CHECK(ranking[2]["gain"].is_null());
    CHECK(ranking[2]["end"] == "no result");
    const Json whatif = whatif_json(result(), "ops.create.per_s", ranking, std::nullopt);
    CHECK(whatif["ranking"].size() == 3);
    std::string words;
    for (const Json &sentence : whatif["words"])
        words += sentence.get<std::string>() + "\n";
    CHECK(words.find("With second free") != std::string::npos);
    CHECK(words.find("Removing the top lock loses throughput") != std::string::npos);
    CHECK(whatif_text(whatif, {}).find("0.8000x") != std::string::npos);
}
