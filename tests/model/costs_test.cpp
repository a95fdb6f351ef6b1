// The cost table against what was recorded: data/costs.json has a line for each function, or for a group of functions
// that one recording cannot tell apart, with the self instructions they were read from.
#include "model/costs.h"
#include "tests/source_tree.h"

#include <cmath>
#include <doctest/doctest.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

using Json = nlohmann::json;

namespace {

Json evidence()
{
    std::ifstream file(std::string(DMUSIM_SOURCE_ROOT) + "/tests/data/costs.json");
    REQUIRE(file.good());
    return Json::parse(file);
}

constexpr double rounding = 1;     // each figure is a mean over many calls
constexpr double tolerance = 0.02; // means of several recordings differ by so much

} // namespace

TEST_CASE("every cost of the table is the recorded one, and every assumed one is called assumed")
{
    // Names stand once for each row of the table, in its order: two functions may share a name.
    std::vector<bool> told(std::size(dmu::costs), false);
    const auto row_of = [&](const std::string &name) {
        for (size_t i = 0; i < std::size(dmu::costs); ++i)
            if (!told[i] && dmu::costs[i].name == name) {
                told[i] = true;
                return i;
            }
        FAIL("no cost, or one line too many, of " << name);
        return size_t{0};
    };
    for (const Json &line : evidence()) {
        INFO(line.dump());
        const bool recorded = line.at("cost") == "recorded";
        uint32_t instructions = 0, steps = 0;
        for (const Json &name : line.at("functions")) {
            const dmu::cost_t &cost = dmu::costs[row_of(name)];
            CHECK(cost.recorded == recorded);
            instructions += cost.instructions;
            steps += cost.steps;
        }
        if (!recorded) {
            CHECK(steps == line.at("steps"));
            CHECK(steps > 0);
            continue;
        }
        CHECK(instructions == line.at("instructions"));
        if (instructions == 0) {
            CHECK(!line.at("counted").get<std::string>().empty()); // where they are
            continue;
        }
        double sum = 0;
        for (const Json &part : line.at("evidence")) {
            sum += part.at("self").get<double>() * part.value("times", 1) / part.at("calls").get<double>();
            CHECK(!part.at("file").get<std::string>().empty());
            CHECK(!part.at("op").get<std::string>().empty());
        }
        CHECK(std::abs(sum - instructions) <= std::max(rounding, tolerance * instructions));
    }
    for (size_t i = 0; i < told.size(); ++i) {
        INFO(dmu::costs[i].name);
        CHECK(told[i]);
    }
}
