// What if, and disturbed schedules, as a user asks for them.
#include "tests/cli/program.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using Json = nlohmann::ordered_json;

namespace {

// "lock + function", "db_mtx + dbuf_find" as two suppositions.
Json suppositions(const Json &entry)
{
    const auto split = [](const std::string &text) {
        const size_t plus = text.find(" + ");
        return plus == std::string::npos ? std::vector<std::string>{text}
                                         : std::vector<std::string>{text.substr(0, plus), text.substr(plus + 3)};
    };
    const std::vector<std::string> kinds = split(entry["kind"]), names = split(entry["name"]);
    Json list = Json::array();
    for (size_t i = 0; i < names.size(); ++i)
        list.push_back({{kinds[i], names[i]}, {"factor", entry["factor"]}});
    return list;
}

Json run_by_hand(std::vector<std::string> words, const Json &entry)
{
    words.insert(words.begin(), "run");
    words.insert(words.end(), {"--set", "suppose=" + suppositions(entry).dump(), "--json"});
    const Ran ran = dmusim(words);
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    return Json::parse(ran.out);
}

} // namespace

TEST_CASE("each figure of whatif is that of a run with the lock or function supposed cheaper by hand")
{
    for (const char *factor : {"", "3"}) {
        std::vector<std::string> words = {"create-one-directory", "--set", "params.files=600"};
        std::vector<std::string> ask = words;
        ask.insert(ask.begin(), "whatif");
        ask.insert(ask.end(), {"--lock", "hash_mutexes", "--lock", "zap_rwlock", "--function", "dbuf_find", "--json"});
        if (*factor != '\0')
            ask.insert(ask.end(), {"--factor", factor});
        const Ran ran = dmusim(ask);
        INFO(ran.err);
        REQUIRE(ran.status == 0);
        const Json whatif = Json::parse(ran.out);
        REQUIRE(whatif["ranking"].size() == 3);
        const Ran plain = dmusim({"run", "create-one-directory", "--set", "params.files=600", "--json"});
        const Json before = Json::parse(plain.out)["ops"]["create"]["per_s"];
        double last = 1e9;
        for (const Json &entry : whatif["ranking"]) {
            CHECK(entry["metric"] == "ops.create.per_s");
            CHECK(entry["factor"] == (*factor == '\0' ? 0 : 3));
            CHECK(entry["before"] == before);
            const Json by_hand = run_by_hand(words, entry);
            CHECK(entry["after"] == by_hand["ops"]["create"]["per_s"]);
            CHECK(entry["next"] == by_hand["locks"][0]["class"]);
            CHECK(entry["gain"].get<double>() <= last);
            last = entry["gain"].get<double>();
        }
    }
}

TEST_CASE("so is each figure of the locks it chooses itself, and of every two of them")
{
    const std::vector<std::string> words = {"create-one-directory", "--set", "params.files=400"};
    const Ran ran = dmusim({"whatif", words[0], words[1], words[2], "--top", "2", "--pairs", "--json"});
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    const Json whatif = Json::parse(ran.out);
    REQUIRE(whatif["ranking"].size() == 4);
    REQUIRE(whatif["pairs"].size() == 6);
    for (const char *list : {"ranking", "pairs"})
        for (const Json &entry : whatif[list]) {
            CAPTURE(entry["name"].get<std::string>());
            CHECK(entry["after"] == run_by_hand(words, entry)["ops"]["create"]["per_s"]);
        }
}

// The workload of zfs#4641, in the machine that it was fitted to.
TEST_CASE("by object the directory's dnode block or its own lock is worth most, and the name tells which directory")
{
    const Ran ran = dmusim({"whatif", "create-one-directory", "--set", "params.files=6000", "--set",
                            "code.tx_hold_zap=by-object", "--top", "5", "--json"});
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    const Json whatif = Json::parse(ran.out);
    const Json &first = whatif["ranking"][0];
    CAPTURE(first.dump());
    CHECK(first["gain"].get<double>() > 1.2);
    const std::string which = first["hottest"]["instance"];
    CHECK((which == "directory 7 (/d)" || which.find("dnode block 0 with directory 7 (/d)") != std::string::npos));
    CHECK(first["hottest"]["share"].get<double>() > 0.5);
}

TEST_CASE("with the legacy allocator os_obj_lock is worth most, and with no exclusion lost it is worth five times")
{
    const Ran ran = dmusim({"whatif", "alloc-one-txg", "--set", "params.objects=81920", "--set", "params.threads=16",
                            "--set", "machine.cpus=16", "--set", "code.object_alloc=legacy", "--top", "2", "--json"});
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    const Json whatif = Json::parse(ran.out);
    CHECK(whatif["ranking"][0]["name"] == "os_obj_lock");
    CHECK(whatif["ranking"][0]["gain"].get<double>() >= 5);
}

