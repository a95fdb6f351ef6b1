// Fitting a machine to figures that a run with known values gave: the same figures come back, the same bytes at any -j
// and however often it was interrupted, and what is wrong in the file is told with its place.
#include "tests/cli/program.h"

#include <cmath>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using Json = nlohmann::ordered_json;

namespace {

constexpr const char *scenario = R"({
  "name": "small", "params": { "objects": 300 },
  "machine": { "profile": "xeon-2016", "cpus": 4, "cpus_per_socket": 2 },
  "workload": [ { "name": "allocator", "threads": 4, "steps": [ { "op": "alloc", "count": "$objects" } ] } ]
})";

struct Known {
    const char *parameter;
    double value, from, to;
};
constexpr Known known[] = {
    {"instruction_ns", 0.3, 0.05, 2}, {"transfer_other_socket_ns", 150, 20, 800}, {"miss_ns", 100, 10, 600}};

struct Wanted {
    const char *name, *set, *metric;
};
constexpr Wanted wanted[] = {{"alone", R"({"machine.cpus": 1})", "ops.alloc.per_s"},
                             {"one socket", R"({"machine.cpus": 2})", "ops.alloc.per_s"},
                             {"two sockets", R"({"machine.cpus": 4})", "ops.alloc.per_s"},
                             {"share", R"({"machine.cpus": 4})", "cpu.functions[dmu_object_alloc].share"}};

// What a path of keys and one [name] leads to; only the metrics above.
double figure(const Json &result, const std::string &metric)
{
    if (metric == "ops.alloc.per_s")
        return result["ops"]["alloc"]["per_s"].get<double>();
    for (const Json &function : result["cpu"]["functions"])
        if (function["name"] == "dmu_object_alloc")
            return function["share"].get<double>();
    FAIL("no such function");
    return 0;
}

// The targets as a run with the known values gives them; the search begins `times` off.
std::string targets(const Folder &folder, double times, int rounds)
{
    const std::string small = folder.write("small.json", scenario);
    Json file = {{"profile", "xeon-2016"}, {"free", Json::array()}, {"targets", Json::array()}};
    for (const Known &one : known)
        file["free"].push_back(
            {{"parameter", one.parameter}, {"from", one.from}, {"to", one.to}, {"start", one.value * times}});
    for (const Wanted &one : wanted) {
        std::vector<std::string> words = {"run", small, "--json"};
        const Json set = Json::parse(one.set);
        for (const auto &[path, value] : set.items())
            words.insert(words.end(), {"--set", path + "=" + value.dump()});
        for (const Known &value : known)
            words.insert(words.end(),
                         {"--set", "machine." + std::string(value.parameter) + "=" + Json(value.value).dump()});
        const Ran ran = dmusim(words);
        REQUIRE(ran.status == 0);
        file["targets"].push_back({{"name", one.name},
                                   {"scenario", small},
                                   {"set", set},
                                   {"metric", one.metric},
                                   {"value", figure(Json::parse(ran.out), one.metric)}});
    }
    file["ratios"] = Json::array({{{"name", "two to one"}, {"of", "two sockets"}, {"to", "alone"}, {"value", 2}}});
    file["trials"] = 10;
    file["rounds"] = rounds;
    return folder.write("targets.json", file.dump());
}

} // namespace

TEST_CASE(
    "from a start where every value is doubled the fit comes back to the figures; interrupted and resumed, to the "
    "same bytes")
{
    Folder folder;
    const std::string file = targets(folder, 2, 8);
    const Ran one = dmusim({"calibrate", file, "-o", folder.file("one.json"), "-j", "1", "--json"});
    INFO(one.err);
    REQUIRE(one.status == 0);
    const Json report = Json::parse(one.out);
    CHECK(report["cost_at_start"].get<double>() > 0.1);
    for (const Json &target : report["targets"]) {
        INFO(target.dump());
        CHECK(std::abs(target["residual_percent"].get<double>()) < 3);
        CHECK(target.contains("left_out"));
    }
    for (const std::string &name : folder.names())
        CHECK(name.find("journal") == std::string::npos);

    // Interrupted again and again, each time a little later.
    Ran ran;
    int interrupted = 0;
    for (int after_ms = 300;; after_ms += 200) {
        How how;
        how.interrupt_after_ms = after_ms;
        ran = dmusim({"calibrate", file, "-o", folder.file("two.json"), "-j", "2", "--json"}, how);
        if (ran.status == 0)
            break;
        REQUIRE(ran.status == 130);
        ++interrupted;
        CHECK(read_file(folder.file("two.json")).empty()); // whole or not at all
    }
    CHECK(interrupted > 0);
    CHECK(ran.out == one.out);
    CHECK(read_file(folder.file("two.json")) == read_file(folder.file("one.json")));

    // A scenario takes it as its machine.
    const Ran fitted = dmusim({"run", folder.file("small.json"), "--set", "machine.profile=" + folder.file("one.json"),
                               "--set", "machine.cpus=1", "--json"});
    INFO(fitted.err);
    REQUIRE(fitted.status == 0);
    CHECK(figure(Json::parse(fitted.out), "ops.alloc.per_s") ==
          doctest::Approx(report["targets"][0]["fitted"].get<double>()).epsilon(0.001));
}

