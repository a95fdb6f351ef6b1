// The prefetcher: which blocks a stream asks for, when they are there, and what happens when its lock is taken. And the
// ARC's limit on metadata.
#include <doctest/doctest.h>

#include <vector>

#include "model/dmu.h"
#include "model/dmu_object.h"
#include "model/dmu_state.h"
#include "model/objset.h"
#include "tests/model/pool_fixture.h"

using namespace dmu_test;

namespace {

constexpr uint32_t blocksize = 4096;

model_config config_of(const char *era)
{
    model_config config = quiet_config();
    config.code = era_config(era).code;
    config.dataset = era_config(era).dataset;
    config.pool.disk.latency_ns = 1'000'000;
    return config;
}

dmu_tx_ptr assigned(spa_t &spa, const std::function<void(dmu_tx_t &)> &hold)
{
    dmu_tx_ptr tx = dmu_tx_create(spa.objset());
    hold(*tx);
    REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
    return tx;
}

uint64_t new_object(spa_t &spa)
{
    dmu_tx_ptr tx = assigned(spa, [](dmu_tx_t &t) { dmu_tx_hold_bonus(t, DMU_NEW_OBJECT); });
    dnode_spec spec;
    spec.type = DMU_OT_UINT64_OTHER;
    spec.blocksize = blocksize;
    const uint64_t object = dmu_object_alloc(spa.objset(), spec, *tx);
    dmu_tx_commit(std::move(tx));
    return object;
}

// A file on disk, nothing of which is in memory.
uint64_t cold_file(spa_t &spa, uint64_t blocks)
{
    const uint64_t object = new_object(spa);
    const std::vector<uint8_t> bytes(blocks * blocksize, 1);
    dmu_tx_ptr tx = assigned(spa, [&](dmu_tx_t &t) { dmu_tx_hold_write(t, object, 0, bytes.size()); });
    REQUIRE(dmu_write(spa.objset(), object, 0, bytes.size(), bytes.data(), *tx).ok());
    dmu_tx_commit(std::move(tx));
    spa.spa_export_import();
    return object;
}

void read_block(spa_t &spa, uint64_t object, uint64_t blkid)
{
    std::vector<uint8_t> got(blocksize);
    REQUIRE(dmu_read(spa.objset(), object, blkid * blocksize, blocksize, got.data()).ok());
    CHECK(got == std::vector<uint8_t>(blocksize, 1));
}

} // namespace

TEST_CASE("a stream asks for one block at its second read, then for twice as many ahead each time")
{
    for (const char *zfetch : {"mutex", "try", "rwlock-upgrade"}) {
        CAPTURE(std::string(zfetch));
        model_config config = config_of("zol-2019");
        config.code.zfetch = zfetch;
        const sim::End end = run_objset(config, [](spa_t &spa) {
            const uint64_t object = cold_file(spa, 64);
            const arc_stats_t &stats = spa.spa_dmu->arc.stats;
            const uint64_t before = stats.prefetch_data_misses;
            // Block 1 begins the stream; 2 asks for 3; 3 for 4 and 5; 4 for 6, 7 and 8.
            const uint64_t asked_for[] = {0, 0, 1, 3, 6};
            for (uint64_t blkid = 0; blkid < 5; ++blkid) {
                read_block(spa, object, blkid);
                CHECK(stats.prefetch_data_misses - before == asked_for[blkid]);
                delay(milliseconds(20), WaitKind::other); // they are there
            }
            CHECK(stats.demand_hit_predictive_prefetch == 2); // 3 and 4
            CHECK(stats.async_upgrade_sync == 0);
        });
        CHECK_MESSAGE(end.ending == sim::Ending::finished, end.text);
    }
}

TEST_CASE("who wants a block that is on its way waits for that read, and no block is read twice")
{
    const sim::End end = run_objset(config_of("zol-2019"), [](spa_t &spa) {
        const uint64_t object = cold_file(spa, 64);
        const arc_stats_t &stats = spa.spa_dmu->arc.stats;
        for (uint64_t blkid = 0; blkid < 64; ++blkid)
            read_block(spa, object, blkid);
        CHECK(stats.async_upgrade_sync > 0);
        CHECK(stats.prefetch_data_misses + stats.demand_data_misses == 64);
    });
    CHECK_MESSAGE(end.ending == sim::Ending::finished, end.text);
}

