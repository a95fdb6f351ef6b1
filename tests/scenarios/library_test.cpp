// Every built-in scenario, small, twice: the same digest, the same counters, and the end that it describes.
#include "tests/scenarios/run_fixture.h"

#include <doctest/doctest.h>

using namespace scenarios;
using namespace scenarios_test;

namespace {

// Everything counted in params at a twentieth, threads and machine as they are.
std::vector<std::string> at_a_twentieth(const Scenario &scenario)
{
    std::vector<std::string> sets;
    for (const Param &param : scenario.params)
        if (!param.amount.time && param.amount.value >= 1000)
            sets.push_back("params." + param.name + "=" + decimal(param.amount.value / 20));
    return sets;
}

} // namespace

TEST_CASE("every built-in scenario ends as it should and repeats itself exactly")
{
    CHECK(library_names().size() >= 6);
    for (const std::string &name : library_names()) {
        CAPTURE(name);
        const bool ends_badly = name.find("deadlock") != std::string::npos;
        const bool gets_nowhere =
            name.find("livelock") != std::string::npos || name.find("unassignable") != std::string::npos;
        // A bad end needs its full size, and comes soon.
        const std::vector<std::string> sets =
            ends_badly || gets_nowhere ? std::vector<std::string>() : at_a_twentieth(load_scenario(name));
        const RunResult first = run_text(open_scenario(name).root.dump(), sets);
        const RunResult again = run_text(open_scenario(name).root.dump(), sets);
        CAPTURE(first.ending);
        CHECK(first.end == (ends_badly ? End::deadlock : gets_nowhere ? End::livelock : End::completed));
        CHECK(first.digest == again.digest);
        CHECK(first.simulated_ps == again.simulated_ps);
        CHECK(first.counters == again.counters);
    }
}

TEST_CASE("every built-in scenario says what to look for and why its expectations hold")
{
    for (const std::string &name : library_names()) {
        CAPTURE(name);
        const Scenario scenario = load_scenario(name);
        CHECK(scenario.name == name);
        CHECK(scenario.description.find("ook for") != std::string::npos);
        for (const json &expectation : scenario.expect)
            CHECK_FALSE(expectation.at("because").get<std::string>().empty());
    }
}
