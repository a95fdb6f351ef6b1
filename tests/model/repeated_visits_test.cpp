// Visits that are entered as repetitions of one that ran leave everything as if each had run.
#include <doctest/doctest.h>

#include "model/dmu_object.h"
#include "model/dmu_state.h"
#include "model/objset.h"
#include "tests/model/pool_fixture.h"

using namespace dmu_test;

namespace {

// Hears of every hold, so every visit runs.
struct listener_t final : sim::Observer {
    bool wants_holds() const override { return true; }
};

struct outcome_t {
    uint64_t digest = 0;
    int64_t end_ps = 0;
    uint64_t repeated = 0;
    std::vector<uint64_t> accounts; // every number that was measured or counted
};

void add_counters(outcome_t &out, const objset_t &os)
{
    const auto add = [&](const char *, uint64_t value) { out.accounts.push_back(value); };
    for_each_kstat(os.stats, add);
    for_each_kstat(os.allocator, add);
    for_each_kstat(os.os_dmu.dbuf_stats, add);
    for (const uint64_t calls : os.os_dmu.next_offset_level_calls)
        out.accounts.push_back(calls);
}

void add_measurements(outcome_t &out, const sim::Measurements &measured)
{
    for (const auto &node : measured.nodes)
        out.accounts.insert(out.accounts.end(), {node.parent, node.function, node.calls, node.self_ps, node.spin_ps});
    for (const auto &thread : measured.threads) {
        out.accounts.insert(out.accounts.end(), thread.calls.begin(), thread.calls.end());
        for (const int64_t part : thread.parts.ps)
            out.accounts.push_back(static_cast<uint64_t>(part));
    }
    for (size_t i = 0; i < measured.holds.size(); ++i) {
        const sim::LockClassCounts &counts = measured.locks.counts[i];
        out.accounts.insert(out.accounts.end(), {counts.acquisitions, counts.owner_changes, counts.writes,
                                                 measured.holds[i].total(), measured.holds[i].max()});
        out.accounts.insert(out.accounts.end(), measured.holds[i].counts().begin(), measured.holds[i].counts().end());
    }
}

outcome_t allocate(const char *era, const char *allocator, const char *profile, uint64_t threads, uint64_t objects,
                   bool listened_to)
{
    model_config config = quiet_config();
    config.code = era_config(era).code;
    config.code.object_alloc = allocator;
    sim::Machine machine = sim::find_machine_profile(profile)->machine;
    machine.cpus = 4;
    machine.cpus_per_socket = 2;
    listener_t listener;
    sim::Simulator simulator(machine, model_tables(), 1, listened_to ? &listener : nullptr);
    outcome_t out;
    simulator.spawn("test", {}, [&] {
        spa_t spa(config);
        objset_t &os = spa.spa_create();
        uint64_t finished = 0;
        for (uint64_t thread = 0; thread < threads; ++thread) {
            simulator.spawn("creator", {}, [&, count = objects / threads] {
                for (uint64_t i = 0; i < count; ++i) {
                    dmu_tx_ptr tx = dmu_tx_create(os);
                    dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT);
                    REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
                    dmu_object_alloc(os, dnode_spec{}, *tx);
                    dmu_tx_commit(std::move(tx));
                }
                ++finished;
            });
        }
        while (finished < threads)
            delay(milliseconds(1));
        out.repeated = os.repeated_visits.repeated();
        add_counters(out, os);
        spa.spa_stop();
    });
    const sim::End end = simulator.run();
    REQUIRE(end.text == "");
    out.digest = simulator.digest();
    out.end_ps = end.at.ps;
    add_measurements(out, simulator.measurements());
    return out;
}

} // namespace

TEST_CASE("visits that are entered as repetitions leave every account as if each had run")
{
    const auto compare = [](const char *era, const char *profile, uint64_t threads) {
        CAPTURE(era);
        CAPTURE(profile);
        CAPTURE(threads);
        const outcome_t quick = allocate(era, "legacy", profile, threads, 13'000, false);
        const outcome_t plain = allocate(era, "legacy", profile, threads, 13'000, true);
        CHECK(plain.repeated == 0);
        CHECK(quick.digest == plain.digest);
        CHECK(quick.end_ps == plain.end_ps);
        CHECK(quick.accounts == plain.accounts);
        return quick.repeated;
    };
    // 4096 * 3 * 4 / 2 visits, of which in each block of 32 at most 30 repeat another.
    CHECK(compare("illumos-2016", "flat", 1) > 22'000);
    CHECK(compare("illumos-2016", "xeon-2016", 1) > 22'000);
    compare("illumos-2016", "xeon-2016", 3);
    compare("zol-2016-05", "uniform", 1);
    compare("zol-2019", "xeon-2016", 2);
}
