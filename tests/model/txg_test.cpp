// Transaction groups: when they close, what they wait for, how many are in flight.
#include <doctest/doctest.h>

#include "tests/model/pool_fixture.h"

using namespace dmu_test;

TEST_CASE("a txg closes when its timeout has passed since the last sync began")
{
    model_config config = quiet_config();
    config.pool.txg_timeout_ns = 5'000'000'000;
    run_pool(config, [](spa_t &spa) {
        tx_state_t &tx = spa.dsl_pool().dp_tx;
        tx.tx_keep_rows = true;
        CHECK(tx.tx_open_txg == 4);
        delay(milliseconds(4'999), WaitKind::other);
        CHECK(tx.tx_open_txg == 4);
        delay(milliseconds(2), WaitKind::other);
        CHECK(tx.tx_open_txg == 5);
        CHECK(tx.tx_synced_txg == 4); // it was empty
        delay(milliseconds(5'000), WaitKind::other);
        CHECK(tx.tx_open_txg == 6);

        REQUIRE(tx.tx_rows.size() == 2);
        CHECK(tx.tx_rows[0].txg == 4);
        CHECK(tx.tx_rows[0].closed.ps == 5'000 * ms);
        CHECK(tx.tx_rows[1].opened.ps == 5'000 * ms);
        CHECK(tx.tx_rows[1].closed.ps == 10'000 * ms);
    });
}

TEST_CASE("more dirty bytes than dirty_data_sync close the txg at the next transaction")
{
    model_config config = quiet_config();
    config.pool.dirty_data_sync = 64 << 20;
    run_pool(config, [](spa_t &spa) {
        dsl_pool_t &dp = spa.dsl_pool();
        dmu_tx_ptr tx = dmu_tx_create_assigned(dp, 4);
        delay(milliseconds(1)); // the sync thread has looked and waits for its timeout
        dsl_pool_dirty_space(dp, 64 << 20, *tx);
        CHECK(!dsl_pool_need_dirty_delay(dp));
        delay(milliseconds(1), WaitKind::other);
        CHECK(dp.dp_tx.tx_open_txg == 4); // exactly the limit is not more

        dsl_pool_dirty_space(dp, 1, *tx);
        CHECK(!dsl_pool_need_dirty_delay(dp));
        delay(milliseconds(1), WaitKind::other);
        CHECK(dp.dp_tx.tx_open_txg == 5);
        CHECK(dp.dp_tx.tx_synced_txg == 4);
        CHECK(dp.dp_dirty_total == 0); // nothing was there to write: given back all the same
        dmu_tx_commit(std::move(tx));
    });
}

TEST_CASE("a txg is quiescing until its last holder has left, and the next one is open meanwhile")
{
    run_pool(quiet_config(), [](spa_t &spa) {
        dsl_pool_t &dp = spa.dsl_pool();
        txg_handle_t held;
        CHECK(txg_hold_open(dp, held) == 4);
        txg_rele_to_quiesce(held);

        txg_quiesce_begin(dp);
        CHECK(dp.dp_tx.tx_open_txg == 5);
        CHECK(dp.dp_tx.tx_quiesced_txg == 0);
        CHECK(dp.dp_tx.tx_synced_txg == 3);

        // Two txgs in flight: this one joins the open group while the other still quiesces.
        txg_handle_t other;
        CHECK(txg_hold_open(dp, other) == 5);
        txg_rele_to_quiesce(other);
        delay(seconds(1), WaitKind::other);
        CHECK(dp.dp_tx.tx_synced_txg == 3);

        dp.dp_tx.tx_keep_rows = true;
        txg_rele_to_sync(held);
        txg_wait_synced(dp, 4);
        CHECK(dp.dp_tx.tx_synced_txg == 4);
        CHECK(dp.dp_tx.tx_open_txg == 5);
        REQUIRE(dp.dp_tx.tx_rows.size() == 1);
        CHECK(dp.dp_tx.tx_rows[0].quiesced - dp.dp_tx.tx_rows[0].closed == seconds(1));
        txg_rele_to_sync(other);
    });
}

TEST_CASE("a sync of the open txg syncs exactly one")
{
    run_pool(quiet_config(), [](spa_t &spa) {
        dsl_pool_t &dp = spa.dsl_pool();
        for (uint64_t txg = 4; txg < 10; ++txg) {
            txg_wait_synced(dp, txg);
            CHECK(dp.dp_tx.tx_open_txg == txg + 1);
            CHECK(dp.dp_tx.tx_synced_txg == txg);
        }
    });
}

TEST_CASE("waiting for the next open txg closes the present one")
{
    run_pool(quiet_config(), [](spa_t &spa) {
        dsl_pool_t &dp = spa.dsl_pool();
        txg_wait_open(dp, 0);
        CHECK(dp.dp_tx.tx_open_txg == 5);
        txg_wait_synced(dp, 4);
    });
}

TEST_CASE("a kick closes the open txg, and it is synced when its holders have left")
{
    run_pool(quiet_config(), [](spa_t &spa) {
        dsl_pool_t &dp = spa.dsl_pool();
        txg_handle_t held;
        txg_hold_open(dp, held);
        txg_rele_to_quiesce(held);
        txg_kick(dp);
        delay(milliseconds(1), WaitKind::other);
        CHECK(dp.dp_tx.tx_open_txg == 5);
        CHECK(dp.dp_tx.tx_synced_txg == 3);
        txg_rele_to_sync(held);
        delay(milliseconds(1), WaitKind::other);
        CHECK(dp.dp_tx.tx_synced_txg == 4);
        CHECK(dp.dp_tx.tx_open_txg == 5);
    });
}