TEST_CASE("kept runs are not run again, and the report for people names every target and parameter")
{
    Folder folder;
    const std::string file = targets(folder, 1, 1);
    const std::vector<std::string> words = {"calibrate", file, "--runs", folder.file("runs"), "--no-leave-one-out"};
    const Ran first = dmusim(words);
    INFO(first.err);
    REQUIRE(first.status == 0);
    const std::string kept = read_file(folder.file("runs"));
    CHECK(!kept.empty());
    const Ran again = dmusim(words);
    CHECK(again.out == first.out);
    CHECK(read_file(folder.file("runs")) == kept);
    for (const Wanted &one : wanted)
        CHECK(first.out.find(one.name) != std::string::npos);
    for (const Known &one : known)
        CHECK(first.out.find(one.parameter) != std::string::npos);
    CHECK(first.out.find("left out") == std::string::npos);
}

TEST_CASE("overrides of the whole file hold for every target, a target's own over them, the command line's over both")
{
    Folder folder;
    Json file = Json::parse(read_file(targets(folder, 1, 0)));
    file["trials"] = 0;
    const auto figures = [&](std::vector<std::string> more) {
        std::vector<std::string> words = {"calibrate", folder.write("set.json", file.dump()), "--no-leave-one-out",
                                          "--json"};
        words.insert(words.end(), more.begin(), more.end());
        const Ran ran = dmusim(words);
        INFO(ran.err);
        REQUIRE(ran.status == 0);
        const Json report = Json::parse(ran.out);
        std::vector<double> list;
        for (const Json &target : report["targets"])
            list.push_back(target["fitted"].get<double>());
        return list;
    };
    const std::vector<double> own = figures({});
    CHECK(own[0] != own[1]);

    file["set"] = {{"machine.cpus", 1}};
    CHECK(figures({}) == own);
    file["targets"][1].erase("set");
    CHECK(figures({})[1] == own[0]);
    const std::vector<double> over = figures({"--set", "machine.cpus=2"});
    CHECK(over[0] == own[1]);
    CHECK(over[1] == own[1]);
}

TEST_CASE("a mistake in the targets is told with its place before anything runs")
{
    Folder folder;
    const Json good = Json::parse(read_file(targets(folder, 1, 1)));
    const auto refused = [&](Json file, const std::string &place, const std::string &problem) {
        const std::string path = folder.write("bad.json", file.dump(2));
        const Ran ran = dmusim({"calibrate", path, "-o", folder.file("no.json")});
        INFO(ran.err);
        CHECK(ran.status == 2);
        CHECK(ran.err.find(place) != std::string::npos);
        CHECK(ran.err.find(problem) != std::string::npos);
        CHECK(read_file(folder.file("no.json")).empty());
    };
    Json bad = good;
    bad["profile"] = "vm-2106";
    refused(bad, "profile", "vm-2016");
    bad = good;
    bad["free"][0]["parameter"] = "instruction_nss";
    refused(bad, "free.0.parameter", "instruction_ns");
    bad = good;
    bad["free"][1] = bad["free"][0];
    refused(bad, "free.1.parameter", "twice");
    bad = good;
    bad["free"][0]["start"] = 3;
    refused(bad, "free.0", "begin");
    bad = good;
    bad["free"][0]["to"] = 0.04;
    refused(bad, "free.0", "above");
    bad = good;
    for (int i = 0; i < 10; ++i)
        bad["free"].push_back(bad["free"][0]);
    refused(bad, "free", "1 to 12");
    bad = good;
    bad["targets"][0]["value"] = 0;
    refused(bad, "targets.0.value", "above 0");
    bad = good;
    bad["targets"][0]["metric"] = "opps.alloc.per_s";
    refused(bad, "targets.0.metric", "ops");
    bad = good;
    bad["targets"][1]["name"] = bad["targets"][0]["name"];
    refused(bad, "targets.1.name", "two targets");
    bad = good;
    bad["targets"][0]["set"]["machine.cpsu"] = 3;
    refused(bad, "machine.cpsu", "cpus");
    bad = good;
    bad["ratios"][0]["of"] = "nobody";
    refused(bad, "ratios.0.of", "nobody");
    bad = good;
    bad["trails"] = 3;
    refused(bad, "trails", "trials");
    bad = good;
    for (Json &target : bad["targets"])
        target["weight"] = 0;
    refused(bad, "targets", "weight");
    bad = good;
    bad.erase("free");
    refused(bad, "", "lacks \"free\"");
}

TEST_CASE("a metric that a run does not have, or that is nothing, ends the calibration as bad input")
{
    Folder folder;
    Json file = Json::parse(read_file(targets(folder, 1, 1)));
    file["targets"][0]["metric"] = "ops.free.per_s";
    const Ran ran = dmusim({"calibrate", folder.write("bad.json", file.dump()), "-j", "1"});
    INFO(ran.err);
    CHECK(ran.status == 2);
    CHECK(ran.err.find("targets.0.metric") != std::string::npos);
}
