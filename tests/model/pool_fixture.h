// A pool on a machine where nothing costs time unless the test says so: then every instant can be worked out by hand.
#pragma once

#include <cstdint>

#include "model/dmu_tx.h"
#include "model/eras.h"
#include "model/spa.h"
#include "sim/simulator.h"

namespace dmu_test {

using namespace dmu;

constexpr int64_t ms = 1'000'000'000; // picoseconds

inline int64_t now_ps()
{
    return gethrtime().ps;
}

// Long timeouts and a disk that takes no time, so that only what a test sets plays a part.
inline model_config quiet_config()
{
    model_config config = era_config("zol-2016-05");
    config.pool.txg_timeout_ns = 1'000'000'000'000;
    config.pool.dirty_data_sync = 1ull << 40;
    config.pool.dirty_data_max = 1ull << 41;
    config.pool.disk.latency_ns = 0;
    config.pool.disk.bandwidth = 1ull << 50;
    return config;
}

// Runs body(spa) in one simulated thread and returns how the run ended. The pool has its threads but no objset.
template <class Body>
sim::End run_pool(const model_config &config, Body body, uint32_t cpus = 4)
{
    sim::Machine machine;
    machine.cpus = cpus;
    sim::Simulator simulator(machine, model_tables(), 1);
    simulator.set_free(false);
    simulator.spawn("test", {}, [&] {
        spa_t spa(config);
        spa.spa_start();
        body(spa);
        spa.spa_stop();
    });
    return simulator.run();
}

// The same with an empty objset, synced.
template <class Body>
sim::End run_objset(const model_config &config, Body body, uint32_t cpus = 4)
{
    sim::Machine machine;
    machine.cpus = cpus;
    sim::Simulator simulator(machine, model_tables(), 1);
    simulator.set_free(false);
    simulator.spawn("test", {}, [&] {
        spa_t spa(config);
        spa.spa_create();
        body(spa);
        spa.spa_stop();
    });
    return simulator.run();
}

} // namespace dmu_test
