// Sweeps: grid order, equal bytes at any -j, the growth in words, interrupts.
#include "tests/cli/program.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using Json = nlohmann::ordered_json;

namespace {

constexpr const char *small = R"({
  "name": "small", "params": { "objects": 64 },
  "workload": [ { "name": "allocator", "threads": 2, "steps": [ { "op": "alloc", "count": "$objects" } ] } ]
})";

std::vector<Json> lines(const std::string &text)
{
    std::vector<Json> all;
    for (size_t from = 0; from < text.size();) {
        size_t end = text.find('\n', from);
        REQUIRE(end != std::string::npos);
        all.push_back(Json::parse(text.substr(from, end - from)));
        from = end + 1;
    }
    return all;
}

} // namespace

TEST_CASE("lines come in grid order with their point, the same bytes at any -j")
{
    Folder folder;
    std::string path = folder.write("small.json", small);
    // the first points are the longest, so they finish last
    std::vector<std::string> words = {"sweep", path, "--vary", "params.objects=4000,64,1", "--vary", "machine.cpus=1,2",
                                      "-q",    "-j"};
    auto with = [&](const char *jobs) {
        std::vector<std::string> all = words;
        all.push_back(jobs);
        Ran ran = dmusim(all);
        INFO(ran.err);
        CHECK(ran.status == 0);
        return ran.out;
    };
    std::string one = with("1");
    CHECK(with("2") == one);
    CHECK(with("7") == one);
    std::vector<Json> results = lines(one);
    REQUIRE(results.size() == 6);
    CHECK(results[0]["point"].dump() == R"({"params.objects":4000,"machine.cpus":1})");
    CHECK(results[1]["point"].dump() == R"({"params.objects":4000,"machine.cpus":2})");
    CHECK(results[5]["point"].dump() == R"({"params.objects":1,"machine.cpus":2})");
    CHECK(results[2]["ops"]["alloc"]["count"] == 128);
}

TEST_CASE("a point is the same result as a run with the same values")
{
    Folder folder;
    std::string path = folder.write("small.json", small);
    Json point = lines(dmusim({"sweep", path, "--vary", "params.objects=32", "-q"}).out)[0];
    point.erase("point");
    point.erase("grid");
    CHECK(point.dump() + "\n" == dmusim({"run", path, "--set", "params.objects=32", "--json"}).out);
}

TEST_CASE("--seeds adds seeds as the innermost axis, and the spread is told")
{
    Folder folder;
    std::string path = folder.write("small.json", small);
    Ran ran = dmusim({"sweep", path, "--seeds", "3", "-o", folder.file("seeds.jsonl")});
    CHECK(ran.status == 0);
    CHECK(lines(read_file(folder.file("seeds.jsonl"))).size() == 3);
    CHECK(ran.out.find("Spread over 3 seeds") != std::string::npos);
}

TEST_CASE("a mistake in any point is told before the first one runs")
{
    Folder folder;
    std::string path = folder.write("small.json", small);
    Ran ran = dmusim({"sweep", path, "--vary", "machine.cpus=1,none"});
    CHECK(ran.status == 2);
    CHECK(ran.out == "");
    CHECK(ran.err.find("machine.cpus") != std::string::npos);
}

TEST_CASE("the growth exponent tells the quadratic allocator from the linear one, in words")
{
    Ran ran = dmusim({"sweep", "alloc-one-txg", "--vary", "params.objects=2^13..2^16", "--vary",
                      "code.object_alloc=legacy,rescan", "-j", "2"});
    INFO(ran.err);
    CHECK(ran.status == 0);
    auto told = [&](const std::string &variant) {
        size_t at = ran.err.find("Growth over n = params.objects, code.object_alloc = " + variant);
        REQUIRE(at != std::string::npos);
        at = ran.err.find("counters.dnode_next_offset ", at);
        REQUIRE(at != std::string::npos);
        return ran.err.substr(at, ran.err.find('\n', at) - at);
    };
    CHECK(told("legacy").ends_with(": O(n^2)"));
    CHECK(told("rescan").ends_with("exponent is 1.000: O(n)"));
}

