// Blame, chains, cheaper locks, lost wake-ups and the order of locks, in cases small enough to be worked out by hand.
#include "sim/condvar.h"
#include "sim/guard.h"
#include "sim/probe.h"
#include "tests/sim/kernel_fixture.h"

#include <doctest/doctest.h>

using namespace sim;

namespace {

uint64_t blamed(const Measurements &m, uint16_t lock_class, uint16_t function)
{
    return m.locks.holder_ps[lock_class * (m.locks.functions + 1) + function];
}

ThreadOptions starts_at(int64_t ns)
{
    ThreadOptions options;
    options.start = Time{} + nanoseconds(ns);
    return options;
}

} // namespace

// A holds it for 1000 ns (a release costs 10), B waits from 100 on, C from 200 on, each to hold it for 500. The
// hand-over takes 200 with one waiter, more with two; during it nobody is to blame.
TEST_CASE("whoever holds the lock is blamed for all who wait, each hold for its own time")
{
    Machine machine = sim_test::uniform(4);
    Simulator simulator(machine, sim_test::tables, 1);
    Mutex mutex(0);
    const auto hold = [&](uint16_t function, int64_t ns) {
        return [&, function, ns] {
            Probe probe(function);
            MutexGuard held(mutex);
            charge(nanoseconds(ns));
        };
    };
    simulator.spawn("a", starts_at(0), hold(0, 100'000));
    simulator.spawn("b", starts_at(10'000), hold(1, 50'000));
    simulator.spawn("c", starts_at(20'000), hold(2, 50'000));
    REQUIRE(simulator.run().ending == Ending::finished);
    const Measurements &m = simulator.measurements();
    const uint64_t by_a = blamed(m, 0, 0);
    const uint64_t by_b = blamed(m, 0, 1);
    // From b's and c's coming to a's leaving, about 90 and 80 us, exactly: the sum of both.
    CHECK(by_a > 169'000'000);
    CHECK(by_a < 171'000'000);
    CHECK(by_b > 50'000'000); // c alone
    CHECK(by_b < 50'200'000);
    CHECK(blamed(m, 0, 2) == 0);
    CHECK(by_a + by_b + m.locks.hand_over_ps[0] == m.locks.waits[0].wait.total());
    CHECK(m.locks.hand_over_ps[0] > 0);
}

TEST_CASE("a waiter whose holder waits for another lock is told as a chain")
{
    Simulator simulator(sim_test::uniform(4), sim_test::tables, 1);
    Mutex first(0);
    Mutex second(1);
    simulator.spawn("c", starts_at(0), [&] {
        Probe probe(uint16_t{2});
        MutexGuard held(second);
        charge(microseconds(100));
    });
    simulator.spawn("b", starts_at(10'000), [&] {
        Probe probe(uint16_t{1});
        MutexGuard outer(first);
        MutexGuard inner(second);
    });
    simulator.spawn("a", starts_at(20'000), [&] { MutexGuard held(first); });
    REQUIRE(simulator.run().ending == Ending::finished);
    const LockStatistics &locks = simulator.measurements().locks;
    REQUIRE(locks.chains.size() == 1);
    const auto &[chain, ps] = *locks.chains.begin();
    CHECK(chain.links[0] == (0u << 16 | 1));
    CHECK(chain.links[1] == (1u << 16 | 2));
    CHECK(chain.links[2] == WaitChain::none);
    CHECK(ps > 79'000'000); // from a's coming to c's leaving
    CHECK(ps < 81'000'000);
}

// Four threads, each a thousand times: hold a lock for 900 ns, compute for 100. One at a time that is at least 3,600
// us; with a free lock every thread needs 1,000 us, and the clock shows no more than that and the last waits' worth.
TEST_CASE("with a free lock every thread has the time for its work that it would have without it")
{
    const auto run = [](uint32_t times_cheaper) {
        Machine machine = sim_test::uniform(4);
        machine.time_slice_ps = 10'000'000'000;
        Simulator simulator(machine, sim_test::tables, 1);
        simulator.suppose_lock(0, times_cheaper);
        Mutex mutex(0);
        for (int i = 0; i < 4; ++i)
            simulator.spawn("t", {}, [&] {
                for (int round = 0; round < 1000; ++round) {
                    {
                        MutexGuard held(mutex);
                        charge(nanoseconds(900));
                    }
                    charge(nanoseconds(100));
                }
            });
        const End end = simulator.run();
        CHECK(end.ending == Ending::finished);
        CHECK(simulator.measurements().locks.counts[0].acquisitions == 4000);
        if (times_cheaper == 0)
            CHECK(simulator.measurements().locks.waits[0].contended == 0);
        return end.at.ns();
    };
    const int64_t taken = run(1);
    const int64_t half = run(2);
    const int64_t free = run(0);
    CHECK(taken > 3'600'000);
    CHECK(half < taken);
    CHECK(free < half);
    CHECK(free >= 1'000'000);
    CHECK(free < 1'010'000);
}

TEST_CASE("a signal before the sleep is a lost wake-up, told with who signalled too early")
{
    Simulator simulator(sim_test::uniform(2), sim_test::tables, 1);
    Mutex mutex(0);
    CondVar cv;
    simulator.spawn("signaller", starts_at(0), [&] {
        Probe probe(uint16_t{1});
        MutexGuard held(mutex);
        cv.signal();
    });
    simulator.spawn("sleeper", starts_at(10'000), [&] {
        Probe probe(uint16_t{0});
        MutexGuard held(mutex);
        cv.wait(mutex, WaitKind::lock);
    });
    const End end = simulator.run();
    CHECK(end.ending == Ending::lost_wakeup);
    CHECK(end.text.find("thread sleeper in work") != std::string::npos);
    CHECK(end.text.find("thread signaller in inner") != std::string::npos);
}

TEST_CASE("a service thread's timers do not hide that the workload sleeps for ever")
{
    Simulator simulator(sim_test::uniform(2), sim_test::tables, 1);
    Mutex mutex(0);
    CondVar cv;
    ThreadOptions service;
    service.counted = false;
    simulator.spawn("service", service, [&] {
        for (int i = 0; i < 5000; ++i)
            sleep_for(milliseconds(1000), WaitKind::other);
    });
    simulator.spawn("sleeper", {}, [&] {
        MutexGuard held(mutex);
        cv.wait(mutex, WaitKind::lock);
    });
    const End end = simulator.run();
    CHECK(end.ending == Ending::lost_wakeup);
    CHECK(end.at.ns() < 2'000'000'000'000);
}

TEST_CASE("two locks taken in both orders are told, though nothing happened, unless a third keeps them apart")
{
    for (const bool kept_apart : {false, true}) {
        Simulator simulator(sim_test::uniform(2), sim_test::tables, 1);
        simulator.watch_lock_order();
        Mutex first(0);
        Mutex second(1);
        Mutex third(1);
        const auto both = [&](Mutex &outer, Mutex &inner) {
            return [&, kept_apart] {
                Probe probe(uint16_t{0});
                MutexGuard gate = kept_apart ? MutexGuard(third) : MutexGuard();
                MutexGuard one(outer);
                MutexGuard two(inner);
            };
        };
        simulator.spawn("there", starts_at(0), both(first, second));
        simulator.spawn("back", starts_at(1'000'000), both(second, first));
        CHECK(simulator.run().ending == Ending::finished);
        REQUIRE(simulator.warnings().size() == (kept_apart ? 0 : 1));
        if (!kept_apart)
            CHECK(simulator.warnings()[0].find("thread back took second") != std::string::npos);
    }
}
