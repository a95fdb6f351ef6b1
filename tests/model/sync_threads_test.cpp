// More than one sync thread: the same blocks on disk, sooner.
#include <doctest/doctest.h>

#include "model/dmu_object.h"
#include "model/objset.h"
#include "tests/model/pool_fixture.h"

using namespace dmu_test;

namespace {

struct synced_t {
    fill_runs_t level0;
    uint64_t used_objects = 0;
    int64_t sync_ps = 0;
};

// 2,000 objects in one txg, every third of them freed in the next; what is on disk then, and how long both syncs took.
synced_t sync_with(uint32_t threads)
{
    synced_t result;
    model_config config = quiet_config();
    config.pool.sync_threads = threads;
    sim::Machine machine = sim::find_machine_profile("flat")->machine;
    machine.cpus = 8;
    sim::Simulator simulator(machine, model_tables(), 1);
    simulator.spawn("test", {}, [&] {
        spa_t spa(config);
        objset_t &os = spa.spa_create();
        dsl_pool_t &dp = spa.dsl_pool();
        for (int i = 0; i < 2000; ++i) {
            dmu_tx_ptr tx = dmu_tx_create(os);
            dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT);
            REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
            dmu_object_alloc(os, {}, *tx);
            dmu_tx_commit(std::move(tx));
        }
        const int64_t first = now_ps();
        txg_wait_synced(dp, dp.dp_tx.tx_open_txg);
        result.sync_ps = now_ps() - first;
        for (uint64_t object = 3; object <= 2000; object += 3) {
            dmu_tx_ptr tx = dmu_tx_create(os);
            dmu_tx_hold_free(*tx, object, 0, DMU_OBJECT_END);
            REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
            REQUIRE(dmu_object_free(os, object, *tx).ok());
            dmu_tx_commit(std::move(tx));
        }
        const int64_t second = now_ps();
        txg_wait_synced(dp, dp.dp_tx.tx_open_txg);
        result.sync_ps += now_ps() - second;

        const meta_dnode_report_t report = meta_dnode_report(os);
        result.level0 = report.level0;
        result.used_objects = report.used_objects;
        CHECK(report.level0 == meta_dnode_report(os, true).level0);
        spa.spa_stop();
    });
    const sim::End end = simulator.run();
    CHECK(end.text == "");
    return result;
}

} // namespace

TEST_CASE("several sync threads write what one writes, in less time")
{
    const synced_t one = sync_with(1), four = sync_with(4);
    CHECK(one.used_objects == 2000 - 666);
    CHECK(four.used_objects == one.used_objects);
    CHECK(four.level0 == one.level0);
    CHECK(four.sync_ps < one.sync_ps);
}