TEST_CASE("without an upgrade no stream begins, and switched off nothing is consulted")
{
    for (const char *zfetch : {"rwlock", "off"}) {
        model_config config = config_of("zol-2019");
        config.code.zfetch = zfetch;
        const sim::End end = run_objset(config, [&](spa_t &spa) {
            const uint64_t object = cold_file(spa, 16);
            for (uint64_t blkid = 0; blkid < 16; ++blkid)
                read_block(spa, object, blkid);
            CHECK(spa.spa_dmu->arc.stats.prefetch_data_misses == 0);
            CHECK((spa.spa_dmu->zfetch_stats.zfetch_misses > 0) == (std::string_view(zfetch) == "rwlock"));
        });
        CHECK_MESSAGE(end.ending == sim::Ending::finished, end.text);
    }
}

TEST_CASE("a small object has one stream")
{
    const sim::End end = run_objset(config_of("zol-2019"), [](spa_t &spa) {
        const uint64_t object = cold_file(spa, 64);
        const uint64_t before = spa.spa_dmu->zfetch_stats.zfetch_max_streams;
        for (const uint64_t blkid : {10, 20, 30})
            read_block(spa, object, blkid);
        CHECK(spa.spa_dmu->zfetch_stats.zfetch_max_streams - before == 2);
    });
    CHECK_MESSAGE(end.ending == sim::Ending::finished, end.text);
}

TEST_CASE("who finds the streams taken waits for them, or only tries and goes on without having asked")
{
    for (const bool tries : {false, true}) {
        CAPTURE(tries);
        model_config config = config_of("zol-2019");
        config.code.zfetch = tries ? "try" : "mutex";
        const sim::End end = run_objset(config, [&](spa_t &spa) {
            const uint64_t object = cold_file(spa, 64);
            auto dn = dnode_hold(spa.objset(), object);
            REQUIRE(dn.ok());
            dmu_zfetch(**dn, 10, 1, true, false); // its streams are there
            const uint64_t before = spa.spa_dmu->zfetch_stats.zfetch_misses;
            auto held = mutex_enter((*dn)->dn_zfetch->zf_lock);
            int64_t took_ms = -1;
            thread_create("reader", [&] {
                const int64_t from = now_ps();
                dmu_zfetch(**dn, 20, 1, true, false);
                took_ms = (now_ps() - from) / ms;
            });
            delay(milliseconds(5), WaitKind::other);
            held.exit();
            delay(milliseconds(5), WaitKind::other);
            CHECK(took_ms == (tries ? 0 : 5));
            CHECK(spa.spa_dmu->zfetch_stats.zfetch_misses - before == (tries ? 0 : 1));
        });
        CHECK_MESSAGE(end.ending == sim::Ending::finished, end.text);
    }
}

TEST_CASE("metadata above their limit go: alone, or by turns with data")
{
    for (const char *strategy : {"meta-only", "balanced"}) {
        CAPTURE(std::string(strategy));
        model_config config = config_of("zol-2019");
        config.code.arc_meta_strategy = strategy;
        const sim::End end = run_objset(config, [&](spa_t &spa) {
            constexpr uint64_t objects = 1000, limit = 128 << 10;
            std::vector<uint64_t> all;
            for (uint64_t i = 0; i < objects; ++i)
                all.push_back(new_object(spa));
            const uint64_t object = cold_file(spa, 64);
            for (uint64_t blkid = 0; blkid < 64; ++blkid)
                read_block(spa, object, blkid);
            for (const uint64_t one : all)
                CHECK(dnode_hold(spa.objset(), one).ok());
            dmu_objset_evict_dbufs(spa.objset());

            arc_t &arc = spa.spa_dmu->arc;
            const auto data = [&] { return arc.size() - arc.meta_used(); };
            const uint64_t data_before = data();
            REQUIRE(arc.meta_used() > 2 * limit);
            REQUIRE(data_before == 64 * blocksize);
            arc.arc_p = 0; // mru's share, below which meta-only does not let it fall
            arc.arc_meta_limit = limit;
            delay(seconds(2), WaitKind::other); // what was read ahead is not too young any more
            arc_adjust(*spa.spa_dmu);
            CHECK(arc.meta_used() <= limit);
            CHECK((data() == data_before) == (std::string_view(strategy) == "meta-only"));
        });
        CHECK_MESSAGE(end.ending == sim::Ending::finished, end.text);
    }
}
