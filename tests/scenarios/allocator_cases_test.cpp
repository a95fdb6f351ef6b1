// What the public findings say of each allocator, on the built-in scenarios at a size that a test can bear.
#include "tests/scenarios/run_fixture.h"

#include <doctest/doctest.h>

using namespace scenarios;
using namespace scenarios_test;

namespace {

RunResult built_in(const char *name, std::vector<std::string> sets)
{
    RunResult result = run_text(open_scenario(name).root.dump(), std::move(sets));
    REQUIRE(result.end == End::completed);
    return result;
}

uint64_t counted(const RunResult &result, const char *counter)
{
    const auto found = result.counters.find(counter); // those that stayed 0 are left out
    return found == result.counters.end() ? 0 : found->second;
}

} // namespace

TEST_CASE("nothing freed: the rescan rule never visits an object that is in use")
{
    const RunResult result = built_in("object-alloc-free-running",
                                      {"code.object_alloc=rescan", "params.objects=400000", "pool.dirty_data_sync=4M"});
    CHECK_FALSE(result.txgs.empty()); // something was on disk when boundaries were crossed
    CHECK(counted(result, "visits") == 0);
    CHECK(result.allocator.rescans <= 1); // the first allocation of all begins at 0 anyhow
}

TEST_CASE("create and destroy in the same txg: visits per allocation stay bounded while the work doubles four times")
{
    uint64_t visits_first = 0;
    for (uint64_t doublings = 0; doublings <= 4; ++doublings) {
        const uint64_t objects = 20'000ull << doublings;
        CAPTURE(objects);
        const RunResult result =
            built_in("create-destroy-same-txg", {"params.objects=" + std::to_string(objects),
                                                 "params.allocs_per_txg=10000", "params.frees_per_txg=7500"});
        CHECK(result.allocator.rescans > 0);
        // At most one search from object 0 a txg, which passes each object of that txg once, and those freed in it.
        CHECK(counted(result, "visits") <= 2 * objects);
        if (doublings == 0)
            visits_first = counted(result, "visits");
        else // the first two txgs have little to free
            CHECK(counted(result, "visits") <= 3 * (visits_first << doublings) + objects);
    }
}

TEST_CASE("a thousand frees a txg: under 1 % of the visits of the legacy rule")
{
    const std::vector<std::string> sets = {"params.base=40000", "params.txgs=5"};
    std::vector<std::string> legacy_sets = sets;
    legacy_sets.emplace_back("code.object_alloc=legacy");
    const RunResult rescan = built_in("free-1000-per-txg", sets);
    const RunResult legacy = built_in("free-1000-per-txg", legacy_sets);
    CHECK(counted(legacy, "visits") > 500'000);
    CHECK(counted(rescan, "visits") * 100 < counted(legacy, "visits"));
}

TEST_CASE("per CPU: two CPUs meet in a dnode block only when a thread has been moved from its cursor")
{
    for (const char *era : {"zol-2017", "head"}) {
        CAPTURE(era);
        const std::string code_era = std::string("code.era=") + era;
        const RunResult settled =
            built_in("object-alloc-per-cpu", {code_era, "params.objects=50000", "params.threads=16"});
        CHECK(counted(settled, "migrations") == 0);
        CHECK(counted(settled, "shared_blocks") == 0);
        const RunResult moved = built_in("object-alloc-per-cpu", {code_era, "params.objects=50000", "params.threads=48",
                                                                  "machine.time_slice_ns=50000"});
        CHECK(counted(moved, "migrations") > 0);
        CHECK(counted(moved, "shared_blocks") > 0);
        CHECK(counted(moved, "shared_blocks") <= 2 * counted(moved, "migrations")); // it comes, and the owner is back
    }
}
