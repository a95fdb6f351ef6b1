// The steps of a transaction, function by function and lock by lock, against the recorded create of the real library
// (8bea98150, one object held and one new): only what the transaction machinery itself enters.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "model/dmu_object.h"
#include "tests/model/pool_fixture.h"

using namespace dmu_test;

namespace {

struct profile_t {
    std::map<std::string, uint64_t> fn, mutex;

    static profile_t now()
    {
        profile_t profile;
        for (uint16_t i = 0; i < static_cast<uint16_t>(Fn::count); ++i)
            if (i != static_cast<uint16_t>(Fn::kmem_alloc)) // malloc there
                profile.fn[costs[i].name] += curthread().calls[i];
        for (uint16_t i = 0; i < lock_class_count; ++i)
            profile.mutex[std::string(lock_class_names[i])] = sim::hot.lock_counts[i].acquisitions;
        return profile;
    }
    profile_t since(const profile_t &before) const
    {
        profile_t difference;
        for (const auto &[name, count] : fn)
            if (count != before.fn.at(name))
                difference.fn[name] = count - before.fn.at(name);
        for (const auto &[name, count] : mutex)
            if (count != before.mutex.at(name))
                difference.mutex[name] = count - before.mutex.at(name);
        return difference;
    }
};

template <class Step>
profile_t profile_of(Step step)
{
    const profile_t before = profile_t::now();
    step();
    return profile_t::now().since(before);
}

using counts = std::map<std::string, uint64_t>;

} // namespace

TEST_CASE("the steps of a transaction enter what the recorded ones enter")
{
    run_objset(quiet_config(), [](spa_t &spa) {
        objset_t &os = spa.objset();
        uint64_t directory = 0;
        {
            dmu_tx_ptr tx = dmu_tx_create(os);
            dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT);
            REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
            directory = dmu_object_alloc(os, {}, *tx);
            dmu_tx_commit(std::move(tx));
            txg_wait_synced(spa.dsl_pool(), 0);
        }
        Result<dnode_hold_t> held = dnode_hold(os, directory); // as a mounted file system would
        REQUIRE(held.ok());

        dmu_tx_ptr tx;
        const profile_t create = profile_of([&] { tx = dmu_tx_create(os); });
        CHECK(create.fn == counts{{"dmu_tx_create", 1}, {"dmu_tx_create_dd", 1}, {"dsl_dataset_prev_snap_txg", 1}});
        CHECK(create.mutex == counts{});

        dmu_tx_hold_bonus(*tx, directory);
        const profile_t hold = profile_of([&] { dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT); });
        CHECK(hold.fn == counts{{"dmu_tx_hold_bonus", 1}, {"dmu_tx_hold_object_impl", 1}, {"dmu_tx_count_dnode", 1}});
        CHECK(hold.mutex == counts{});

        const profile_t assign = profile_of([&] { REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok()); });
        CHECK(assign.fn == counts{{"dsl_dataset_prev_snap_txg", 1},
                                  {"dsl_dir_space_towrite", 2},
                                  {"parent_delta", 2},
                                  {"dmu_tx_assign", 1},
                                  {"dmu_tx_try_assign", 1},
                                  {"dsl_pool_need_dirty_delay", 1},
                                  {"txg_hold_open", 1},
                                  {"dsl_dir_tempreserve_space", 1},
                                  {"arc_tempreserve_space", 1},
                                  {"arc_memory_throttle", 1},
                                  {"dsl_dir_tempreserve_impl", 2},
                                  {"dsl_dataset_check_quota", 1},
                                  {"dsl_pool_adjustedsize", 1},
                                  {"txg_rele_to_quiesce", 1}});
        CHECK(
            assign.mutex ==
            counts{{"dd_lock", 2}, {"dp_lock", 1}, {"tc_open_lock", 1}, {"tc_lock", 1}, {"dn_mtx", 1}, {"ds_lock", 1}});

        dmu_object_alloc(os, {}, *tx);
        profile_t commit = profile_of([&] { dmu_tx_commit(std::move(tx)); });
        CHECK(commit.fn["dnode_rele"] == 2);
        CHECK(commit.fn["dmu_tx_commit"] == 1);
        CHECK(commit.fn["dsl_dir_tempreserve_clear"] == 1);
        CHECK(commit.fn["arc_tempreserve_clear"] == 1);
        CHECK(commit.fn["txg_rele_to_sync"] == 1);
        // dn_mtx: twice by the transaction, twice by dnode_rele.
        CHECK(commit.mutex == counts{{"dn_mtx", 4}, {"dd_lock", 2}, {"tc_lock", 1}});
    });
}
