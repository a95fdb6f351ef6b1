// The reader refuses everything that a plain JSON parser lets through or changes silently, and says where.
#include "scenarios/strict_json.h"

#include <cstdio>
#include <doctest/doctest.h>
#include <fstream>
#include <unistd.h>

using namespace scenarios;

namespace {

// The message of the error, or "accepted".
std::string outcome(const std::string &text)
{
    try {
        parse_json("f", text);
    } catch (const InputError &error) {
        return error.what();
    }
    return "accepted";
}

bool says(const std::string &message, const char *part)
{
    return message.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("plain JSON is read as it stands, keys in their order")
{
    const Document document = parse_json("f", R"({"b": 1, "a": [true, null, -3, 18446744073709551615, "x"]})");
    CHECK(document.root.dump() == R"({"b":1,"a":[true,null,-3,18446744073709551615,"x"]})");
}

TEST_CASE("a key given twice is refused at its second place")
{
    CHECK(outcome("{\n \"a\": {\"b\": 1,\n  \"b\": 2}}") ==
          "f:3:3: a.b: the key \"b\" appears twice in the same object");
}

TEST_CASE("an integer that does not fit into 64 bits is refused, not rounded")
{
    CHECK(outcome("[1, 18446744073709551616]") ==
          "f:1:5: 1: the integer 18446744073709551616 does not fit into 64 bits");
    CHECK(says(outcome("{\"a\": -9223372036854775809}"), "f:1:7: a: the integer -9223372036854775809"));
}

TEST_CASE("NaN, Infinity and numbers too large are refused")
{
    CHECK(says(outcome("[NaN]"), "f:1:2: not JSON"));
    CHECK(says(outcome("{\"a\": Infinity}"), "f:1:7: a: not JSON"));
    CHECK(says(outcome("[1e999]"), "too large"));
}

TEST_CASE("nesting is bounded, whatever its depth")
{
    for (const size_t depth : {101, 10'000, 1'000'000})
        CHECK(
            says(outcome(std::string(depth, '[') + std::string(depth, ']')), "f:1:101: nested deeper than 100 levels"));
    CHECK(outcome(std::string(100, '[') + std::string(100, ']')) == "accepted");
    CHECK(says(outcome(std::string(10'000, '[')), "nested deeper than 100 levels"));
}

TEST_CASE("text that is not UTF-8, or begins with a byte order mark, is refused")
{
    CHECK(says(outcome("[\"\xff\"]"), "f:1:3: not valid UTF-8"));
    CHECK(says(outcome("[\"\\ud800\"]"), "surrogate"));
    CHECK(says(outcome("\xEF\xBB\xBF{}"), "f:1:1: the file begins with a byte order mark"));
    CHECK(says(outcome(std::string("\xFF\xFE{\0}\0", 6)), "UTF-16"));
}

TEST_CASE("a text that ends early, has something after its end, or is empty is refused")
{
    CHECK(says(outcome("{\"a\": [1,"), "f:1:10: a.0: the text ends in the middle"));
    CHECK(says(outcome("{\"a\": \"x"), "ends in the middle"));
    CHECK(says(outcome("{} x"), "f:1:4: not JSON"));
    CHECK(says(outcome(""), "f:1:1: the file is empty"));
    CHECK(says(outcome(" \n\t"), "white space"));
    CHECK(says(outcome("{\n \"a\": 1,\n}"), "f:3:1: a: not JSON"));
    CHECK(says(outcome("[01]"), "not JSON"));
    CHECK(says(outcome("{//x\n\"a\":1}"), "not JSON"));
    CHECK(says(outcome(std::string("{}\0{", 4)), "f:1:3: not JSON: a zero byte"));
}

TEST_CASE("the place of any value can be found again")
{
    const Document document =
        parse_json("f", "{\n  \"seed\": 7,\n  \"s\": \"a\\\"b\",\n  \"l\": [\n    {\"name\": false},\n    12\n  ]\n}");
    const auto at = [&](const char *path) {
        const Place place = document.place(path);
        return std::to_string(place.line) + ":" + std::to_string(place.column);
    };
    CHECK(at("") == "1:1");
    CHECK(at("seed") == "2:11");
    CHECK(at("s") == "3:8");
    CHECK(at("l") == "4:8");
    CHECK(at("l.0") == "5:5");
    CHECK(at("l.0.name") == "5:14");
    CHECK(at("l.1") == "6:5");
    CHECK(at("nowhere") == "0:0");
    CHECK(document.key_place("l.0.name").column == 6);
    CHECK(std::string(document.error("l.0.nowhere", "is missing").what()) == "f:5:5: l.0.nowhere: is missing");
}

TEST_CASE("an option can replace a value, and is then named as its source")
{
    Document document = parse_json("f", R"({"machine": {"cpus": 4}, "workload": [{"threads": 1}]})");
    document.set("machine.cpus", 16, "--set machine.cpus=16");
    document.set("workload.0.threads", 3, "--set workload.0.threads=3");
    document.set("pool.disk.latency", "1ms", "--set pool.disk.latency=1ms");
    CHECK(document.root.dump() ==
          R"({"machine":{"cpus":16},"workload":[{"threads":3}],"pool":{"disk":{"latency":"1ms"}}})");
    CHECK(std::string(document.error("machine.cpus", "is too many").what()) ==
          "--set machine.cpus=16: machine.cpus: is too many");
    CHECK_THROWS_AS(document.set("workload.1.threads", 3, "o"), InputError);
    CHECK_THROWS_AS(document.set("workload.x", 3, "o"), InputError);
    CHECK_THROWS_AS(document.set("machine.cpus.a", 3, "o"), InputError);
    CHECK_THROWS_AS(document.set("machine..cpus", 3, "o"), InputError);
    CHECK_THROWS_AS(document.set("", 3, "o"), InputError);
}

TEST_CASE("a folder and a missing file are errors with the file's name")
{
    CHECK_THROWS_WITH_AS(read_json("/"), "/: is a folder; a JSON file is expected", InputError);
    CHECK_THROWS_WITH_AS(read_json("/nowhere/x.json"), "/nowhere/x.json: cannot be read: No such file or directory",
                         InputError);
    CHECK_THROWS_AS(read_json(""), InputError);
}

TEST_CASE("text from outside is made safe to print")
{
    CHECK(in_quotes("a\x1b[31m\"\n\x7f") == "\"a\\x1b[31m\\\"\\x0a\\x7f\"");
    CHECK(in_quotes("\xc3\xa4\xff\xc2\x9b") == "\"\xc3\xa4\\xff\\xc2\\x9b\"");
    CHECK(in_quotes(std::string(1000, 'x')).size() < 80);
}

TEST_CASE("an unknown name comes with the nearest known one, or with the list")
{
    const std::vector<std::string> names = {"cpus", "profile", "lock_policy"};
    CHECK(unknown("key", "cpsu", names) == "unknown key \"cpsu\"; did you mean \"cpus\"?");
    CHECK(unknown("key", "policy", names) == "unknown key \"policy\"; did you mean \"lock_policy\"?");
    CHECK(unknown("key", "zzzzzz", names) == "unknown key \"zzzzzz\"; known: cpus, profile, lock_policy");
}
