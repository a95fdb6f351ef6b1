// Everything that a user can get wrong: a message with its place, exit status 2, nothing on standard output, no crash.
#include "tests/cli/program.h"

#include <doctest/doctest.h>

namespace {

constexpr const char *small = R"({
  "name": "small",
  "params": { "objects": 64 },
  "workload": [
    { "name": "allocator", "threads": 1, "steps": [ { "op": "alloc", "count": "$objects" } ] }
  ]
})";

// `small` with one piece of text changed.
std::string altered(const std::string &from, const std::string &to)
{
    std::string text = small;
    size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

void refused(const Ran &ran, const std::vector<std::string> &told)
{
    INFO("standard error: ", ran.err);
    CHECK(ran.status == 2);
    CHECK(ran.out == "");
    for (const std::string &part : told) {
        INFO("wanted in it: ", part);
        CHECK(ran.err.find(part) != std::string::npos);
    }
}

void file_refused(const std::string &text, const std::vector<std::string> &told)
{
    Folder folder;
    std::string path = folder.write("bad.json", text);
    for (const char *command : {"run", "validate"})
        refused(dmusim({command, path}), told);
}

} // namespace

TEST_CASE("the scenario that the bad ones are made of is good")
{
    Folder folder;
    Ran ran = dmusim({"validate", folder.write("small.json", small)});
    INFO(ran.err);
    CHECK(ran.status == 0);
}

TEST_CASE("an unknown key is told with the nearest one and its place")
{
    file_refused(altered("\"params\"", "\"parms\""), {"bad.json:3:3:", "parms", "params"});
    file_refused(altered("\"threads\"", "\"thread\""), {"bad.json:5:28:", "workload.0", "threads"});
}

TEST_CASE("wrong types, values out of range and unknown names are told with what is allowed")
{
    file_refused(altered("\"threads\": 1", "\"threads\": \"many\""), {"bad.json:5:39:", "workload.0.threads"});
    file_refused(altered("\"threads\": 1", "\"threads\": 0"), {"workload.0.threads"});
    file_refused(altered("\"threads\": 1", "\"threads\": -3"), {"workload.0.threads"});
    file_refused(altered("\"threads\": 1", "\"threads\": 1.5"), {"workload.0.threads"});
    file_refused(altered("\"threads\": 1", "\"threads\": 1000000000"), {"workload.0.threads"});
    file_refused(altered("\"alloc\"", "\"aloc\""), {"workload.0.steps.0", "aloc", "alloc"});
    file_refused(altered("\"$objects\"", "\"$object\""), {"workload.0.steps.0.count", "object"});
    file_refused(altered("\"$objects\"", "\"$objects / 7\""), {"workload.0.steps.0.count"});
}

TEST_CASE("no workload and no threads are nothing to simulate")
{
    file_refused(R"({"name": "idle"})", {"workload"});
    file_refused(R"({"name": "idle", "workload": []})", {"workload"});
}

