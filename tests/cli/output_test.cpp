// What the program writes, and what happens where it cannot be written.
#include "scenarios/sections.h"
#include "tests/cli/program.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unistd.h>

using Json = nlohmann::ordered_json;

namespace {

constexpr const char *small = R"({
  "name": "small", "params": { "objects": 64 },
  "workload": [ { "name": "allocator", "threads": 2, "steps": [ { "op": "alloc", "count": "$objects" } ] } ]
})";

struct Small : Folder {
    std::string path = write("small.json", small);
};

} // namespace

TEST_CASE("run --json writes one JSON result and nothing else")
{
    Small folder;
    Ran ran = dmusim({"run", folder.path, "--json"});
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    CHECK(ran.err == "");
    Json result = Json::parse(ran.out);
    CHECK(result["format"] == "dmusim-result-1");
    CHECK(result["complete"] == true);
    CHECK(result["ops"]["alloc"]["count"] == 128);
    CHECK(result["scenario"]["machine"]["cpus"].is_number());
    // the effective scenario is a scenario again, and gives the same bytes
    Ran again = dmusim({"run", folder.write("effective.json", result["scenario"].dump()), "--json"});
    INFO(again.err);
    CHECK(again.status == 0);
    CHECK(Json::parse(again.out)["counters"] == result["counters"]);
}

TEST_CASE("run reads standard input, several scenarios and overrides")
{
    Small folder;
    Ran ran =
        dmusim({"run", "-", "--json", "--set", "params.objects=8", "--seed", "7", "--cpus", "3"}, {.input = small});
    REQUIRE(ran.status == 0);
    Json result = Json::parse(ran.out);
    CHECK(result["ops"]["alloc"]["count"] == 16);
    CHECK(result["scenario"]["seed"] == 7);
    CHECK(result["cpu"]["per_cpu"].size() == 3);
    Ran twice = dmusim({"run", folder.path, folder.path, "--json"});
    REQUIRE(twice.status == 0);
    size_t half = twice.out.size() / 2;
    CHECK(twice.out.substr(0, half) == twice.out.substr(half));
}

TEST_CASE("the report for people has no colour where it does not go to a terminal")
{
    Small folder;
    Ran ran = dmusim({"run", folder.path});
    REQUIRE(ran.status == 0);
    CHECK(ran.out.find('\x1b') == std::string::npos);
    CHECK(ran.out.find("Constants in effect") != std::string::npos);
    CHECK(dmusim({"run", folder.path, "--color", "always"}).out.find('\x1b') != std::string::npos);
    CHECK(dmusim({"run", folder.path, "-q"}).out == "");
}

TEST_CASE("texts of a scenario cannot send escapes to a terminal")
{
    Folder folder;
    Json scenario = Json::parse(small);
    scenario["name"] = "x\x1b[2J\n<script>";
    scenario["description"] = "a\x1b]0;title\x07";
    Ran ran = dmusim({"run", folder.write("evil.json", scenario.dump())});
    CHECK(ran.out.find('\x1b') == std::string::npos);
    CHECK(ran.out.find('\x07') == std::string::npos);
}

TEST_CASE("-o writes the whole file, leaves no other, and the report still goes to standard output")
{
    Small folder;
    Ran ran = dmusim({"run", folder.path, "-o", folder.file("result.json")});
    REQUIRE(ran.status == 0);
    CHECK(Json::parse(read_file(folder.file("result.json")))["complete"] == true);
    CHECK(ran.out.find("Constants in effect") != std::string::npos);
    CHECK(folder.names() == std::vector<std::string>{"result.json", "small.json"});
    // an existing file is replaced, and one that cannot be finished stays as it was
    folder.write("kept.json", "old");
    CHECK(dmusim({"run", folder.path, "--set", "machine.cpus=bad", "-o", folder.file("kept.json")}).status == 2);
    CHECK(read_file(folder.file("kept.json")) == "old");
}

