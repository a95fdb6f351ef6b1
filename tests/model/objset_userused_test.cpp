// User accounting: what sync says that owners use, against what their dnodes on disk come to.
#include <doctest/doctest.h>

#include "model/dmu_state.h"
#include "model/objset.h"
#include "model/zap.h"
#include "model/zpl.h"
#include "sim/random.h"
#include "tests/model/pool_fixture.h"
#include "tests/model/work_together.h"

using namespace dmu_test;

namespace {

constexpr uint32_t alice = 0xa, bob = 0xb, staff = 0x5;

model_config accounting_config(const char *form)
{
    model_config config = quiet_config();
    config.code.user_accounting = form;
    return config;
}

void sync(spa_t &spa)
{
    txg_wait_synced(spa.dsl_pool(), spa.dsl_pool().dp_tx.tx_open_txg);
}

uint64_t calls_of(Fn function)
{
    uint64_t calls = 0;
    for (const auto &thread : sim::hot.simulator->threads())
        calls += thread->calls[static_cast<size_t>(function)];
    return calls;
}

// Increments that syncing what is dirty takes.
uint64_t increments_of_sync(spa_t &spa)
{
    const uint64_t before = calls_of(Fn::zap_increment);
    sync(spa);
    return calls_of(Fn::zap_increment) - before;
}

znode_ref root_of(zfsvfs_t &zfsvfs)
{
    auto root = zfs_open_dir(zfsvfs, "");
    REQUIRE(root.ok());
    return std::move(*root);
}

void write_file(znode_t &dir, const char *name, uint64_t bytes)
{
    auto file = zfs_open_file(dir, name);
    REQUIRE(file.ok());
    REQUIRE(zpl_write(**file, 0, bytes).ok());
}

} // namespace

TEST_CASE("a file is its owner's from its first sync to the sync of its removal: its dnode and its blocks")
{
    const sim::End end = run_objset(accounting_config("per-dnode"), [](spa_t &spa) {
        objset_t &os = spa.objset();
        auto zfsvfs = zfs_create_fs(os);
        {
            const znode_ref root = root_of(*zfsvfs);
            REQUIRE(zpl_create(*root, "small", {alice, staff}).ok());
            CHECK(userused_report(os).users.empty()); // nothing has been synced
            sync(spa);
            CHECK(userused_report(os).users.at(alice) == 512);
            CHECK(userused_report(os).groups.at(staff) == 512);

            // A record and its dnode. Bob's file has two records, below a level of 16 KiB pointers.
            write_file(*root, "small", 4096);
            REQUIRE(zpl_create(*root, "large", {bob, staff}).ok());
            write_file(*root, "large", 256 << 10);
            CHECK(userused_report(os).users.at(alice) == 512);
            sync(spa);
            const userused_report_t both = userused_report(os);
            CHECK(both.users.at(alice) == 512 + 4096);
            CHECK(both.users.at(bob) == 512 + (256 << 10) + (16 << 10));
            CHECK(both.groups.at(staff) == both.users.at(alice) + both.users.at(bob));
            CHECK(both == userused_recounted(os));

            {
                auto file = zfs_open_file(*root, "large");
                REQUIRE(file.ok());
                REQUIRE(zpl_truncate(**file, 0).ok());
            }
            REQUIRE(zpl_unlink(*root, "small").ok());
            sync(spa);
            CHECK(!userused_report(os).users.contains(alice)); // a sum of 0 has no entry
            CHECK(userused_report(os).users.at(bob) == 512);
            CHECK(userused_report(os).groups.at(staff) == 512);
            CHECK(userused_report(os) == userused_recounted(os));
        }
        zfs_umount(std::move(zfsvfs));
    });
    CHECK(end.text == "");
}

TEST_CASE("per dnode, a new file takes two increments, a changed one four, a freed one two; aggregated, an owner two")
{
    struct expected_t {
        const char *form;
        uint64_t made, changed, freed;
    };
    // The root directory, of user and group 0, changes with every name, but not with a file's contents. The delete
    // queue, which a freed file passes, is nobody's. Aggregated: three users and two groups, or two and one.
    for (const expected_t &expected :
         {expected_t{"per-dnode", 2 * 3 + 4, 4 * 3, 2 * 3 + 4}, expected_t{"aggregated", 3 + 2, 2 + 1, 3 + 2}}) {
        CAPTURE(std::string(expected.form));
        const sim::End end = run_objset(accounting_config(expected.form), [&](spa_t &spa) {
            auto zfsvfs = zfs_create_fs(spa.objset());
            sync(spa);
            {
                const znode_ref root = root_of(*zfsvfs);
                REQUIRE(zpl_create(*root, "a1", {alice, staff}).ok());
                REQUIRE(zpl_create(*root, "b", {bob, staff}).ok());
                REQUIRE(zpl_create(*root, "a2", {alice, staff}).ok()); // by turns
                CHECK(increments_of_sync(spa) == expected.made);
                for (const char *name : {"a1", "b", "a2"})
                    write_file(*root, name, 512);
                CHECK(increments_of_sync(spa) == expected.changed);
                for (const char *name : {"a1", "b", "a2"})
                    REQUIRE(zpl_unlink(*root, name).ok());
                CHECK(increments_of_sync(spa) == expected.freed);
            }
            zfs_umount(std::move(zfsvfs));
        });
        CHECK(end.text == "");
    }
}

