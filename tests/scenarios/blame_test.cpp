// Sums that hold in every run: over random scenarios, each lock's waiting is its holders' blame, and each operation's
// time is its parts, waiting for locks among them.
#include "sim/random.h"
#include "tests/scenarios/run_fixture.h"

#include <doctest/doctest.h>

using namespace scenarios;
using namespace scenarios_test;

namespace {

uint64_t sum(const std::vector<NamedTime> &list)
{
    uint64_t total = 0;
    for (const NamedTime &one : list)
        total += one.ps;
    return total;
}

std::string random_scenario(uint64_t seed)
{
    sim::Random random(seed, "scenario");
    const auto pick = [&](std::vector<std::string> names) { return names[random.below(names.size())]; };
    const auto number = [&](uint64_t low, uint64_t high) { return std::to_string(random.between(low, high)); };
    const std::string files =
        R"({ "op": ")" + pick({"create", "unlink", "lookup", "stat"}) + R"(", "dir": "d", "name": "f{rand:0..60}" })";
    const std::string objects =
        pick({R"({ "op": "alloc", "count": 3 })", R"({ "op": "free", "which": "random", "count": 2 })",
              R"({ "op": "evict" })", R"({ "think": "{rand:1..9}us" })", R"({ "sleep": "3us" })"});
    return R"({ "name": "random", "seed": )" + std::to_string(seed) + R"(, "machine": { "profile": ")" +
           pick({"flat", "uniform", "xeon-2016", "vm-2016"}) + R"(", "cpus": )" + number(1, 12) +
           R"(, "lock_policy": ")" + pick({"adaptive-ttas", "adaptive-backoff", "queued"}) +
           R"(" }, "code": { "era": ")" + pick({"illumos-2016", "zol-2016-08", "zol-2017", "zol-2019", "head"}) +
           R"(" }, "setup": [ { "op": "mkdir", "dir": "d" } ], "warmup": ")" + pick({"0", "200us"}) +
           R"(", "workload": [ { "name": "files", "threads": )" + number(1, 20) + R"(, "steps": [ { "repeat": )" +
           number(1, 12) + R"(, "steps": [ )" + files + ", " + objects +
           R"( ] } ] }, { "name": "creators", "threads": )" + number(1, 8) + R"(, "steps": [ { "repeat": )" +
           number(1, 10) + R"(, "steps": [ { "op": "create", "dir": "d", "name": "g{thread}-{i}" } ] } ] } ] })";
}

} // namespace

TEST_CASE("in random scenarios every lock's waiting is its holders' blame, and every operation's time is its parts")
{
    uint64_t waited = 0;
    for (uint64_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        const RunResult result = run_text(random_scenario(seed));
        CAPTURE(result.ending);
        REQUIRE(result.end == End::completed);
        for (const LockResult &lock : result.locks) {
            CAPTURE(lock.lock_class);
            CHECK(sum(lock.waiters) == lock.wait_ps);
            CHECK(sum(lock.holders) == lock.wait_ps);
            CHECK(sum(lock.paths) == lock.wait_ps);
            for (const HotLock &hot : lock.hottest)
                CHECK(sum(hot.holders) == hot.ps);
            waited += lock.wait_ps;
        }
        for (const OpResult &op : result.ops) {
            CAPTURE(op.name);
            LockTime locks;
            for (const LockTime &one : op.locks) {
                locks.spinning += one.spinning;
                locks.blocked += one.blocked;
                locks.cpu_wait += one.cpu_wait;
            }
            CHECK(locks.spinning == op.parts.spinning); // nothing else spins
            CHECK(locks.blocked <= op.parts.blocked);   // conditions and sleeps as well
            CHECK(locks.cpu_wait <= op.parts.cpu_wait);
        }
        for (const ChainResult &chain : result.chains)
            CHECK(chain.links.size() >= 2);
    }
    CHECK(waited > 0);
}

TEST_CASE("a watched run is the run itself, and a disturbed one is another that repeats")
{
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        const std::string text = random_scenario(seed);
        const RunResult plain = run_text(text);
        CHECK(run_text(text, {R"(record=["lock_order"])"}).digest == plain.digest);
        const RunResult disturbed = run_text(text, {"schedule=7"});
        CHECK(disturbed.end == End::completed);
        CHECK(run_text(text, {"schedule=7"}).digest == disturbed.digest);
        CHECK(disturbed.digest != plain.digest);
    }
}
