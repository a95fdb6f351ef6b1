// The simulated disk: when operations are done, and what is written as one.
#include <doctest/doctest.h>

#include <map>

#include "tests/model/pool_fixture.h"

using namespace dmu_test;

namespace {

// 1 ms latency; 1,000,000 bytes take 1 s.
model_config slow_disk(uint32_t queue_depth)
{
    model_config config = quiet_config();
    config.pool.disk.latency_ns = 1'000'000;
    config.pool.disk.bandwidth = 1'000'000;
    config.pool.disk.queue_depth = queue_depth;
    return config;
}

} // namespace

TEST_CASE("a write is done after its transfer and the latency")
{
    run_pool(slow_disk(10), [](spa_t &spa) {
        vdev_t &vdev = spa.dsl_pool().dp_vdev;
        zio_root_t pio(vdev);
        vdev.zio_write(pio, 1000, 0, 4);
        vdev.zio_wait(pio);
        CHECK(now_ps() == (1 + 1) * ms);
        CHECK(vdev.stats().vs_writes == 1);
    });
}

TEST_CASE("transfers come one after the other, latencies overlap")
{
    run_pool(slow_disk(2), [](spa_t &spa) {
        vdev_t &vdev = spa.dsl_pool().dp_vdev;
        zio_root_t pio(vdev);
        vdev.zio_write(pio, 1000, 0, 4);
        vdev.zio_write(pio, 2000, 0, 4);
        vdev.zio_wait(pio);
        CHECK(now_ps() == (1 + 2 + 1) * ms);
    });
}

TEST_CASE("what queues up behind a busy disk travels as one, up to 128 KiB")
{
    run_pool(slow_disk(1), [](spa_t &spa) {
        vdev_t &vdev = spa.dsl_pool().dp_vdev;
        zio_root_t pio(vdev);
        for (int i = 0; i < 3; ++i)
            vdev.zio_write(pio, 1000, 0, 4);
        vdev.zio_wait(pio);
        CHECK(now_ps() == (1 + 1 + 2 + 1) * ms); // one alone, then two together
        CHECK(vdev.stats().vs_writes == 2);
        CHECK(vdev.stats().vs_bytes_written == 3000);
    });
}

TEST_CASE("a read waits for its own transfer and latency")
{
    run_pool(slow_disk(10), [](spa_t &spa) {
        vdev_t &vdev = spa.dsl_pool().dp_vdev;
        vdev.zio_read(3000);
        CHECK(now_ps() == (3 + 1) * ms);
        CHECK(vdev.stats().vs_bytes_read == 3000);
    });
}

TEST_CASE("dirty bytes are given back write by write")
{
    run_pool(slow_disk(1), [](spa_t &spa) {
        dsl_pool_t &dp = spa.dsl_pool();
        dmu_tx_ptr tx = dmu_tx_create_assigned(dp, 4);
        dsl_pool_dirty_space(dp, 3000, *tx);
        zio_root_t pio(dp.dp_vdev);
        dp.dp_vdev.zio_write(pio, 1000, 1000, 4);
        dp.dp_vdev.zio_write(pio, 2000, 2000, 4);
        delay(milliseconds(3), WaitKind::other);
        CHECK(dp.dp_dirty_total == 2000);
        dp.dp_vdev.zio_wait(pio);
        CHECK(dp.dp_dirty_total == 0);
        dmu_tx_commit(std::move(tx));
    });
}

namespace {

// Reads that nobody waits for, by place; when each is done, in milliseconds.
struct reads_t {
    vdev_t &vdev;
    std::map<uint64_t, int64_t> done_ms;

    void issue(uint64_t dva, bool urgent = false)
    {
        vdev.zio_read_nowait(dva, 1000, urgent, [this, dva] { done_ms[dva] = now_ps() / ms; });
    }
};

} // namespace

TEST_CASE("of reads that nobody waits for three are at the device at once, and neighbours travel as one")
{
    run_pool(slow_disk(10), [](spa_t &spa) {
        reads_t reads{spa.dsl_pool().dp_vdev, {}};
        for (const uint64_t dva : {10, 20, 30, 41, 42, 43})
            reads.issue(dva);
        CHECK(now_ps() == 0);
        delay(milliseconds(20), WaitKind::other);
        // 10, 20 and 30 are transferred by 1, 2 and 3 ms, and there 1 ms later. At 2 ms there is room for the next: the
        // bus is free at 3 ms, and three blocks take 3 ms.
        CHECK(reads.done_ms == std::map<uint64_t, int64_t>{{10, 2}, {20, 3}, {30, 4}, {41, 7}, {42, 7}, {43, 7}});
        CHECK(reads.vdev.stats().vs_reads == 4);
        CHECK(reads.vdev.stats().vs_bytes_read == 6000);
    });
}

TEST_CASE("a queued read that is wanted after all does not wait for the others, nor does an urgent one")
{
    run_pool(slow_disk(10), [](spa_t &spa) {
        reads_t reads{spa.dsl_pool().dp_vdev, {}};
        for (const uint64_t dva : {10, 20, 30, 40, 50})
            reads.issue(dva);
        reads.vdev.zio_change_priority(50); // transferred by 4 ms
        reads.vdev.zio_change_priority(10); // is on its way already
        reads.issue(60, true);              // by 5 ms
        delay(milliseconds(20), WaitKind::other);
        CHECK(reads.done_ms == std::map<uint64_t, int64_t>{{10, 2}, {20, 3}, {30, 4}, {50, 5}, {60, 6}, {40, 7}});
    });
}

TEST_CASE("a pool stops when the reads that nobody waits for are done, and those that they lead to")
{
    int64_t last_ms = 0;
    run_pool(slow_disk(10), [&](spa_t &spa) {
        vdev_t &vdev = spa.dsl_pool().dp_vdev;
        vdev.zio_read_nowait(10, 1000, false, [&vdev, &last_ms] {
            vdev.zio_read_nowait(20, 1000, false, [&last_ms] { last_ms = now_ps() / ms; });
        });
    });
    CHECK(last_ms == 4);
}

TEST_CASE("a run that breaks with writes on their way says what broke")
{
    // The pool stays as it is, as a run's does that ends so.
    static std::vector<spa_t *> *const abandoned = new std::vector<spa_t *>;
    sim::Machine machine;
    sim::Simulator simulator(machine, model_tables(), 1);
    simulator.spawn("test", {}, [&] {
        abandoned->push_back(new spa_t(slow_disk(10)));
        spa_t &spa = *abandoned->back();
        spa.spa_start();
        vdev_t &vdev = spa.dsl_pool().dp_vdev;
        zio_root_t pio(vdev);
        vdev.zio_write(pio, 1000, 0, 4);
        PANIC("on purpose");
    });
    const sim::End end = simulator.run();
    CHECK(end.ending == sim::Ending::invariant);
    CHECK(end.text.find("on purpose") != std::string::npos);
}