TEST_CASE("-o onto a symbolic link writes the file that it names, which need not be there yet")
{
    Small folder;
    std::filesystem::create_directory(folder.file("far"));
    std::filesystem::create_symlink("far/target.json", folder.file("link.json"));
    std::filesystem::create_symlink(folder.file("link.json"), folder.file("twice.json"));
    for (const char *name : {"link.json", "twice.json"}) {
        REQUIRE(dmusim({"run", folder.path, "-q", "-o", folder.file(name)}).status == 0);
        CHECK(std::filesystem::is_symlink(folder.file(name)));
        CHECK(Json::parse(read_file(folder.file("far/target.json")))["complete"] == true);
        std::filesystem::remove(folder.file("far/target.json"));
    }
    CHECK(std::filesystem::is_empty(folder.file("far")));
    std::filesystem::create_symlink("round.json", folder.file("round.json"));
    CHECK(dmusim({"run", folder.path, "-q", "-o", folder.file("round.json")}).status == 1);
    std::filesystem::create_symlink("no/such/folder.json", folder.file("nowhere.json"));
    CHECK(dmusim({"run", folder.path, "-q", "-o", folder.file("nowhere.json")}).status == 1);
}

TEST_CASE("a full disk, an unwritable path, a closed or broken standard output end with 1 and a message")
{
    Small folder;
    auto failed = [](const Ran &ran, const std::string &told) {
        INFO(ran.err);
        CHECK(ran.status == 1);
        CHECK(ran.err.find(told) != std::string::npos);
    };
    for (std::vector<std::string> command : {std::vector<std::string>{"run", folder.path},
                                             {"run", folder.path, "--json"},
                                             {"validate", folder.path},
                                             {"list", "ops"},
                                             {"sweep", folder.path, "--vary", "seed=1,2", "-j", "1"},
                                             {"--help"},
                                             {"--version"},
                                             {"run", "--help"}}) {
        INFO(command[0]);
        failed(dmusim(command, {.out_path = "/dev/full"}), "No space left on device");
        failed(dmusim(command, {.out_closed = true}), "standard output");
        failed(dmusim(command, {.out_broken = true}), "Broken pipe");
        if (command[0].starts_with("-") || command.back() == "--help")
            continue;
        command.insert(command.end(), {"-o", "/dev/full"});
        failed(dmusim(command), "/dev/full: cannot be written: No space left on device");
        command.back() = folder.file("no/such/folder.json");
        failed(dmusim(command), "no/such/folder.json");
        command.back() = folder.path + "/x";
        failed(dmusim(command), "/x");
        command.back() = std::string(static_cast<const Folder &>(folder).path());
        failed(dmusim(command), "Is a directory");
        if (geteuid() != 0) {
            command.back() = "/proc/version";
            failed(dmusim(command), "/proc/version");
        }
    }
    CHECK(folder.names() == std::vector<std::string>{"small.json"});
}

TEST_CASE("the first interrupt ends a run in which no step is ever done, and one whose steps take no time")
{
    Folder folder;
    const std::string wait = folder.write("wait.json", R"({"workload": [
        {"steps": [{"wait_until": {"counter": "ops.alloc", "at_least": 2, "poll": "1ns"}}]}, {"steps": [{"op": "alloc"}]}]})");
    const std::string setup = folder.write(
        "setup.json",
        R"({"setup": [{"repeat": 1000000000000, "steps": []}], "workload": [{"steps": [{"op": "alloc"}]}]})");
    for (const std::vector<std::string> &words : {std::vector<std::string>{"run", wait},
                                                  {"run", setup},
                                                  {"run", "slot-livelock", "--set", "stop.patience=4000s"}}) {
        const Ran ran = dmusim(words, {.interrupt_after_ms = 500});
        INFO(words[1], ": ", ran.err);
        CHECK(ran.status == 130);
        CHECK(ran.out == "");
    }
}

