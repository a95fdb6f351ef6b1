// Transactions: the throttle's formula, waiting for dirty space, for a claimed dnode, and in vain.
#include <doctest/doctest.h>

#include "model/dmu_object.h"
#include "tests/model/pool_fixture.h"

using namespace dmu_test;

TEST_CASE("the delay grows from nothing at the minimum to 100 ms near the maximum")
{
    pool_config config;
    config.dirty_data_max = 4000;
    config.delay_min_dirty_percent = 60; // 2400
    config.delay_scale = 500'000;        // ns at the midpoint
    CHECK(dmu_tx_delay_time(config, 0) == nanoseconds(0));
    CHECK(dmu_tx_delay_time(config, 2400) == nanoseconds(0));
    CHECK(dmu_tx_delay_time(config, 2401) == nanoseconds(312)); // 500,000 * 1 / 1599
    CHECK(dmu_tx_delay_time(config, 3200) == nanoseconds(500'000));
    CHECK(dmu_tx_delay_time(config, 3800) == nanoseconds(3'500'000));   // 500,000 * 1400 / 200
    CHECK(dmu_tx_delay_time(config, 3999) == nanoseconds(100'000'000)); // 799.5 ms, capped
}

TEST_CASE("a transaction that holds only new objects reserves 24 times its estimate up to the pool's root")
{
    run_objset(quiet_config(), [](spa_t &spa) {
        dmu_tx_ptr tx = dmu_tx_create(spa.objset());
        dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT);
        // The dnode block and the six indirect levels above it, 16 KiB each.
        CHECK(tx->tx_holds[0].txh_space_towrite == 7 * 16384);
        REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
        const size_t slot = tx->tx_txg & TXG_MASK;
        CHECK(spa.spa_dir->dd_tempreserved[slot] == 24 * 7 * 16384);
        CHECK(spa.dsl_pool().dp_root_dir.dd_tempreserved[slot] == 24 * 7 * 16384);
        dmu_tx_commit(std::move(tx));
        CHECK(spa.spa_dir->dd_tempreserved[slot] == 0);
        CHECK(spa.dsl_pool().dp_root_dir.dd_tempreserved[slot] == 0);
    });
}

TEST_CASE("an object that is held and missing makes the assignment fail with ENOENT")
{
    run_objset(quiet_config(), [](spa_t &spa) {
        dmu_tx_ptr tx = dmu_tx_create(spa.objset());
        dmu_tx_hold_bonus(*tx, 77);
        CHECK(dmu_tx_assign(*tx, TXG_WAIT).error() == ENOENT);
        dmu_tx_abort(std::move(tx));
        CHECK(spa.dsl_pool().dp_tx_stats.dmu_tx_error == 1);
    });
}

TEST_CASE("between the minimum and the maximum of dirty data a transaction takes the time of the formula")
{
    model_config config = quiet_config();
    config.pool.dirty_data_max = 40'000'000;
    config.pool.delay_scale = 500'000;
    run_objset(config, [](spa_t &spa) {
        dsl_pool_t &dp = spa.dsl_pool();
        dmu_tx_ptr dirty = dmu_tx_create_assigned(dp, dp.dp_tx.tx_open_txg);
        dsl_pool_dirty_space(dp, 32'000'000, *dirty);

        const int64_t start = now_ps();
        dmu_tx_ptr tx = dmu_tx_create(spa.objset());
        dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT);
        CHECK(dmu_tx_assign(*tx, TXG_NOWAIT).error() == ERESTART);
        REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
        CHECK(now_ps() - start == ms / 2);
        dmu_tx_commit(std::move(tx));

        // The next one is counted from when that one went on.
        tx = dmu_tx_create(spa.objset());
        dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT);
        REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
        CHECK(now_ps() - start == ms);
        dmu_tx_commit(std::move(tx));
        CHECK(dp.dp_tx_stats.dmu_tx_dirty_delay == 3);
        dsl_pool_undirty_space(dp, 32'000'000, dirty->tx_txg);
        dmu_tx_commit(std::move(dirty));
    });
}

TEST_CASE("at dirty_data_max a transaction waits until dirty bytes are given back")
{
    model_config config = quiet_config();
    config.pool.dirty_data_max = 40'000'000;
    run_objset(config, [](spa_t &spa) {
        dsl_pool_t &dp = spa.dsl_pool();
        dmu_tx_ptr dirty = dmu_tx_create_assigned(dp, dp.dp_tx.tx_open_txg);
        dsl_pool_dirty_space(dp, 40'000'000, *dirty);
        thread_create("writer", [&] {
            delay(seconds(3), WaitKind::other);
            dsl_pool_undirty_space(dp, 40'000'000, dirty->tx_txg);
        });

        const int64_t start = now_ps();
        dmu_tx_ptr tx = dmu_tx_create(spa.objset());
        dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT);
        REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
        CHECK(now_ps() - start == 3'000 * ms);
        CHECK(dp.dp_tx_stats.dmu_tx_dirty_over_max == 1);
        dmu_tx_commit(std::move(tx));
        dmu_tx_commit(std::move(dirty));
    });
}

