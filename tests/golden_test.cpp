// Every built-in scenario, at a size that runs in a moment, against an expected report: what changed is seen in review.
//
// DMUSIM_ACCEPT=1 rewrites tests/golden/. A scenario that tests/golden/sizes.json does not list fails.
#include "analysis/report_text.h"
#include "tests/small_runs.h"

#include <cstdlib>
#include <doctest/doctest.h>

namespace {

using analysis::Json;

const std::string golden = DMUSIM_SOURCE_ROOT "/tests/golden/";

// The first line in which two texts differ, for the message.
std::string first_difference(const std::string &expected, const std::string &got)
{
    std::istringstream left(expected), right(got);
    std::string a, b;
    for (size_t line = 1;; ++line) {
        bool more_a = static_cast<bool>(std::getline(left, a)), more_b = static_cast<bool>(std::getline(right, b));
        if (!more_a && !more_b)
            return "none";
        if (!more_a || !more_b || a != b)
            return "line " + std::to_string(line) + "\n  expected " + (more_a ? a : "nothing") + "\n  got      " +
                   (more_b ? b : "nothing");
    }
}

void compare(const std::string &file, const std::string &got)
{
    if (const char *accept = std::getenv("DMUSIM_ACCEPT"); accept != nullptr && *accept == '1') {
        std::ofstream(golden + file, std::ios::binary) << got;
        return;
    }
    std::string expected = read_whole(golden + file);
    INFO("tests/golden/", file, ", ", first_difference(expected, got));
    CHECK(expected == got);
}

} // namespace

TEST_CASE("every built-in scenario, made small, gives the report that was accepted")
{
    Json overrides = small_sizes();
    REQUIRE(!scenarios::library_names().empty());
    for (const std::string &name : scenarios::library_names()) {
        INFO(name);
        REQUIRE(overrides.contains(name));
        compare(name + ".txt", analysis::report_text(analysis::report_json(small_run(name, overrides[name])), {}));
    }
}