TEST_CASE("help and version work everywhere and speak of examples")
{
    Ran version = dmusim({"--version"});
    CHECK(version.status == 0);
    CHECK(version.out == "dmusim 0.1.0\n");
    Ran help = dmusim({"--help"});
    CHECK(help.status == 0);
    CHECK(help.out.find("Examples:") != std::string::npos);
    for (const char *command : {"run", "sweep", "conform", "validate", "list"}) {
        Ran ran = dmusim({command, "--help"});
        CHECK(ran.status == 0);
        CHECK(ran.out.find("Examples:") != std::string::npos);
        CHECK(help.out.find(std::string("\n  ") + command) != std::string::npos);
    }
}

TEST_CASE("every list is there for people and as JSON")
{
    for (const char *topic : {"scenarios", "variants", "eras", "machines", "ops", "metrics", "costs", "schema"}) {
        INFO(topic);
        Ran text = dmusim({"list", topic});
        CHECK(text.status == 0);
        CHECK(text.out.size() > 40);
        Ran json = dmusim({"list", topic, "--json"});
        CHECK(json.status == 0);
        CHECK(!Json::parse(json.out).empty());
    }
}

TEST_CASE("every choice that the era decides is a column of the list of eras")
{
    const Json rows = Json::parse(dmusim({"list", "eras", "--json"}).out);
    for (const scenarios::Table *table : {&scenarios::code_table(), &scenarios::dataset_table()})
        for (const scenarios::Field &field : table->fields())
            if (field.from_era) {
                INFO(field.name);
                CHECK(rows[0].contains(field.name));
            }
}

TEST_CASE("an expectation that does not hold ends with 3, and the result is still written")
{
    Folder folder;
    Json scenario = Json::parse(small);
    scenario["expect"] = Json::array({{{"metric", "ops.alloc.count"}, {"equals", 7}, {"because", "a reason"}}});
    std::string path = folder.write("expect.json", scenario.dump());
    Ran ran = dmusim({"run", path, "--json"});
    CHECK(ran.status == 3);
    Json result = Json::parse(ran.out);
    CHECK(result["complete"] == true);
    CHECK(result["expect"][0]["held"] == false);
    CHECK(result["expect"][0]["value"] == 128);
    CHECK(ran.err.find("ops.alloc.count") != std::string::npos);
    ran = dmusim({"run", path});
    CHECK(ran.status == 3);
    CHECK(ran.out.find("NOT HELD") != std::string::npos);
    CHECK(ran.out.find("because: a reason") != std::string::npos);
}

TEST_CASE("run --kstat prints that kstat instead of the report, and names the known ones where it is none")
{
    const Ran named = dmusim({"run", "dbufstats", "--kstat", "dbufstats", "--kstat", "txgs"});
    CHECK(named.status == 0);
    CHECK(named.out.starts_with("name                            type data\ncache_count                     4    "));
    CHECK(named.out.find("\ntxg      birth ") != std::string::npos);
    CHECK(named.out.find("Throughput") == std::string::npos);
    const Ran unknown = dmusim({"run", "dbufstats", "--kstat", "nobody"});
    CHECK(unknown.status == 2);
    CHECK(unknown.out == "");
    CHECK(unknown.err.find("\"nobody\" is no kstat; known: arcstats, dbufs, dbufstats") != std::string::npos);
}

TEST_CASE("a kernel stack above the expected limit ends with 3, and the report has the path to it")
{
    const Ran ran = dmusim({"run", "deep-stack", "--set",
                            R"(expect=[{"metric": "stack.bytes", "at_most": 2000, "because": "a small stack"}])"});
    CHECK(ran.status == 3);
    CHECK(ran.out.find("Deepest kernel stack: 2,320 bytes") != std::string::npos);
    CHECK(ran.out.find("dbuf_read_impl >") != std::string::npos);
}