TEST_CASE("whatif with pairs, a report of it, and what it refuses")
{
    Folder folder;
    const std::string file = folder.file("what.json");
    const Ran ran = dmusim({"whatif", "create-one-directory", "--set", "params.files=300", "--lock", "db_mtx", "--lock",
                            "dn_mtx", "--pairs", "-o", file});
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    CHECK(ran.out.find("db_mtx + dn_mtx free") != std::string::npos);
    const Json whatif = Json::parse(read_file(file));
    REQUIRE(whatif["pairs"].size() == 1);
    CHECK(whatif["pairs"][0]["kind"] == "lock + lock");
    const Ran report = dmusim({"report", file, "--markdown"});
    CHECK(report.status == 0);
    CHECK(report.out.find("What if") != std::string::npos);

    CHECK(dmusim({"whatif", "create-one-directory", "--lock", "db_mtxx"}).status == 2);
    CHECK(dmusim({"whatif", "create-one-directory", "--factor", "1"}).status == 2);
    CHECK(dmusim({"whatif", "create-one-directory", "--lock", "db_mtx", "--top", "2"}).status == 2);
    CHECK(dmusim({"whatif"}).status == 2);
    CHECK(dmusim({"whatif", "two-locks-deadlock"}).status == 1); // nothing to compare with
}

TEST_CASE("an expectation that some schedules do not meet is told, with the schedule and the value")
{
    const std::vector<std::string> words = {"run",         "create-one-directory",
                                            "--set",       "params.files=200",
                                            "--set",       R"(expect=[{"metric":"ops.create.count","equals":3}])",
                                            "--schedules", "12"};
    const Ran told = dmusim(words);
    CHECK(told.status == 3);
    CHECK(told.out.find("12 schedules, no bad end, 12 with an expectation that is not held") != std::string::npos);
    CHECK(
        told.out.find("schedule 1: not as expected   (alone: dmusim run create-one-directory --set params.files=200") !=
        std::string::npos);
    CHECK(told.out.find("ops.create.count = 200  (equals 3)") != std::string::npos);
    CHECK(told.out.find("and 2 more that are not as expected") != std::string::npos);
    std::vector<std::string> as_json = words;
    as_json.emplace_back("--json");
    const Ran ran = dmusim(as_json);
    CHECK(ran.status == 3);
    const Json report = Json::parse(ran.out);
    CHECK(report["bad"].empty());
    REQUIRE(report["not_held"].size() == 12);
    CHECK(report["not_held"][11]["schedule"] == 12);
    CHECK(report["not_held"][11]["expect"][0]["metric"] == "ops.create.count");
    CHECK(report["not_held"][11]["expect"][0]["value"] == 200);
}

TEST_CASE("a deadlock that needs the right moment is found among schedules, repeats by its number, and shrinks")
{
    // Two threads take two locks in opposite orders; undisturbed they pass each other by.
    const std::string scenario = R"({
      "name": "opposite", "machine": { "cpus": 4, "cpus_per_socket": 4 },
      "setup": [ { "op": "alloc", "count": 3 } ],
      "workload": [
        { "name": "idle", "threads": 3, "steps": [ { "think": "1us" }, { "op": "alloc" } ] },
        { "name": "there", "steps": [ { "repeat": 4, "steps": [ { "op": "lock", "name": "a" }, { "op": "lock", "name": "b" },
            { "op": "unlock", "name": "b" }, { "op": "unlock", "name": "a" }, { "think": "90us" } ] } ] },
        { "name": "back", "start": "45us", "steps": [ { "repeat": 4, "steps": [ { "op": "lock", "name": "b" },
            { "op": "lock", "name": "a" }, { "op": "unlock", "name": "a" }, { "op": "unlock", "name": "b" },
            { "think": "90us" } ] } ] } ] })";
    Folder folder;
    const std::string file = folder.write("opposite.json", scenario);
    CHECK(dmusim({"run", file, "-q"}).status == 0);
    const Ran watched = dmusim({"run", file, "--set", "record=[\"lock_order\"]", "--json"});
    CHECK(watched.status == 0);
    CHECK(watched.out.find("lock-order inversion") != std::string::npos);

    const Ran ran = dmusim({"run", file, "--schedules", "300", "--shrink", "--json"});
    INFO(ran.err);
    REQUIRE(ran.status == 4);
    const Json found = Json::parse(ran.out);
    REQUIRE(found["bad"].size() > 0);
    const std::string schedule = found["bad"][0]["schedule"].dump();
    CHECK(dmusim({"run", file, "-q", "--set", "schedule=" + schedule}).status == 4);
    const Ran told =
        dmusim({"run", file, "--schedules", schedule, "--set", "pool.txg_timeout=4s", "--set", "record=[\"txgs\"]"});
    CHECK(told.out.find(" --set pool.txg_timeout=4s --set 'record=[\"txgs\"]' --set schedule=" + schedule + ")") !=
          std::string::npos);
    CHECK(found["shrunk_size"]["threads"] == 2);
    CHECK(found["shrunk_size"]["steps"].get<int>() <= 6);
    CHECK(dmusim({"run", folder.write("small.json", found["shrunk"].dump()), "-q"}).status == 4);
}