TEST_CASE("a dnode claimed by the quiescing txg makes a transaction of the next txg wait for that one")
{
    run_objset(quiet_config(), [](spa_t &spa) {
        objset_t &os = spa.objset();
        dsl_pool_t &dp = spa.dsl_pool();
        dmu_tx_ptr tx = dmu_tx_create(os);
        dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT);
        REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
        const uint64_t object = dmu_object_alloc(os, {}, *tx);
        dmu_tx_commit(std::move(tx));

        dmu_tx_ptr early = dmu_tx_create(os);
        dmu_tx_hold_bonus(*early, object);
        REQUIRE(dmu_tx_assign(*early, TXG_WAIT).ok());
        const uint64_t txg = early->tx_txg;
        txg_quiesce_begin(dp);
        thread_create("early", [&] {
            delay(seconds(2), WaitKind::other);
            dmu_tx_commit(std::move(early));
        });

        const int64_t start = now_ps();
        dmu_tx_ptr late = dmu_tx_create(os);
        dmu_tx_hold_bonus(*late, object);
        REQUIRE(dmu_tx_assign(*late, TXG_WAIT).ok());
        CHECK(late->tx_txg == txg + 1);
        CHECK(now_ps() - start == 2'000 * ms);
        CHECK(dp.dp_tx_stats.dmu_tx_group == 1);
        dmu_tx_commit(std::move(late));
    });
}

TEST_CASE("a transaction whose estimate is above the ARC's size is recognised as never assignable")
{
    model_config config = quiet_config();
    config.pool.arc_max = 1 << 20;
    const sim::End end = run_objset(config, [](spa_t &spa) {
        dmu_tx_ptr tx = dmu_tx_create(spa.objset());
        dmu_tx_hold_space(*tx, (1 << 20) + 1);
        dmu_tx_assign(*tx, TXG_WAIT).ok();
    });
    CHECK(end.ending == sim::Ending::livelock);
}

namespace {

// Two threads, one object. B has a transaction open when its txg is closed, and needs the object's structure lock to
// finish it. A changes the same object in the next txg, so it must wait for B's, with or without the structure lock in
// hand.
sim::End lock_and_assign(bool lock_first)
{
    return run_objset(quiet_config(), [=](spa_t &spa) {
        objset_t &os = spa.objset();
        dmu_tx_ptr tx = dmu_tx_create(os);
        dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT);
        REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
        const uint64_t object = dmu_object_alloc(os, {}, *tx);
        dmu_tx_commit(std::move(tx));
        Result<dnode_hold_t> dn = dnode_hold(os, object);
        REQUIRE(dn.ok());

        int running = 2;
        kmutex_t done_lock{"first"};
        kcondvar_t done;
        const auto finished = [&] {
            auto held = mutex_enter(done_lock);
            --running;
            cv_broadcast(done);
        };
        thread_create("B", [&] {
            dmu_tx_ptr early = dmu_tx_create(os);
            dmu_tx_hold_bonus(*early, object);
            REQUIRE(dmu_tx_assign(*early, TXG_WAIT).ok());
            txg_quiesce_begin(spa.dsl_pool());
            delay(milliseconds(2));
            rw_enter((*dn)->dn_struct_rwlock, RW_WRITER).exit();
            dmu_tx_commit(std::move(early));
            finished();
        });
        thread_create("A", [&] {
            delay(milliseconds(1));
            struct_guard_t writer;
            if (lock_first)
                writer = rw_enter((*dn)->dn_struct_rwlock, RW_WRITER);
            dmu_tx_ptr late = dmu_tx_create(os);
            dmu_tx_hold_bonus(*late, object);
            REQUIRE(dmu_tx_assign(*late, TXG_WAIT).ok());
            if (!lock_first)
                writer = rw_enter((*dn)->dn_struct_rwlock, RW_WRITER);
            writer.exit();
            dmu_tx_commit(std::move(late));
            finished();
        });

        auto held = mutex_enter(done_lock);
        while (running != 0)
            cv_wait(done, done_lock, WaitKind::other);
    });
}

bool contains(const std::string &text, const char *part)
{
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("waiting for a txg with a structure lock in hand closes a ring through the txg, and the ring is told")
{
    const sim::End end = lock_and_assign(true);
    CHECK(end.ending == sim::Ending::deadlock);
    CHECK(contains(end.text, "thread A"));
    CHECK(contains(end.text, "thread B"));
    CHECK(contains(end.text, "dn_struct_rwlock"));
    CHECK(contains(end.text, "claimed by a transaction of txg"));
    CHECK(!contains(end.text, "txg_sync")); // only those who are part of it
}

TEST_CASE("assigned before the structure lock is taken, the same two threads finish")
{
    CHECK(lock_and_assign(false).ending == sim::Ending::finished);
}

TEST_CASE("it is recognised too when the transaction is made anew for each try, as a file system does")
{
    model_config config = quiet_config();
    config.pool.arc_max = 1 << 20;
    const sim::End end = run_objset(config, [](spa_t &spa) {
        while (true) {
            dmu_tx_ptr tx = dmu_tx_create(spa.objset());
            dmu_tx_hold_space(*tx, (1 << 20) + 1);
            if (dmu_tx_assign(*tx, TXG_NOWAIT).ok())
                break;
            dmu_tx_wait(*tx);
            dmu_tx_abort(std::move(tx));
        }
    });
    CHECK(end.ending == sim::Ending::livelock);
    CHECK(contains(end.text, "arc_max"));
}
