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

TEST_CASE("another seed is another run, and the seed is in the result")
{
    std::string name = scenarios::library_names().front();
    Json overrides = small_sizes()[name];
    overrides["seed"] = 12345;
    CHECK(analysis::report_json(small_run(name, overrides))["scenario"]["seed"] == 12345);
}
