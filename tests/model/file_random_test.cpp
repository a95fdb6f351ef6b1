// Random reads, writes, frees, truncations, syncs and evictions of several threads against plain byte arrays.
//
// The ARC and the dbuf cache are far smaller than the files, so blocks come and go all the time: evicted while others
// are read, written back, freed under readers. Every byte read must be the array's; now and then the objset or the pool
// is closed and opened again and everything is read back; in the end nothing may be left, no dbuf, no header, no hold.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "model/dmu.h"
#include "model/dmu_object.h"
#include "model/dmu_state.h"
#include "model/objset.h"
#include "sim/random.h"
#include "tests/model/pool_fixture.h"
#include "tests/model/work_together.h"

using namespace dmu_test;

namespace {

constexpr uint64_t file_bytes = 192 << 10; // the longest a file gets

struct file_t {
    uint64_t object = 0;
    std::vector<uint8_t> bytes = std::vector<uint8_t>(file_bytes);
    krwlock_t lock{"second"}; // readers of the file together, writers alone
};

struct world_t {
    spa_t &spa;
    std::vector<std::unique_ptr<file_t>> files;
    uint64_t differing = 0; // bytes
};

dmu_tx_ptr assigned(spa_t &spa, const std::function<void(dmu_tx_t &)> &hold)
{
    dmu_tx_ptr tx = dmu_tx_create(spa.objset());
    hold(*tx);
    REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
    return tx;
}

void make_file(world_t &world, uint32_t blocksize)
{
    dmu_tx_ptr tx = assigned(world.spa, [](dmu_tx_t &t) { dmu_tx_hold_bonus(t, DMU_NEW_OBJECT); });
    dnode_spec spec;
    spec.type = DMU_OT_UINT64_OTHER; // whose bytes are kept
    spec.blocksize = blocksize;
    spec.indirect_blockshift = 12; // 32 pointers: several levels in a small file
    auto file = std::make_unique<file_t>();
    file->object = dmu_object_alloc(world.spa.objset(), spec, *tx);
    world.files.push_back(std::move(file));
    dmu_tx_commit(std::move(tx));
}

void check_read(world_t &world, file_t &file, uint64_t offset, uint64_t size)
{
    std::vector<uint8_t> got(size, 0xa5);
    REQUIRE(dmu_read(world.spa.objset(), file.object, offset, size, got.data()).ok());
    for (uint64_t i = 0; i < size; ++i)
        world.differing += got[i] != file.bytes[offset + i];
}

void one_operation(world_t &world, sim::Random &random)
{
    objset_t &os = world.spa.objset();
    file_t &file = *world.files[random.below(world.files.size())];
    const uint64_t offset = random.below(file_bytes);
    const uint64_t size =
        1 + random.below(std::min<uint64_t>(file_bytes - offset, random.below(20) == 0 ? 64 << 10 : 3000));
    const uint64_t what = random.below(1000);
    if (what < 450) {
        auto shared = rw_enter(file.lock, RW_READER);
        check_read(world, file, offset, size);
    } else if (what < 850) {
        auto alone = rw_enter(file.lock, RW_WRITER);
        dmu_tx_ptr tx = assigned(world.spa, [&](dmu_tx_t &t) { dmu_tx_hold_write(t, file.object, offset, size); });
        for (uint64_t i = 0; i < size; ++i)
            file.bytes[offset + i] = static_cast<uint8_t>(random.below(256));
        CHECK(dmu_write(os, file.object, offset, size, file.bytes.data() + offset, *tx).ok());
        dmu_tx_commit(std::move(tx));
    } else if (what < 950) {
        auto alone = rw_enter(file.lock, RW_WRITER);
        const bool truncate = random.below(4) == 0;
        const uint64_t length = truncate ? DMU_OBJECT_END : size;
        dmu_tx_ptr tx = assigned(world.spa, [&](dmu_tx_t &t) { dmu_tx_hold_free(t, file.object, offset, length); });
        CHECK(dmu_free_range(os, file.object, offset, length, *tx).ok());
        const auto from = file.bytes.begin() + static_cast<std::ptrdiff_t>(offset);
        std::fill(from, truncate ? file.bytes.end() : from + static_cast<std::ptrdiff_t>(size), 0);
        dmu_tx_commit(std::move(tx));
    } else if (what < 980) {
        dmu_objset_evict_dbufs(os);
    } else if (what < 985) {
        arc_evict_state(os.os_dmu, random.below(2) == 0 ? arc_state_t::mru : arc_state_t::mfu, arc_buf_contents_t::data,
                        1 << 20);
    } else if (what < 990) {
        delay(milliseconds(static_cast<int64_t>(random.below(100))));
    } else {
        txg_wait_synced(world.spa.dsl_pool(), 0);
    }
}

void check_all(world_t &world)
{
    for (const auto &file : world.files)
        check_read(world, *file, 0, file_bytes);
    CHECK(world.differing == 0);
}

void run_files(const char *era, uint64_t seed, uint64_t operations)
{
    constexpr uint64_t threads = 6, rounds = 4;
    MESSAGE(std::string(era) << ", seed " << seed << ", " << operations << " operations");
    model_config config = quiet_config();
    config.code = era_config(era).code;
    config.dataset = era_config(era).dataset;
    config.pool.txg_timeout_ns = 20'000'000; // txgs end while the threads work
    config.pool.dbuf_cache_max_bytes = 128 << 10;
    config.pool.arc_meta_limit = 96 << 10;
    if (config.code.zfetch == "rwlock")
        config.code.zfetch = "rwlock-upgrade"; // so that blocks come ahead of their readers there, too
    if (config.code.era == "zol-2017")
        config.code.struct_lock = "fan-out";
    config.pool.disk.latency_ns = 100'000;
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
        spa.spa_dmu->arc.arc_c = 512 << 10;
        world_t world{spa, {}, 0};
        for (const uint32_t blocksize : {512u, 512u, 1024u, 4096u, 8192u})
            make_file(world, blocksize);
        for (uint64_t round = 0; round < rounds; ++round) {
            work_together(simulator, threads, [&](uint64_t t) {
                sim::Random random = simulator.random("worker", round * threads + t);
                for (uint64_t i = 0; i < operations / threads / rounds; ++i)
                    one_operation(world, random);
            });
            check_all(world);
            txg_wait_synced(spa.dsl_pool(), spa.dsl_pool().dp_tx.tx_open_txg);
            if (round % 2 == 0)
                spa.spa_reopen_objset();
            else
                spa.spa_export_import();
            check_all(world);
        }
        CHECK(spa.spa_dmu->arc.stats.mru_ghost_hits + spa.spa_dmu->arc.stats.mfu_ghost_hits > 0);
        if (config.code.dbuf_cache)
            CHECK(spa.spa_dmu->dbuf_stats.cache_total_evicts > 0);
        CHECK(spa.spa_dmu->arc.stats.prefetch_data_misses > 0);
        CHECK(spa.spa_dmu->arc.stats.demand_hit_predictive_prefetch > 0);
        txg_wait_synced(spa.dsl_pool(), 0);
        spa.spa_stop();
        spa.spa_close();
        CHECK(spa.spa_dmu->dbuf_stats.hash_elements == 0);
        CHECK(spa.spa_dmu->dbuf_stats.cache_count == 0);
        CHECK(spa.spa_dmu->dbuf_stats.cache_size_bytes == 0);
        CHECK(spa.spa_dmu->arc.stats.hash_elements == 0);
        CHECK(spa.spa_dmu->arc.size() == 0);
    });
    const sim::End end = simulator.run();
    CHECK_MESSAGE(end.ending == sim::Ending::finished, end.text);
}

} // namespace

TEST_CASE("random work on files agrees with plain byte arrays, whatever the code base, and nothing is left behind")
{
    for (const char *era : {"illumos-2016", "zol-2016-08", "zol-2017", "zol-2019", "head"})
        run_files(era, 20261201, 12'000);
}

TEST_CASE("random work on files, two million operations" * doctest::test_suite("long"))
{
    run_files("zol-2016-08", 1, 1'000'000);
    run_files("zol-2019", 2, 1'000'000);
}
