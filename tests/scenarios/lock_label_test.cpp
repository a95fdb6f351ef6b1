// What reports call one lock: the directory's path, what lies in a dnode block, what lies in a chain of the dbuf hash.
#include "tests/scenarios/run_fixture.h"

#include <doctest/doctest.h>

using namespace scenarios;
using namespace scenarios_test;

namespace {

std::string hottest(const RunResult &result, const std::string &lock_class)
{
    for (const LockResult &lock : result.locks)
        if (lock.lock_class == lock_class && !lock.hottest.empty())
            return lock.hottest[0].name;
    return "";
}

std::string creators(const std::string &setup, const std::string &dir)
{
    return R"({ "name": "t", "machine": { "profile": "vm-2016" }, "code": { "era": "illumos-2016" }, "setup": [ )" +
           setup + R"( ], "workload": [ { "name": "c", "threads": 16, "steps": [ { "repeat": 40, "shared": true,
           "steps": [ { "op": "create", "dir": ")" +
           dir + R"(", "name": "{n}" } ] } ] } ] })";
}

} // namespace

TEST_CASE("the locks of a crowded directory tell which directory it is: its own, its dnode block's, the chain's")
{
    const RunResult result =
        run_text(creators(R"({ "op": "mkdir", "dir": "home" }, { "op": "mkdir", "dir": "home/ann" })", "home/ann"));
    CAPTURE(result.ending);
    REQUIRE(result.end == End::completed);
    CHECK(hottest(result, "dn_mtx") == "directory 8 (/home/ann)");
    // Both directories' dnodes lie in block 0; the root's as well, which is not told.
    CHECK(hottest(result, "db_mtx") == "dnode block 0 with directory 7 (/home) and 1 other");
    CHECK(hottest(result, "hash_mutexes") == "the chain of dnode block 0 with directory 7 (/home) and 1 other");
    CHECK(hottest(result, "zap_rwlock") == "ZAP 8 (/home/ann)");
}

TEST_CASE("a directory that was moved has its new path, and so has what is in it; names are one line, long ones cut")
{
    const RunResult moved = run_text(creators(
        R"({ "op": "mkdir", "dir": "a" }, { "op": "mkdir", "dir": "a/b" }, { "op": "rename", "name": "a", "to": "z\n" })",
        "z\\n/b"));
    CAPTURE(moved.ending);
    REQUIRE(moved.end == End::completed);
    CHECK(hottest(moved, "dn_mtx") == "directory 8 (/z?/b)");

    const std::string name(100, 'x');
    const RunResult cut = run_text(creators(R"({ "op": "mkdir", "dir": ")" + name + R"(" })", name));
    CHECK(hottest(cut, "dn_mtx") == "directory 7 (..." + name.substr(0, 60) + ")");

    const RunResult reopened = run_text(creators(R"({ "op": "mkdir", "dir": "d" }, { "op": "export_import" })", "d"));
    CHECK(hottest(reopened, "dn_mtx") == "directory 7 (/d)");
}