TEST_CASE("what is not exactly JSON is refused where it stops being so")
{
    file_refused("", {"bad.json:1:1:"});
    file_refused(std::string(small).substr(0, 120), {"bad.json:"});
    file_refused(altered("\"name\": \"small\",", "\"name\": \"small\", \"name\": \"twice\","),
                 {"bad.json:2:20:", "name"});
    file_refused(altered("64", "18446744073709551616"), {"bad.json:3:26:"});
    file_refused(altered("64", "NaN"), {"bad.json:3:"});
    file_refused(altered("small", "sm\xff\xfe"
                                  "all"),
                 {"bad.json:2:", "UTF-8"});
    file_refused(std::string(10'000, '[') + std::string(10'000, ']'), {"bad.json:1:"});
    file_refused(altered("{ \"objects\": 64 }", std::string(10'000, '[') + std::string(10'000, ']')), {"bad.json:3:"});
    file_refused("[]", {"bad.json:1:1:"});
}

TEST_CASE("a folder, a missing file and an unreadable name are told by name")
{
    Folder folder;
    refused(dmusim({"run", folder.path()}), {folder.path()});
    refused(dmusim({"run", folder.file("missing.json")}), {"missing.json"});
    refused(dmusim({"validate", "no-such-scenario"}), {"no-such-scenario"});
    refused(dmusim({"conform", folder.path()}), {folder.path()});
    refused(dmusim({"conform", folder.file("missing.json")}), {"missing.json"});
}

TEST_CASE("a trace that is none is bad input")
{
    Folder folder;
    refused(dmusim({"conform", folder.write("a.json", "{}")}), {"a.json"});
    refused(dmusim({"conform", folder.write("b.json", R"({"format": "other"})")}), {"b.json", "format", "other"});
    refused(dmusim({"conform", folder.write("c.json", R"({"format": "alloc-oracle-1"})")}), {"c.json"});
    refused(dmusim({"conform", folder.write("d.json", R"({"format": "alloc-oracle-1", "format": 1})")}), {"d.json:1:"});
}

TEST_CASE("a command that lacks words says how many it takes, and an empty value is called empty")
{
    refused(dmusim({"compare", "a.json"}), {"compare: 2 words are wanted, 1 given: dmusim compare"});
    refused(dmusim({"import"}), {"import: 2 words are wanted, 0 given: dmusim import", "FORMAT"});
    refused(dmusim({"run", "x", "--set", ""}), {"run: --set: its value is empty"});
    refused(dmusim({"run", "x", "--seed="}), {"run: --seed: its value is empty"});
}

TEST_CASE("a name with several costs is listed once")
{
    const Ran ran = dmusim({"whatif", "alloc-one-txg", "--function", "nosuch"});
    refused(ran, {"nosuch", "dnode_hold_impl"});
    CHECK(ran.err.find(" dnode_hold_impl,") == ran.err.rfind(" dnode_hold_impl,"));
}

TEST_CASE("overrides are read as strictly as the file")
{
    Folder folder;
    std::string path = folder.write("small.json", small);
    refused(dmusim({"run", path, "--set", "machine.cpsu=3"}), {"--set", "machine.cpsu", "cpus"});
    refused(dmusim({"run", path, "--set", "machine.cpus=many"}), {"--set", "machine.cpus"});
    refused(dmusim({"run", path, "--set", "machine.cpus"}), {"--set"});
    refused(dmusim({"run", path, "--set", "workload.7.threads=2"}), {"--set", "workload"});
    refused(dmusim({"run", path, "--set", "params.obects=2"}), {"--set", "params"});
    refused(dmusim({"run", path, "--seed", "-1"}), {"--seed", "-1"});
    refused(dmusim({"run", path, "--seed=-1"}), {"--seed", "-1"});
    refused(dmusim({"run", path, "--seed", "+1"}), {"--seed"});
    refused(dmusim({"run", path, "--seed", "18446744073709551616"}), {"--seed"});
    refused(dmusim({"run", path, "--seed", "1e3"}), {"--seed"});
    refused(dmusim({"run", path, "--seed"}), {"--seed"});
    refused(dmusim({"run", path, "--seed", "1", "--seed", "2"}), {"--seed"});
    refused(dmusim({"run", path, "--cpus", "0"}), {"--cpus"});
}

TEST_CASE("a word that is nearly a command or an option is answered with the one that was meant")
{
    refused(dmusim({}), {"command"});
    refused(dmusim({"rnu"}), {"rnu", "run"});
    refused(dmusim({"run"}), {"SCENARIO"});
    refused(dmusim({"run", "x", "--jsno"}), {"--jsno", "--json"});
    refused(dmusim({"run", "x", "--color", "red"}), {"--color", "auto, always, never"});
    refused(dmusim({"--jsno"}), {"--jsno"});
    refused(dmusim({"list"}), {"topic"});
    refused(dmusim({"list", "era"}), {"era", "eras"});
    refused(dmusim({"list", "eras", "ops"}), {"ops"});
    refused(dmusim({"sweep", "x"}), {"--vary"});
    refused(dmusim({"sweep", "x", "--vary", "params.objects"}), {"--vary", "params.objects"});
    refused(dmusim({"sweep", "x", "--vary", "a=1", "-j", "0"}), {});
    refused(dmusim({"sweep", "-", "--vary", "a=1"}), {"sweep"});
}

TEST_CASE("a metric that no result can have is found before the simulation runs")
{
    std::string text =
        altered("\"params\"", "\"expect\": [{\"metric\": \"lokcs[x].contended\", \"at_most\": 1}], \"params\"");
    file_refused(text, {"expect.0.metric", "lokcs", "locks"});
}

TEST_CASE("control characters of a file's author do not reach the terminal")
{
    Folder folder;
    Ran ran = dmusim({"run", folder.write("bad.json", R"({"\u001b[2Jkey": 1})")});
    CHECK(ran.status == 2);
    CHECK(ran.err.find('\x1b') == std::string::npos);
    ran = dmusim({"run", "\x1b[2J.json"});
    CHECK(ran.status == 2);
    CHECK(ran.err.find('\x1b') == std::string::npos);
}

TEST_CASE("a number that a round makes impossible ends the run with its place")
{
    Folder folder;
    refused(dmusim({"run", folder.write("bad.json", R"({ "name": "rounds", "setup": [ { "op": "mkdir", "dir": "d" } ],
        "workload": [ { "steps": [ { "repeat": 3, "steps": [
          { "op": "create", "dir": "d", "name": "f{i}", "owner": "1 - {i}" } ] } ] } ] })")}),
            {"rounds", "workload.0.steps.0.steps.0"});
}
