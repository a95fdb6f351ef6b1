#include "analysis/whatif.h"

#include "analysis/metric.h"

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

TEST_CASE("of a time less is better, so that what makes it longer is no gain")
{
    for (const char *time : {"ops.create.latency_ns.p99", "simulated_ns", "locks[x].wait_ns.total"})
        CHECK(less_is_better(time));
    for (const char *other : {"ops.create.per_s", "counters.dnode_next_offset", "stack.bytes", "counters.a_nsx",
                              "locks[x].wait_ns.total / ops.create.count"})
        CHECK_FALSE(less_is_better(other));
    const std::vector<Trial> trials = top_trials(result(), 2);
    const std::string metric = "ops.create.latency_ns.p99";
    Json ranking = Json::array({ranking_entry(trials[0], 0, metric, 100, outcome(464.7, "second")),
                                ranking_entry(trials[1], 0, metric, 100, outcome(50, "first")),
                                ranking_entry(trials[2], 0, metric, 100, outcome(0, "first"))});
    sort_by_gain(ranking);
    CHECK(ranking[0]["name"] == "second");
    CHECK(ranking[0]["gain"] == 2.0);
    CHECK(ranking[1]["gain"].get<double>() < 1);
    CHECK(ranking[2]["gain"].is_null());
    const std::string text = whatif_text(whatif_json(result(), metric, ranking, std::nullopt), {});
    CHECK(text.find("Less of it is better, so a gain is before / after.") != std::string::npos);
    CHECK(text.find("Removing the top lock makes it longer: with first free it grows to") != std::string::npos);
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

TEST_CASE("of pairs it says which gains most, and what the top lock does together with another")
{
    const std::vector<Trial> singles = top_trials(result(), 2); // first, second, worker, spinner
    const auto entry = [](const Trial &trial, double after) {
        return ranking_entry(trial, 0, "ops.create.per_s", 100, outcome(after, "second"));
    };
    const Json ranking = Json::array({entry(singles[1], 150), entry(singles[0], 90)});
    const std::vector<Trial> pairs = pair_trials(singles);
    const auto words = [&](double with_second, double with_worker) {
        Json list = Json::array({entry(pairs[0], with_second), entry(pairs[1], with_worker)});
        sort_by_gain(list);
        const Json whatif = whatif_json(result(), "ops.create.per_s", ranking, list);
        std::string text;
        for (const Json &sentence : whatif["words"])
            text += sentence.get<std::string>() + "\n";
        return text;
    };
    CHECK(pairs[0].name() == "first + second");
    CHECK(words(300, 95) ==
          "With second free, ops.create.per_s goes from 100 to 150.0 (1.500x); on top is then second.\n"
          "Removing the top lock loses throughput: with first free it falls to 90.00 (0.9000x), for what waited for it "
          "crowds on second.\n"
          "Together with another it gains: first + second free, 3.000x.\n"
          "But not with every other: first + worker free, 0.9500x.\n"
          "Of two at once, first + second free gains most: 3.000x, against 1.500x for the best one alone.\n");
    CHECK(words(85, 80).find("Nor does it gain together with another: first + worker free, 0.8000x.") !=
          std::string::npos);
}

TEST_CASE("where nothing gains, that is said, and only then")
{
    const std::vector<Trial> trials = top_trials(result(), 1);
    const auto first_words = [&](double after) {
        const Json ranking = Json::array({ranking_entry(trials[1], 0, "ops.create.per_s", 100, outcome(after, "x"))});
        return whatif_json(result(), "ops.create.per_s", ranking, std::nullopt)["words"];
    };
    CHECK(first_words(100) == Json::array({"None of them gains anything."}));
    CHECK(first_words(110).size() == 1); // a function: no lock of it to name
    CHECK(first_words(110)[0].get<std::string>().starts_with("With worker free"));
}
