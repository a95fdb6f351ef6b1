// A scenario means what it says, and everything else is refused with its place.
#include "scenarios/library.h"

#include <doctest/doctest.h>

using namespace scenarios;

namespace {

const std::string plain = R"({
 "params": {"files": 1000, "threads": 10},
 "machine": {"cpus": 4},
 "workload": [ {"threads": "$threads",
   "steps": [{"repeat": "$files / $threads", "steps": [{"op": "alloc"}]}]} ],
 "expect": [{"metric": "ops.alloc.count", "equals": "$files"}]
})";

std::string outcome(const std::string &text, const std::vector<std::string> &sets = {})
{
    try {
        std::vector<Override> overrides;
        for (const std::string &set : sets)
            overrides.push_back(parse_override(set));
        read_scenario(parse_json("f", text), overrides);
    } catch (const InputError &error) {
        return error.what();
    }
    return "accepted";
}

bool says(const std::string &message, const std::string &part)
{
    INFO(message);
    const bool found = message.find(part) != std::string::npos;
    CHECK(found);
    return found;
}

std::string with_step(const std::string &step)
{
    return R"({"workload": [{"steps": [)" + step + "]}]}";
}

} // namespace

TEST_CASE("parameters stand for numbers, everything else has its default")
{
    const Scenario scenario = read_scenario(parse_json("f", plain));
    CHECK(scenario.workload.at(0).threads == 10);
    CHECK(scenario.workload.at(0).name == "group0");
    CHECK(scenario.workload.at(0).steps.at(0).rounds.value == 100);
    CHECK(scenario.machine.cpus == 4);
    CHECK(scenario.seed == 1);
    CHECK(scenario.expect.at(0).at("equals") == 1000);
}

TEST_CASE("the era sets every choice below it, and each can still be set alone")
{
    const Scenario scenario = read_scenario(
        parse_json("f", plain), {parse_override("code.rescan_threshold=4096"), parse_override("code.era=zol-2017")});
    CHECK(scenario.config.code.object_alloc == "per-cpu");
    CHECK(scenario.config.code.rescan_threshold == 4096);
    CHECK(scenario.config.dataset.meta_indirect_shift == 17);
}

TEST_CASE("the effective scenario reads as the same scenario again")
{
    std::vector<std::string> names = library_names();
    std::vector<Document> documents = {parse_json("f", plain)};
    for (const std::string &name : names)
        documents.push_back(open_scenario(name));
    for (const Document &document : documents) {
        const json effective = scenario_json(read_scenario(document));
        CHECK(scenario_json(read_scenario(parse_json("again", effective.dump()))) == effective);
    }
}

TEST_CASE("an override replaces a value, and an unknown path names the nearest one")
{
    CHECK(outcome(plain, {"machine.cpus=8", "workload.0.threads=20", "pool.txg_timeout=1s", "name=bare text"}) ==
          "accepted");
    says(outcome(plain, {"machine.cpsu=3"}),
         "--set machine.cpsu=3: machine.cpsu: unknown key \"cpsu\"; did you mean \"cpus\"?");
    says(outcome(plain, {"params.fils=3"}),
         "--set params.fils=3: params.fils: unknown parameter \"fils\"; did you mean \"files\"?");
    says(outcome(plain, {"params.threads=3"}),
         "f:5:25: workload.0.steps.0.repeat: \"$files / $threads\": 1000 / 3 does not come out whole");
    says(outcome(plain, {"a.b=1"}), "--set a.b=1: a: unknown key");
    says(outcome(plain, {"workload.1.threads=1"}),
         "--set workload.1.threads=1: workload.1.threads: \"workload\" is a list of 1");
    says(outcome(plain, {"seed=-1"}), "--set seed=-1: seed: is -1; allowed is 0 to 18446744073709551615");
    says(outcome(plain, {"seed=18446744073709551616"}), "allowed is");
    says(outcome(plain, {"machine={\"cpus\":1,\"cpus\":2}"}), "appears twice");
    says(outcome(plain, {"threads"}), "is not PATH=VALUE");
}