TEST_CASE("a file that changes hands is taken from its old owner, also when it does in two txgs at once")
{
    for (const char *form : {"per-dnode", "aggregated"}) {
        const sim::End end = run_objset(accounting_config(form), [](spa_t &spa) {
            objset_t &os = spa.objset();
            auto zfsvfs = zfs_create_fs(os);
            {
                const znode_ref root = root_of(*zfsvfs);
                REQUIRE(zpl_create(*root, "f", {alice, staff}).ok());
                write_file(*root, "f", 1024);
                auto file = zfs_open_file(*root, "f");
                REQUIRE(file.ok());
                const auto give_to = [&](uint32_t uid) {
                    dmu_tx_ptr tx = dmu_tx_create(os);
                    dmu_tx_hold_bonus(*tx, (*file)->z_id);
                    REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
                    dmu_buf_will_dirty((*file)->z_sa_hdl, *tx);
                    static_cast<znode_phys_t *>((*file)->z_sa_hdl.db_data)->zp_owner.uid = uid;
                    dmu_tx_commit(std::move(tx));
                };
                sync(spa);
                give_to(bob);
                sync(spa);
                CHECK(userused_report(os).users.at(bob) == 512 + 1024);
                CHECK(!userused_report(os).users.contains(alice));

                // Nobody's transaction keeps a txg from being synced until the next one has changed the file, too.
                dmu_tx_ptr open = dmu_tx_create(os);
                dmu_tx_hold_bonus(*open, DMU_NEW_OBJECT);
                REQUIRE(dmu_tx_assign(*open, TXG_WAIT).ok());
                const uint64_t txg = dmu_tx_get_txg(*open);
                give_to(alice);
                txg_quiesce_begin(spa.dsl_pool());
                give_to(bob);
                dmu_tx_commit(std::move(open));
                txg_wait_synced(spa.dsl_pool(), txg);
                CHECK(userused_report(os).users.at(alice) == 512 + 1024);
                CHECK(!userused_report(os).users.contains(bob));
                sync(spa);
                CHECK(userused_report(os).users.at(bob) == 512 + 1024);
                CHECK(!userused_report(os).users.contains(alice));
                CHECK(userused_report(os).groups.at(staff) == 512 + 1024);
            }
            zfs_umount(std::move(zfsvfs));
        });
        CHECK(end.text == "");
    }
}

TEST_CASE("an owner is known again from the disk when nothing of the file system is left in memory")
{
    const sim::End end = run_objset(accounting_config("aggregated"), [](spa_t &spa) {
        auto zfsvfs = zfs_create_fs(spa.objset());
        {
            const znode_ref root = root_of(*zfsvfs);
            REQUIRE(zpl_create(*root, "f", {alice, staff}).ok());
            REQUIRE(zpl_create(*root, "g", {bob, staff}).ok());
        }
        zfs_umount(std::move(zfsvfs));
        objset_t &os = spa.spa_export_import();
        zfsvfs = zfs_mount(os);
        {
            const znode_ref root = root_of(*zfsvfs);
            write_file(*root, "f", 1024);
            REQUIRE(zpl_unlink(*root, "g").ok());
            sync(spa);
            CHECK(userused_report(os).users.at(alice) == 512 + 1024);
            CHECK(!userused_report(os).users.contains(bob));
            CHECK(userused_report(os) == userused_recounted(os));
        }
        zfs_umount(std::move(zfsvfs));
    });
    CHECK(end.text == "");
}

TEST_CASE("an objset that is no file system, and a file system without accounting, have no accounting dnodes")
{
    const sim::End plain = run_objset(accounting_config("per-dnode"), [](spa_t &spa) {
        CHECK(!dmu_objset_userused_enabled(spa.objset()));
        CHECK(dnode_hold(spa.objset(), DMU_USERUSED_OBJECT).error() == ENOENT);
    });
    CHECK(plain.text == "");
    const sim::End off = run_objset(accounting_config("off"), [](spa_t &spa) {
        auto zfsvfs = zfs_create_fs(spa.objset());
        CHECK(!dmu_objset_userused_enabled(spa.objset()));
        CHECK(increments_of_sync(spa) == 0);
        zfs_umount(std::move(zfsvfs));
    });
    CHECK(off.text == "");
}

