// Visits in vain: one is executed, and those like it are added.
#include "model/visits.h"

#include <doctest/doctest.h>

#include "model/dmu_object.h"
#include "model/dmu_state.h"
#include "model/objset.h"
#include "sim/lock_policy.h"
#include "tests/model/pool_fixture.h"
#include "tests/model/work_together.h"

using namespace dmu_test;

namespace {

struct Outcome {
    int64_t until_ps = 0;
    uint64_t digest = 0;
    uint64_t visits = 0;
    uint64_t repeated = 0;
    uint64_t hold_calls = 0;
    std::vector<uint64_t> statistics; // each that a visit moves
};

void alloc_in(objset_t &os, uint64_t count)
{
    for (uint64_t i = 0; i < count; ++i) {
        dmu_tx_ptr tx = dmu_tx_create(os);
        dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT);
        REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
        dmu_object_alloc(os, dnode_spec{}, *tx);
        dmu_tx_commit(std::move(tx));
    }
}

// body(os) on a machine where everything costs time.
template <class Body>
Outcome outcome(const char *era, sim::Repeats repeats, Body body, const char *policy = "adaptive-ttas")
{
    model_config config = quiet_config();
    const model_config base = era_config(era);
    config.code = base.code;
    config.dataset = base.dataset;
    config.dataset.meta_indirect_shift = 14; // level-1 blocks of 4,096 objects
    config.code.object_alloc = "legacy";
    sim::Machine machine = sim::find_machine_profile("xeon-2016")->machine;
    machine.cpus = 4;
    machine.lock_policy = policy;
    sim::Simulator simulator(machine, model_tables(), 1);
    simulator.set_repeats(repeats);
    Outcome result;
    simulator.spawn("test", {}, [&] {
        spa_t spa(config);
        spa.spa_create();
        objset_t &os = spa.objset();
        body(os);
        result.visits = os.allocator.visits;
        result.repeated = os.os_visits->repeated();
        result.hold_calls = dnode_hold_impl_calls(curthread().calls);
        const auto keep = [&](const auto &row) {
            result.statistics.insert(result.statistics.end(), std::begin(row), std::end(row));
        };
        keep(os.allocator.words());
        keep(os.stats.words());
        keep(os.os_dmu.next_offset_level_calls);
        keep(os.os_dmu.zfetch_latency);
        keep(os.os_dmu.dbuf_stats.hash_hits.word());
        keep(os.os_dmu.zfetch_stats.zfetch_misses.word());
        spa.spa_stop();
    });
    const sim::End end = simulator.run();
    CHECK_MESSAGE(end.ending == sim::Ending::finished, end.text);
    result.until_ps = end.at.ps;
    result.digest = simulator.digest();
    return result;
}

template <class Body>
Outcome same_in_all_ways(const char *era, Body body, const char *policy = "adaptive-ttas")
{
    const Outcome executed = outcome(era, sim::Repeats::executed, body, policy);
    CHECK(executed.repeated == 0);
    Outcome other;
    for (const sim::Repeats repeats : {sim::Repeats::checked, sim::Repeats::added}) {
        other = outcome(era, repeats, body, policy);
        CHECK(other.until_ps == executed.until_ps);
        CHECK(other.digest == executed.digest);
        CHECK(other.visits == executed.visits);
        CHECK(other.hold_calls == executed.hold_calls);
        CHECK(other.statistics == executed.statistics);
    }
    return other;
}

} // namespace

TEST_CASE("of the visits of a full level-1 block a few are executed, and nobody can tell")
{
    const Outcome added = same_in_all_ways("illumos-2016", [](objset_t &os) { alloc_in(os, 3 * 4096); });
    // Behind the boundaries at 4,096 and 8,192, from object 0 on.
    CHECK(added.visits > 12'000);
    CHECK(added.visits < 12'700);
    CHECK(added.repeated + 60 > added.visits);
    CHECK(added.repeated + 9 < added.visits); // at least three in each of the three level-1 blocks that are passed
    CHECK(added.hold_calls > added.visits);
}

// A hold that allocates its locals (2016-05), walks over the earlier slots (2016-08) or tells the ARC (head) does not
// leave everything as it was, or costs another price in each slot.
TEST_CASE("where a visit does more than look, every one is executed")
{
    for (const char *era : {"zol-2016-05", "zol-2016-08", "head"}) {
        CAPTURE(era);
        const Outcome outcome = same_in_all_ways(era, [](objset_t &os) { alloc_in(os, 2 * 4096); });
        CHECK(outcome.visits > 4000);
        CHECK(outcome.repeated == 0);
    }
}

TEST_CASE("a slot unlike the others ends the row: a dnode that was freed, one that was never made")
{
    const Outcome added = same_in_all_ways("illumos-2016", [](objset_t &os) {
        alloc_in(os, 4000);
        for (uint64_t object = 5; object < 4000; object += 11) {
            dmu_tx_ptr tx = dmu_tx_create(os);
            dmu_tx_hold_free(*tx, object, 0, DMU_OBJECT_END);
            REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
            CHECK(dmu_object_free(os, object, *tx).ok());
            dmu_tx_commit(std::move(tx));
        }
        alloc_in(os, 1000);
        txg_wait_synced(os.os_spa.dsl_pool(), os.os_spa.dsl_pool().dp_tx.tx_open_txg);
        alloc_in(os, 6000);
    });
    CHECK(added.repeated > 1000);
    CHECK(added.repeated < added.visits);
}

TEST_CASE("threads that allocate and hold beside each other see no difference, under any policy of locks")
{
    for (const sim::LockPolicy *policy : sim::lock_policies()) {
        CAPTURE(policy->name);
        const Outcome added = same_in_all_ways(
            "illumos-2016",
            [](objset_t &os) {
                // Two that are in each other's way, then one that is alone with what both have made, while the other
                // one comes for a hold now and then.
                work_together(*sim::hot.simulator, 2, [&os](uint64_t worker) {
                    alloc_in(os, worker == 0 ? 12'000 : 3000);
                    for (uint64_t i = 0; worker == 1 && i < 3000; ++i) {
                        (void)dnode_hold(os, 1 + i * 31 % 3000);
                        delay(microseconds(static_cast<int64_t>(i % 100) * 10));
                    }
                });
            },
            policy->name);
        CHECK(added.visits > 8000);
        CHECK(added.repeated > 1000);
    }
}

TEST_CASE("the visit of a watched object is executed")
{
    uint64_t watched[3] = {};
    for (const sim::Repeats repeats : {sim::Repeats::executed, sim::Repeats::checked, sim::Repeats::added})
        outcome("illumos-2016", repeats, [&](objset_t &os) {
            os.os_watched_object = 100;
            alloc_in(os, 3 * 4096);
            watched[static_cast<size_t>(repeats)] = os.os_watched_holds;
        });
    CHECK(watched[0] >= 3); // allocated once, visited behind two boundaries
    CHECK(watched[1] == watched[0]);
    CHECK(watched[2] == watched[0]);
}
