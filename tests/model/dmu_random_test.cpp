// Random work of several threads against a plain set of integers.
//
// Threads allocate, free and claim; now and then one throws away every dbuf that nobody uses, or waits for a sync,
// after which every fill count must equal a recount of the blocks below. Between rounds the synced tree must hold
// exactly the objects in use, and everything in memory is thrown away and read back.
#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "model/dmu_object.h"
#include "model/dmu_state.h"
#include "model/objset.h"
#include "sim/random.h"
#include "tests/model/pool_fixture.h"
#include "tests/model/work_together.h"

using namespace dmu_test;

namespace {

struct world_t {
    spa_t &spa;
    std::set<uint64_t> in_use;
    std::set<uint64_t> busy; // being freed or claimed by somebody
    uint64_t recounts = 0;   // of the synced tree, while the threads worked
};

// Returns the objects in use on disk.
uint64_t check_fills(const objset_t &os)
{
    const meta_dnode_report_t read = meta_dnode_report(os);
    const meta_dnode_report_t counted = meta_dnode_report(os, true);
    CHECK(read.level0 == counted.level0);
    for (size_t level = 0; level < read.levels.size(); ++level)
        CHECK(read.levels[level].fills == counted.levels[level].fills);
    return read.used_objects;
}

void check_tree(world_t &world)
{
    objset_t &os = world.spa.objset();
    CHECK(check_fills(os) == world.in_use.size());
    std::vector<uint64_t> objects;
    for (object_next_t next{0, 0}; (next = dmu_object_next(os, next.object, false, 0)).error == 0;)
        objects.push_back(next.object);
    CHECK(objects == std::vector<uint64_t>(world.in_use.begin(), world.in_use.end()));
}

void one_alloc(world_t &world)
{
    objset_t &os = world.spa.objset();
    dmu_tx_ptr tx = dmu_tx_create(os);
    dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT);
    REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
    const uint64_t object = dmu_object_alloc(os, dnode_spec{}, *tx);
    CHECK(world.in_use.insert(object).second); // never one that somebody has
    dmu_tx_commit(std::move(tx));
}

void one_free(world_t &world, uint64_t pick)
{
    if (world.in_use.empty())
        return;
    auto at = world.in_use.lower_bound(pick);
    if (at == world.in_use.end())
        at = world.in_use.begin();
    const uint64_t object = *at;
    if (!world.busy.insert(object).second)
        return;
    objset_t &os = world.spa.objset();
    dmu_tx_ptr tx = dmu_tx_create(os);
    dmu_tx_hold_free(*tx, object, 0, DMU_OBJECT_END);
    if (dmu_tx_assign(*tx, TXG_WAIT)) {
        CHECK(dmu_object_free(os, object, *tx).ok());
        world.in_use.erase(object);
        dmu_tx_commit(std::move(tx));
    } else {
        CHECK(false);
        dmu_tx_abort(std::move(tx));
    }
    world.busy.erase(object);
}

void one_claim(world_t &world, uint64_t object)
{
    if (!world.busy.insert(object).second)
        return;
    objset_t &os = world.spa.objset();
    dmu_tx_ptr tx = dmu_tx_create(os);
    dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT);
    REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
    if (dmu_object_claim(os, object, dnode_spec{}, *tx))
        CHECK(world.in_use.insert(object).second);
    dmu_tx_commit(std::move(tx));
    world.busy.erase(object);
}

void one_sync(world_t &world)
{
    dsl_pool_t &dp = world.spa.dsl_pool();
    txg_wait_synced(dp, 0);
    if (dp.dp_tx.tx_syncing_txg == 0) { // the next one has not begun: the tree holds still
        check_fills(world.spa.objset());
        ++world.recounts;
    }
}

void random_work(world_t &world, sim::Random random, uint64_t operations)
{
    for (uint64_t i = 0; i < operations; ++i) {
        const uint64_t what = random.below(1000);
        if (what < 600)
            one_alloc(world);
        else if (what < 950)
            one_free(world, 1 + random.below(20'000));
        else if (what < 990)
            one_claim(world, 1 + random.below(30'000));
        else if (what < 996)
            dmu_objset_evict_dbufs(world.spa.objset());
        else
            one_sync(world);
    }
}

void run_rounds(const char *era, uint64_t seed, uint64_t operations)
{
    constexpr uint64_t threads = 6;
    constexpr uint64_t rounds = 4;
    INFO("era " << era << ", seed " << seed);
    model_config config = quiet_config();
    config.code = era_config(era).code;
    config.dataset = era_config(era).dataset;
    config.code.rescan_threshold = 500;
    config.pool.txg_timeout_ns = 20'000'000; // txgs end while the threads work
    sim::Machine machine;
    machine.cpus = 4;
    machine.rmw_owned_ps = 8'000;
    machine.load_hit_ps = 2'000;
    machine.instruction_ps = 144;
    sim::Simulator simulator(machine, model_tables(), seed);
    simulator.set_free(false);
    simulator.spawn("test", {}, [&] {
        spa_t spa(config);
        spa.spa_create();
        world_t world{spa, {}, {}, 0};
        for (uint64_t round = 0; round < rounds; ++round) {
            work_together(simulator, threads, [&](uint64_t t) {
                random_work(world, simulator.random("worker", round * threads + t), operations / threads / rounds);
            });
            txg_wait_synced(spa.dsl_pool(), spa.dsl_pool().dp_tx.tx_open_txg);
            check_tree(world);
            if (round % 2 == 0)
                spa.spa_reopen_objset();
            else
                spa.spa_export_import();
            check_tree(world);
        }
        CHECK(world.recounts > 0);
        spa.spa_stop();
        spa.spa_close();
    });
    const sim::End end = simulator.run();
    CHECK_MESSAGE(end.ending == sim::Ending::finished, end.text);
}

} // namespace

TEST_CASE("random work of several threads agrees with a plain set, whatever the code base")
{
    for (const era_t &era : eras())
        run_rounds(era.name, 20261130, 1'500);
}

TEST_CASE("random work, two million operations" * doctest::test_suite("long"))
{
    run_rounds("zol-2016-05-rescan", 1, 1'000'000);
    run_rounds("zol-2017", 2, 1'000'000);
}
