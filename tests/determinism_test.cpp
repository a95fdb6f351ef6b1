// The same scenario gives the same bytes: twice in one process, and whether anybody observes it or not.
#include "sim/observer.h"
#include "tests/small_runs.h"

#include <doctest/doctest.h>

using analysis::Json;

TEST_CASE("every built-in scenario gives the same bytes twice in one process, observed or not")
{
    Json overrides = small_sizes();
    for (const std::string &name : scenarios::library_names()) {
        INFO(name);
        scenarios::RunResult first = small_run(name, overrides[name]);
        std::string expected = analysis::dump(analysis::report_json(first));
        CHECK(analysis::dump(analysis::report_json(small_run(name, overrides[name]))) == expected);
        sim::Observer observer; // hears everything, keeps nothing
        CHECK(analysis::dump(analysis::report_json(small_run(name, overrides[name], &observer))) == expected);
    }
}

// What is simulated does not depend on how the kernel saves its own work: locks released ahead of their
// time, and equal holds counted together, which somebody who hears of every frame and hold forbids.
TEST_CASE("every built-in scenario comes out the same without the kernel's short cuts")
{
    struct EverythingHeard final : sim::Observer {
        bool wants_holds() const override { return true; }
        bool wants_frames() const override { return true; }
    };
    Json overrides = small_sizes();
    for (const std::string &name : scenarios::library_names()) {
        INFO(name);
        const scenarios::RunResult first = small_run(name, overrides[name]);
        const scenarios::RunResult in_turn = small_run(name, overrides[name], nullptr, false);
        EverythingHeard observer;
        const scenarios::RunResult heard = small_run(name, overrides[name], &observer);
        CHECK(in_turn.end == first.end);
        CHECK(heard.end == first.end);
        const std::string expected = analysis::dump(analysis::report_json(first));
        CHECK(analysis::dump(analysis::report_json(in_turn)) == expected);
        CHECK(analysis::dump(analysis::report_json(heard)) == expected);
    }
}

TEST_CASE("another seed is another run, and the seed is in the result")
{
    std::string name = scenarios::library_names().front();
    Json overrides = small_sizes()[name];
    overrides["seed"] = 12345;
    CHECK(analysis::report_json(small_run(name, overrides))["scenario"]["seed"] == 12345);
}
