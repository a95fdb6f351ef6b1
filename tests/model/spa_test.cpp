// A pool as a whole: what is left after its objset was opened again, exported and imported.
#include <doctest/doctest.h>

#include "model/dmu_object.h"
#include "model/objset.h"
#include "model/zpl_impl.h"
#include "tests/model/pool_fixture.h"

using namespace dmu_test;

namespace {

void create_objects(objset_t &os, int count)
{
    for (int i = 0; i < count; ++i) {
        dmu_tx_ptr tx = dmu_tx_create(os);
        dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT);
        REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
        dmu_object_alloc(os, {}, *tx);
        dmu_tx_commit(std::move(tx));
    }
}

} // namespace

TEST_CASE("a new pool has one synced txg behind its open one, and every level of its meta-dnode on disk")
{
    run_objset(quiet_config(), [](spa_t &spa) {
        const tx_state_t &tx = spa.dsl_pool().dp_tx;
        CHECK(tx.tx_open_txg == tx.tx_synced_txg + 1);
        CHECK(DMU_META_DNODE(spa.objset()).dn_phys->dn_nlevels == 7);
    });
}

TEST_CASE("opening the objset again syncs one txg and forgets the allocator's cursor")
{
    run_objset(quiet_config(), [](spa_t &spa) {
        create_objects(spa.objset(), 100);
        CHECK(spa.objset().os_obj_next == 100);
        const uint64_t open = spa.dsl_pool().dp_tx.tx_open_txg;
        objset_t &os = spa.spa_reopen_objset();
        CHECK(spa.dsl_pool().dp_tx.tx_open_txg == open + 1);
        CHECK(os.os_obj_next == 0);
        CHECK(dnode_hold(os, 100).ok());
        CHECK(dnode_hold(os, 101).error() == ENOENT);
    });
}

TEST_CASE("after an export and import everything is read back from disk, and 13 txgs have gone by")
{
    model_config config = quiet_config();
    config.pool.disk.latency_ns = 100'000;
    run_objset(config, [](spa_t &spa) {
        create_objects(spa.objset(), 100);
        txg_wait_synced(spa.dsl_pool(), spa.dsl_pool().dp_tx.tx_open_txg);
        const uint64_t open = spa.dsl_pool().dp_tx.tx_open_txg;
        const uint64_t reads = spa.dsl_pool().dp_vdev.stats().vs_reads;

        objset_t &os = spa.spa_export_import();
        CHECK(spa.dsl_pool().dp_tx.tx_open_txg == open + 13);
        CHECK(spa.dsl_pool().dp_vdev.stats().vs_reads == reads + 1); // the root block

        // Six levels of indirect blocks and the block of dnodes, one after the other.
        const int64_t start = now_ps();
        CHECK(dnode_hold(os, 100).ok());
        CHECK(spa.dsl_pool().dp_vdev.stats().vs_reads == reads + 8);
        CHECK(now_ps() - start >= 7 * ms / 10);
    });
}

TEST_CASE("an invariant that breaks while a scope is left ends the run, not the program")
{
    const sim::End end = run_objset(quiet_config(), [](spa_t &spa) {
        const auto zfsvfs = zfs_create_fs(spa.objset());
        const zfs_enter entered(*zfsvfs);
        for (auto &lock : zfsvfs->z_teardown_lock)
            lock.rr_lock.enter(); // leaving will want one of them
    });
    CHECK(end.ending == sim::Ending::invariant);
    CHECK(end.text.find("rrm_exit") != std::string::npos);
}