namespace {

// One change of a file, directory or name, by one of six owners. What cannot be done is not.
void one_change(zfsvfs_t &zfsvfs, sim::Random &random)
{
    const znode_ref root = root_of(zfsvfs);
    const auto name = [&] { return "f" + std::to_string(random.below(40)); };
    const owner_t owner{static_cast<uint32_t>(random.below(6)), static_cast<uint32_t>(random.below(3))};
    const uint64_t what = random.below(100);
    if (what < 35) {
        std::ignore = zpl_create(*root, name(), owner);
    } else if (what < 55) {
        std::ignore = zpl_unlink(*root, name());
    } else if (what < 60) {
        std::ignore = zpl_mkdir(*root, "d" + std::to_string(random.below(5)), owner);
    } else if (what < 65) {
        std::ignore = zpl_rmdir(*root, "d" + std::to_string(random.below(5)));
    } else if (what < 70) {
        std::ignore = zpl_rename(*root, name(), *root, name());
    } else if (auto file = zfs_open_file(*root, name()); file.ok()) {
        if (what < 90)
            REQUIRE(zpl_write(**file, random.below(300 << 10), 1 + random.below(64 << 10)).ok());
        else
            REQUIRE(zpl_truncate(**file, random.below(200 << 10)).ok());
    }
}

// What the accounting ZAPs say after each of 60 txgs of up to 30 changes by one thread.
std::vector<userused_report_t> random_work(const char *form, uint64_t seed)
{
    std::vector<userused_report_t> synced;
    const sim::End end = run_objset(accounting_config(form), [&](spa_t &spa) {
        auto zfsvfs = zfs_create_fs(spa.objset());
        sim::Random random(seed, "work");
        for (int txg = 0; txg < 60; ++txg) {
            for (uint64_t changes = random.below(30); changes > 0; --changes)
                one_change(*zfsvfs, random);
            if (txg % 10 == 5)
                dmu_objset_evict_dbufs(spa.objset());
            sync(spa);
            synced.push_back(userused_report(spa.objset()));
            CHECK(synced.back() == userused_recounted(spa.objset()));
            CHECK(spa.dsl_pool().dp_dirty_total == 0);
        }
        zfs_umount(std::move(zfsvfs));
    });
    CHECK(end.text == "");
    return synced;
}

} // namespace

TEST_CASE("after every sync of random work the sums are those of the dnodes, and the same in both forms")
{
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        CAPTURE(seed);
        const std::vector<userused_report_t> per_dnode = random_work("per-dnode", seed);
        CHECK(per_dnode == random_work("aggregated", seed));
        CHECK(per_dnode.back().users.size() > 3);
    }
}

TEST_CASE("the sums are right whoever works, dirties and evicts while a txg is synced by one thread or by four")
{
    for (const uint32_t sync_threads : {1u, 4u})
        for (uint64_t seed = 1; seed <= 4; ++seed) {
            CAPTURE(sync_threads);
            CAPTURE(seed);
            model_config config = accounting_config(seed % 2 == 0 ? "per-dnode" : "aggregated");
            config.pool.sync_threads = sync_threads;
            config.pool.txg_timeout_ns = 2'000'000; // txgs end while the threads work
            config.pool.disk.latency_ns = 100'000;
            sim::Machine machine = sim::find_machine_profile("flat")->machine;
            machine.cpus = 4;
            sim::Simulator simulator(machine, model_tables(), seed);
            simulator.disturb(seed);
            simulator.spawn("test", {}, [&] {
                spa_t spa(config);
                spa.spa_create();
                auto zfsvfs = zfs_create_fs(spa.objset());
                constexpr uint64_t threads = 4;
                work_together(simulator, threads, [&](uint64_t t) {
                    sim::Random random = simulator.random("worker", t);
                    for (int i = 0; i < 300; ++i) {
                        one_change(*zfsvfs, random);
                        if (random.below(50) == 0)
                            dmu_objset_evict_dbufs(spa.objset());
                    }
                });
                const uint64_t txgs = spa.dsl_pool().dp_tx.tx_open_txg;
                CHECK(txgs > 10);
                sync(spa);
                CHECK(userused_report(spa.objset()) == userused_recounted(spa.objset()));
                CHECK(userused_report(spa.objset()).users.size() > 3);
                zfs_umount(std::move(zfsvfs));
                spa.spa_stop();
                spa.spa_close(); // nobody holds anything
            });
            CHECK(simulator.run().text == "");
        }
}