TEST_CASE("an interrupt keeps what had finished and ends with 130")
{
    Folder folder;
    std::string path = folder.write("long.json", R"({"name": "long", "params": {"rounds": 1}, "workload": [
        {"name": "thinker", "threads": 1, "steps": [{"repeat": "$rounds", "steps": [{"think": "1us"}]}]}]})");
    Ran ran =
        dmusim({"sweep", path, "--vary", "params.rounds=1,4000000000", "-j", "1", "-q"}, {.interrupt_after_ms = 1500});
    INFO(ran.err);
    CHECK(ran.status == 130);
    std::vector<Json> kept = lines(ran.out);
    REQUIRE(kept.size() == 1);
    CHECK(kept[0]["point"]["params.rounds"] == 1);
    Ran run = dmusim({"run", path, "--set", "params.rounds=4000000000", "-o", folder.file("never.json")},
                     {.interrupt_after_ms = 1000});
    CHECK(run.status == 130);
    CHECK(folder.names() == std::vector<std::string>{"long.json"});
}

TEST_CASE("shards put together by merge have the bytes of the whole sweep")
{
    Folder folder;
    std::string path = folder.write("small.json", small);
    std::vector<std::string> words = {"sweep", path, "--vary", "params.objects=1..7", "-q", "-j", "2"};
    auto shard = [&](const std::string &part, const std::string &file) {
        std::vector<std::string> all = words;
        all.insert(all.end(), {"--shard", part, "-o", folder.file(file)});
        CHECK(dmusim(all).status == 0);
        return folder.file(file);
    };
    std::string whole = dmusim(words).out;
    std::string one = shard("1/3", "1"), two = shard("2/3", "2"), three = shard("3/3", "3");
    CHECK(dmusim({"merge", two, three, one}).out == whole);
    Ran incomplete = dmusim({"merge", two, one});
    CHECK(incomplete.status == 2);
    CHECK(incomplete.err.find("2 of 7 points are missing: 2, 5") != std::string::npos);
    for (const char *bad : {"0/3", "4/3", "1", "1/", "a/b", "-1/3", "1/3x"})
        CHECK(dmusim({"sweep", path, "--vary", "params.objects=1", "--shard", bad}).status == 2);
}

TEST_CASE("a killed sweep goes on from its journal and ends with the same bytes")
{
    Folder folder;
    std::string path = folder.write("long.json", R"({"name": "long", "params": {"rounds": 1}, "workload": [
        {"name": "thinker", "threads": 1, "steps": [{"repeat": "$rounds", "steps": [{"think": "1us"}]}]}]})");
    std::vector<std::string> words = {"sweep", path, "--vary", "params.rounds=1,2000000,2,1000000,3", "-q", "-j", "2"};
    std::string whole = dmusim(words).out;
    words.insert(words.end(), {"-o", folder.file("sweep.jsonl")});
    for (int ms : {50, 150, 300, 600})
        dmusim(words, {.kill_after_ms = ms});
    CHECK(dmusim(words).status == 0);
    CHECK(read_file(folder.file("sweep.jsonl")) == whole);
    CHECK(folder.names() == std::vector<std::string>{"long.json", "sweep.jsonl"});
}

TEST_CASE("a journal of another sweep is refused, a torn record is run again")
{
    Folder folder;
    std::string path = folder.write("small.json", small);
    std::vector<std::string> words = {"sweep", path, "--vary", "params.objects=1,2", "-q", "-o", folder.file("x")};
    folder.write("x.journal", "something else\n");
    Ran ran = dmusim(words);
    CHECK(ran.status == 2);
    CHECK(ran.err.find("another sweep") != std::string::npos);
    folder.write("x.journal", "");
    CHECK(dmusim(words).status == 0);
}
