// dn_struct_rwlock fanned out: what a writer pays, and who is kept out.
#include <doctest/doctest.h>

#include <vector>

#include "model/struct_rwlock.h"
#include "tests/model/pool_fixture.h"

using namespace dmu_test;

TEST_CASE("a writer of a fan pays for every lock of it, a reader for one")
{
    sim::Machine machine;
    machine.instruction_ps = 1000;
    machine.rmw_owned_ps = 8000;
    sim::Simulator simulator(machine, model_tables(), 1);
    simulator.set_free(false);
    simulator.spawn("test", {}, [&] {
        const auto took = [](uint32_t locks, krw_t mode) {
            struct_rwlock_t lock;
            lock.fan_out(locks);
            const int64_t from = now_ps();
            rw_enter(lock, mode).exit();
            return now_ps() - from;
        };
        const int64_t one = took(1, RW_WRITER), each = took(2, RW_WRITER) - one;
        CHECK(each > 0);
        for (const uint32_t locks : {4u, 8u, 17u, 32u}) {
            CHECK(took(locks, RW_WRITER) == one + (locks - 1) * each);
            CHECK(took(locks, RW_READER) == took(1, RW_READER));
        }
    });
    CHECK(simulator.run().ending == sim::Ending::finished);
}

TEST_CASE("a fan keeps readers and writers apart, and an upgrade from it has to let go")
{
    sim::Machine machine;
    machine.cpus = 4;
    sim::Simulator simulator(machine, model_tables(), 1);
    simulator.set_free(false);
    struct_rwlock_t lock;
    lock.fan_out(3);
    uint32_t readers = 0, writers = 0, rounds = 0;
    for (uint32_t t = 0; t < 8; ++t)
        simulator.spawn("worker", {}, [&, t] {
            sim::Random random = simulator.random("worker", t);
            for (uint32_t i = 0; i < 200; ++i) {
                const bool write = random.below(4) == 0;
                auto held = rw_enter(lock, write ? RW_WRITER : RW_READER);
                settle();
                CHECK(writers == 0);
                CHECK(RW_WRITE_HELD(lock) == write);
                if (write) {
                    CHECK(readers == 0);
                    ++writers;
                } else {
                    ++readers;
                    CHECK(!rw_tryupgrade(lock, true));
                }
                delay(nanoseconds(static_cast<int64_t>(random.below(1000))));
                settle();
                write ? --writers : --readers;
                ++rounds;
            }
        });
    const sim::End end = simulator.run();
    CHECK_MESSAGE(end.ending == sim::Ending::finished, end.text);
    CHECK(rounds == 8 * 200);
}
