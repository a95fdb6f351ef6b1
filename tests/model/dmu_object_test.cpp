// The allocators on the real tree: what they trust, what they find taken, and what they cost.
#include <doctest/doctest.h>

#include "model/dmu_object.h"
#include "model/dmu_state.h"
#include "model/objset.h"
#include "tests/model/pool_fixture.h"

using namespace dmu_test;

namespace {

model_config config_with(const char *era, const char *allocator)
{
    model_config config = quiet_config();
    model_config base = era_config(era);
    config.code = base.code;
    config.dataset = base.dataset;
    config.code.object_alloc = allocator;
    return config;
}

uint64_t alloc(objset_t &os)
{
    dmu_tx_ptr tx = dmu_tx_create(os);
    dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT);
    REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
    const uint64_t object = dmu_object_alloc(os, dnode_spec{}, *tx);
    dmu_tx_commit(std::move(tx));
    return object;
}

void alloc_many(objset_t &os, uint64_t count)
{
    for (uint64_t i = 0; i < count; ++i)
        alloc(os);
}

void free_one(objset_t &os, uint64_t object)
{
    dmu_tx_ptr tx = dmu_tx_create(os);
    dmu_tx_hold_free(*tx, object, 0, DMU_OBJECT_END);
    REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
    CHECK(dmu_object_free(os, object, *tx).ok());
    dmu_tx_commit(std::move(tx));
}

void sync(spa_t &spa)
{
    txg_wait_synced(spa.dsl_pool(), spa.dsl_pool().dp_tx.tx_open_txg);
}

// The pointer to the level-1 block `index`, in memory where a search reads it.
blkptr_t &l1_pointer(objset_t &os, uint64_t index)
{
    dnode_t &mdn = DMU_META_DNODE(os);
    auto reader = rw_enter(mdn.dn_struct_rwlock, RW_READER);
    auto l2 = dbuf_hold_impl(mdn, 2, 0, true, false);
    REQUIRE(l2.ok());
    REQUIRE(dbuf_read(**l2, DB_RF_HAVESTRUCT).ok());
    return (*l2)->blkptrs()[index];
}

} // namespace

TEST_CASE("the search trusts the fill count of the synced tree: change one, and the answer changes")
{
    run_objset(quiet_config(), [](spa_t &spa) {
        objset_t &os = spa.objset();
        alloc_many(os, 5 * 4096);
        sync(spa);
        dnode_t &mdn = DMU_META_DNODE(os);
        const auto first_sparse = [&] {
            return dnode_next_offset(mdn, DNODE_FIND_HOLE, 0, 2, 8, 0).offset >> DNODE_SHIFT;
        };
        // Objects 0 to 20,480 are in use: five full level-1 blocks, and a sixth with one object.
        CHECK(first_sparse() == 5 * 4096);
        blkptr_t &bp = l1_pointer(os, 2);
        CHECK(bp.blk_fill == 4096);
        bp.blk_fill = 1023;
        CHECK(first_sparse() == 2 * 4096);
        bp.blk_fill = 1024; // a quarter full is not less than a quarter full
        CHECK(first_sparse() == 5 * 4096);
        bp.blk_fill = 4096;
    });
}

TEST_CASE("a slot marked used in the dnode block cannot be held as free")
{
    run_objset(quiet_config(), [](spa_t &spa) {
        objset_t &os = spa.objset();
        alloc_many(os, 10);
        sync(spa);
        objset_t &again = spa.spa_reopen_objset(); // no dnode_t stands for a slot now
        dnode_t &mdn = DMU_META_DNODE(again);
        {
            auto reader = rw_enter(mdn.dn_struct_rwlock, RW_READER);
            auto db = dbuf_hold(mdn, 0);
            REQUIRE(dbuf_read(*db, DB_RF_HAVESTRUCT).ok());
            reader.exit();
            db->dnodes()[20].dn_type = DMU_OT_UINT64_OTHER;
            db->dnodes()[20].dn_nlevels = 1;
        }
        CHECK(dnode_hold_impl(again, 20, DNODE_MUST_BE_FREE, 1).error() == EEXIST);
        CHECK(dnode_hold_impl(again, 21, DNODE_MUST_BE_FREE, 1).ok());
        CHECK(dnode_hold_impl(again, 20, DNODE_MUST_BE_ALLOCATED, 0).ok());
    });
}

TEST_CASE("what is allocated in the open txg is taken for a hold and free for the tree")
{
    run_objset(quiet_config(), [](spa_t &spa) {
        objset_t &os = spa.objset();
        alloc_many(os, 40);
        CHECK(dnode_hold_impl(os, 40, DNODE_MUST_BE_FREE, 1).error() == EEXIST);
        CHECK(dmu_object_next(os, 0, false, 0).error == ESRCH);
        CHECK(meta_dnode_report(os).used_objects == 0);
        sync(spa);
        CHECK(dmu_object_next(os, 0, false, 0).object == 1);
        CHECK(dmu_object_next(os, 0, true, 0).object == 41);
        CHECK(meta_dnode_report(os).used_objects == 40);
    });
}