TEST_CASE("unknown keys, wrong types and values out of range are refused at their place")
{
    says(outcome("{\n \"worklod\": []}"), "f:2:2: worklod: unknown key \"worklod\"; did you mean \"workload\"?");
    says(outcome("{}"), "f:1:1: lacks \"workload\"");
    says(outcome("[]"), "f:1:1: is a list, not a scenario");
    says(outcome(R"({"workload": []})"), "f:1:14: workload: is empty");
    says(outcome(plain, {"workload.0.threads=0"}), "workload.0.threads: is 0; allowed is 1 to 200000");
    says(outcome(plain, {"workload.0.threads=1.5"}), "fraction");
    says(outcome(plain, {"workload.0.threads=true"}), "not a whole number");
    says(outcome(plain, {"machine.cpus=[]"}), "is a list, not a whole number");
    says(outcome(plain, {"pool.txg_timeout=5"}), "without a unit");
    says(outcome(plain, {"dataset.recordsize=1000"}), "power of two");
    says(outcome(plain, {"code.object_alloc=percpu"}), "did you mean \"per-cpu\"?");
    says(outcome(plain, {"code.era=zol-2061"}), "unknown era");
    says(outcome(plain, {"workload.0.cpus=[4]"}), "names CPU 4; the machine has 0 to 3");
    says(outcome(plain, {"workload.0.cpus=3..1"}), "lower end is above");
    says(outcome(plain, {"workload.0.cpus=[0,0]"}), "twice");
    says(outcome(plain, {"record=[\"object\"]"}), "did you mean \"objects\"?");
    says(outcome(plain, {"expect.0={\"metric\":\"x\"}"}), "expects nothing");
    says(outcome(plain, {R"(expect=[{"metric":"ops.alloc.count","within":{"of":5,"percent":-1}}])"}),
         "expect.0.within.percent: is below 0");
    says(outcome(plain, {R"(expect=[{"metric":"ops.alloc.count","at_least":5,"at_most":1}])"}),
         "expect.0.at_least: is above \"at_most\"");
    CHECK(outcome(plain, {R"(expect=[{"metric":"ops.alloc.count","at_least":1,"at_most":1.5}])"}) == "accepted");
    says(outcome(plain, {"warmup={\"op\":\"claim\",\"count\":1}"}), "which the workload never does");
    says(outcome(plain, {"params={\"a b\":1}"}), "is set number by number, such as params.NAME=8");
    says(outcome(R"({"params": {"a b": 1}, "workload": []})"), "is no name for a parameter");
}

TEST_CASE("steps are of exactly one kind, and an operation's fields are its own")
{
    says(outcome(with_step("{}")), "a step has one of the keys");
    says(outcome(with_step(R"({"repeet": 1})")),
         "f:1:27: workload.0.steps.0.repeet: unknown kind of step \"repeet\"; did you mean \"repeat\"?");
    says(outcome(with_step(R"({"op": "aloc"})")), "unknown op \"aloc\"; did you mean \"alloc\"?");
    says(outcome(with_step(R"({"op": "alloc", "sleep": "1s"})")), "second kind of step");
    says(outcome(with_step(R"({"op": "sync", "count": 2})")), "unknown key \"count\"");
    says(outcome(with_step(R"({"op": "alloc", "slots": 33})")), "allowed is 1 to 32");
    says(outcome(with_step(R"({"op": "alloc", "count": "{m}"})")), "unknown placeholder \"m\"");
    says(outcome(with_step(R"({"op": "free"})")), "frees nothing");
    says(outcome(with_step(R"({"op": "free", "which": "all", "objects": [1]})")), "has both");
    says(outcome(with_step(R"({"op": "free", "objects": [[1, 10, 2]]})")), "does not lead from 1 to 10");
    says(outcome(with_step(R"({"op": "free", "objects": [[1, 10]]})")), "[first, last, stride]");
    const auto add = [](const std::string &value) {
        return outcome(with_step(R"({"op": "zap_add", "zap": "z", "name": "n", )" + value + "}"));
    };
    says(add(R"("value": 256, "integer_size": 1)"),
         "workload.0.steps.0.value: is 256; an integer of integer_size 1 is at most 255");
    says(add(R"("integer_size": 2, "values": [1, 65536])"), "workload.0.steps.0.values.1: is 65536");
    says(add(R"("value": 1, "values": [1, 2])"), "workload.0.steps.0.value: is given beside \"values\"");
    CHECK(add(R"("value": 255, "integer_size": 1)") == "accepted");
    CHECK(add(R"("value": 18446744073709551615)") == "accepted");
    says(outcome(with_step(R"({"op": "claim", "objects": [0]})")), "allowed is 1");
    says(outcome(with_step(R"({"op": "claim"})")), "lacks \"objects\"");
    says(outcome(with_step(R"({"steps": []})")), "unknown kind of step");
    says(outcome(with_step(R"({"repeat": 1})")), "lacks \"steps\"");
    says(outcome(with_step(R"({"choose": []})")), "list of alternatives");
    says(outcome(with_step(R"({"choose": [{"weight": 0, "steps": []}]})")), "weight above 0");
    CHECK(outcome(with_step(R"({"repeat": 0, "shared": true, "steps": []})")) == "accepted");
    CHECK(outcome(with_step(R"({"op": "free", "objects": [5, [9, 3, -3], [1, 1, 7]]})")) == "accepted");
}

