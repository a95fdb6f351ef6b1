// The legacy allocator's law, checked where nobody wrote the schedule: the txg machinery alone decides when a txg ends.
//
// After each 4096th object the search begins at object 0 and visits every object allocated but not yet on disk, from
// the first L1 block whose synced fill is below a quarter on. Each txg's row says how far allocation had come when its
// sync began and when it was done; what happens in between is seen by the search or is not, which gives a lower and an
// upper bound for the boundaries crossed meanwhile, and one exact figure for all others.
#include "tests/scenarios/run_fixture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

using namespace scenarios;
using namespace scenarios_test;

namespace {

constexpr uint64_t objects_per_l1 = 4096; // an L1 of 128 pointers to blocks of 32 dnodes
constexpr uint64_t threads = 32;          // as many may be on their way between two counts

struct VisitBounds {
    uint64_t low;
    uint64_t high;
};

// The first object of the first L1 that is not yet filled to a quarter when the first `synced` objects are on disk.
uint64_t search_lands_at(uint64_t synced)
{
    const uint64_t full = synced / objects_per_l1 * objects_per_l1;
    return synced - full >= objects_per_l1 / 4 ? full + objects_per_l1 : full;
}

VisitBounds visits_at(uint64_t position, const std::vector<TxgRow> &txgs)
{
    uint64_t surely = 0;
    uint64_t perhaps = 0;
    uint64_t allocated = 0;
    for (const TxgRow &row : txgs) {
        allocated += row.allocated;
        if (row.allocated_when_synced + threads <= position)
            surely = allocated;
        if (row.allocated_when_sync_began <= position + threads)
            perhaps = allocated;
    }
    const uint64_t from = std::max(perhaps, search_lands_at(perhaps));
    return {position > from ? position - from : 0, position - search_lands_at(surely)};
}

uint64_t calls_from(const HistogramResult &histogram, uint64_t bucket)
{
    uint64_t count = 0;
    for (const HistogramRow &row : histogram.rows)
        if (row.bucket >= bucket)
            count += row.count;
    return count;
}

} // namespace

TEST_CASE("free-running legacy: every boundary costs what was allocated since the last sync, whatever txgs came out")
{
    // It ends while no txg is on its way to disk: one that is has no row yet, and the search sees part of it.
    const uint64_t objects = 600'000;
    const RunResult result = run_text(open_scenario("object-alloc-free-running").root.dump(),
                                      {"params.objects=600000", "pool.dirty_data_sync=48M"});
    REQUIRE(result.end == End::completed);
    REQUIRE(result.txgs.size() >= 6);

    std::vector<VisitBounds> boundaries;
    uint64_t exact = 0;
    VisitBounds all{0, 0};
    for (uint64_t position = objects_per_l1; position < objects; position += objects_per_l1) {
        const VisitBounds visits = visits_at(position, result.txgs);
        boundaries.push_back(visits);
        exact += visits.high - visits.low < objects_per_l1 ? 1 : 0;
        all.low += visits.low;
        all.high += visits.high;
    }
    CHECK(exact * 3 >= boundaries.size() * 2); // the law is tried, not merely not broken
    CHECK(result.counters.at("visits") >= all.low);
    CHECK(result.counters.at("visits") <= all.high);

    const auto histogram = std::find_if(result.histograms.begin(), result.histograms.end(), [](const auto &each) {
        return each.name == "dnode_next_offset per dmu_object_alloc";
    });
    REQUIRE(histogram != result.histograms.end());
    CHECK(calls_from(*histogram, 1) == 1 + boundaries.size()); // the first allocation of all searches too
    for (uint64_t bucket = objects_per_l1; bucket <= 2 * objects; bucket *= 2) {
        CAPTURE(bucket);
        const auto at_least = [&](uint64_t VisitBounds::*bound) { // a search at object 0, and one after each visit
            return static_cast<uint64_t>(
                std::count_if(boundaries.begin(), boundaries.end(),
                              [&](const VisitBounds &visits) { return visits.*bound + 1 >= bucket; }));
        };
        CHECK(calls_from(*histogram, bucket) >= at_least(&VisitBounds::low));
        CHECK(calls_from(*histogram, bucket) <= at_least(&VisitBounds::high));
    }
}