TEST_CASE("legacy: the k-th boundary of a txg costs 4096 (k - 1) visits; every other rule costs none")
{
    for (const char *allocator : {"legacy", "rescan", "no-backfill"}) {
        run_objset(config_with("zol-2016-05", allocator), [&](spa_t &spa) {
            objset_t &os = spa.objset();
            alloc_many(os, 4 * 4096);
            const bool quadratic = allocator == std::string("legacy");
            const uint64_t visits = quadratic ? 4096 * (1 + 2 + 3) : 0;
            const uint64_t searches = quadratic ? 1 + 2 + 3 + 4 : 4;
            CHECK(os.allocator.visits == visits);
            CHECK(os.allocator.searches == searches);
        });
    }
}

TEST_CASE("rescan: enough frees in one sync bring the cursor back to object 0 once, at the next boundary")
{
    model_config config = config_with("zol-2016-05-rescan", "rescan");
    config.code.rescan_threshold = 4000;
    run_objset(config, [](spa_t &spa) {
        objset_t &os = spa.objset();
        alloc_many(os, 3 * 4096);
        sync(spa);
        for (uint64_t object = 1; object < 4000; ++object)
            free_one(os, object);
        sync(spa);
        CHECK(os.os_freed_dnodes == 3999); // one short: kept for the next txg
        CHECK(!os.os_rescan_dnodes.load());
        free_one(os, 4000);
        sync(spa);
        CHECK(os.os_freed_dnodes == 0);
        CHECK(os.os_rescan_dnodes.load());
        CHECK(alloc(os) == 1); // 12,288 objects: the cursor stands on a boundary
        CHECK(!os.os_rescan_dnodes.load());
    });
}

TEST_CASE("per-cpu: os_obj_lock is taken once a chunk, and a CPU has its dnode blocks for itself")
{
    run_objset(config_with("zol-2017", "per-cpu"), [](spa_t &spa) {
        objset_t &os = spa.objset();
        alloc_many(os, 128 * 10);
        CHECK(os.allocator.chunks == 11); // object 0 cannot be had, so the tenth chunk ends one short
        CHECK(os.allocator.shared_blocks == 0);
        CHECK(os.allocator.visits == 1);
    });
}

TEST_CASE("freed objects come back only after their txg has synced")
{
    run_objset(quiet_config(), [](spa_t &spa) {
        objset_t &os = spa.objset();
        alloc_many(os, 10);
        sync(spa);
        free_one(os, 5);
        CHECK(dnode_hold_impl(os, 5, DNODE_MUST_BE_FREE, 1).error() != 0);
        CHECK(dnode_hold_impl(os, 5, DNODE_MUST_BE_ALLOCATED, 0).error() != 0);
        sync(spa);
        CHECK(dnode_hold_impl(os, 5, DNODE_MUST_BE_FREE, 1).ok());
        CHECK(dnode_hold_impl(os, 5, DNODE_MUST_BE_ALLOCATED, 0).error() == ENOENT);
    });
}

TEST_CASE("an emptied tree gives every block back but those of the root")
{
    run_objset(quiet_config(), [](spa_t &spa) {
        objset_t &os = spa.objset();
        sync(spa);
        const uint64_t before = spa.spa_dmu->store.blocks_in_use();
        alloc_many(os, 9000);
        sync(spa);
        const uint64_t expected = before + 282 + 3 + 5;
        CHECK(spa.spa_dmu->store.blocks_in_use() == expected); // dnode blocks, level 1, levels 2 to 6
        for (uint64_t object = 1; object <= 9000; ++object)
            free_one(os, object);
        sync(spa);
        sync(spa);
        CHECK(spa.spa_dmu->store.blocks_in_use() == before);
        CHECK(meta_dnode_report(os).used_objects == 0);
    });
}

TEST_CASE("an exported and imported pool is read back from disk: the objects are there, the cursors at 0")
{
    run_objset(quiet_config(), [](spa_t &spa) {
        alloc_many(spa.objset(), 5000);
        objset_t &os = spa.spa_export_import();
        CHECK(os.os_obj_next == 0);
        CHECK(os.stats.dnode_create == 1); // the meta-dnode; no other is in memory
        CHECK(dnode_hold(os, 5000).ok());
        CHECK(dnode_hold(os, 5001).error() == ENOENT);
        CHECK(spa.spa_dmu->arc.stats.misses > 0);
        CHECK(alloc(os) == 5001); // the first level-1 block is full, the second holds under a quarter
    });
}