TEST_CASE("a repeat that only time ends does something that takes time")
{
    for (const char *round : {"", R"({"sleep": "0s"}, {"think": 0})", R"({"repeat": 5, "steps": []})",
                              R"({"choose": [{"weight": 1, "steps": []}, {"weight": 0, "steps": [{"sleep": "1s"}]}]})"})
        says(outcome(with_step(R"({"for": "1s", "steps": [)" + std::string(round) + "]}")),
             "workload.0.steps.0.for: never comes to an end: none of the steps takes any simulated time");
    CHECK(outcome(with_step(R"({"for": "1s", "every": "1ms", "steps": []})")) == "accepted");
    CHECK(outcome(with_step(R"({"for": "1s", "repeat": 3, "steps": []})")) == "accepted");
    CHECK(outcome(with_step(R"({"for": "1s", "steps": [{"sleep": "{rand:0..1}ns"}]})")) == "accepted");
    CHECK(outcome(with_step(R"({"for": "1s", "steps": [{"choose": [{"steps": []}, {"steps": [{"op": "sync"}]}]}]})")) ==
          "accepted");
}

TEST_CASE("scripts may nest to the reader's depth and no further")
{
    std::string text = R"({"op": "alloc"})";
    for (int depth = 0; depth < 40; ++depth)
        text = R"({"repeat": 1, "steps": [)" + text + "]}";
    CHECK(outcome(with_step(text)) == "accepted");
    for (int depth = 0; depth < 40; ++depth)
        text = R"({"repeat": 1, "steps": [)" + text + "]}";
    says(outcome(with_step(text)), "nested deeper");
}

TEST_CASE("a name that is neither a file nor built in is said to be neither")
{
    CHECK_THROWS_WITH_AS(open_scenario("/nowhere.json"), "/nowhere.json: cannot be read: No such file or directory",
                         InputError);
    CHECK_THROWS_AS(open_scenario("no-such-scenario"), InputError);
    CHECK_THROWS_AS(open_scenario("/"), InputError);
}

TEST_CASE("owners are refused where files are made without a file system")
{
    const auto problem = [](const std::string &fields) {
        const std::string text = R"({"code": {"create_path": "dmu"}, "workload": [{"steps": [
            {"op": "create", "name": "f")" +
                                 fields + "}, {\"op\": \"mkdir\", \"dir\": \"d\", \"owner\": 3}]}]}";
        try {
            read_scenario(parse_json("test", text), {});
        } catch (const InputError &error) {
            return error.path + " " + error.problem;
        }
        return std::string();
    };
    CHECK(problem("") == ""); // a directory has an owner
    CHECK(problem(R"(, "owner": 0, "group": 0)") == "");
    for (const std::string field : {"owner", "group"}) {
        CHECK(problem(", \"" + field + "\": 7").starts_with("workload.0.steps.0." + field));
        CHECK(problem(", \"" + field + "\": \"{i}\"").find("create_path") != std::string::npos);
    }
}
