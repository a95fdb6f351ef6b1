#include "sim/condvar.h"
#include "sim/guard.h"
#include "sim/probe.h"
#include "tests/sim/kernel_fixture.h"

#include <doctest/doctest.h>

using namespace sim;

using sim_test::tables;
using sim_test::uniform;

TEST_CASE("a probe charges its function and builds the call tree")
{
    Simulator simulator(uniform(1), tables, 1);
    simulator.spawn("t", {}, [] {
        Probe probe(uint16_t{0});
        CHECK(now().ns() == 10);
        for (int i = 0; i < 3; ++i)
            Probe inner(uint16_t{1});
        CHECK(now().ns() == 25);
        CHECK(curthread().calls[1] == 3);
    });
    const End end = simulator.run();
    CHECK(end.ending == Ending::finished);
    CHECK(end.at.ns() == 25);
    const Measurements &m = simulator.measurements();
    CHECK(m.threads[0].parts[Part::running] == 25'000);
}

TEST_CASE("a thread that comes second waits until the first leaves, and two line transfers more")
{
    // CPU 0 takes the lock at 0 (10), holds it for 1000, leaves (10): free at 1020. CPU 1 came at 500, spins, and has
    // it after 2 * 100 + 0 * 1 = 200: at 1220.
    Simulator simulator(uniform(2), tables, 1);
    Mutex mutex(0);
    Time second{};
    simulator.spawn("a", {}, [&] {
        mutex.enter();
        CHECK(now().ns() == 10);
        charge(nanoseconds(1000));
        mutex.exit();
    });
    simulator.spawn("b", {}, [&] {
        charge(nanoseconds(500));
        mutex.enter();
        second = now();
        mutex.exit();
    });
    CHECK(simulator.run().ending == Ending::finished);
    CHECK(second.ns() == 1220);
    const LockClassWaits &waits = simulator.measurements().locks.waits[0];
    CHECK(waits.contended == 1);
    CHECK(waits.wait.total() == 720'000);
    CHECK(waits.spin_ps == 720'000);
}

TEST_CASE("two threads that take two locks in opposite order are told as a ring")
{
    Simulator simulator(uniform(2), tables, 1);
    Mutex first(0);
    Mutex second(1);
    const auto body = [](Mutex &a, Mutex &b) {
        return [&a, &b] {
            MutexGuard outer(a);
            charge(nanoseconds(1000));
            MutexGuard inner(b);
        };
    };
    simulator.spawn("a", {}, body(first, second));
    simulator.spawn("b", {}, body(second, first));
    const End end = simulator.run();
    CHECK(end.ending == Ending::deadlock);
    CHECK(end.text.find("thread a") != std::string::npos);
    CHECK(end.text.find("waits for second, held by thread b") != std::string::npos);
}

TEST_CASE("a condition variable wakes, and a timed wait ends at its time")
{
    Simulator simulator(uniform(2), tables, 1);
    Mutex mutex(0);
    CondVar cv;
    bool ready = false;
    simulator.spawn("waiter", {}, [&] {
        MutexGuard held(mutex);
        CHECK_FALSE(cv.timed_wait(mutex, Time{} + microseconds(50), WaitKind::other));
        CHECK(now() >= Time{} + microseconds(50));
        while (!ready)
            cv.wait(mutex, WaitKind::other);
    });
    simulator.spawn("signaller", {}, [&] {
        sleep_for(microseconds(100), WaitKind::other);
        MutexGuard held(mutex);
        ready = true;
        cv.signal();
    });
    CHECK(simulator.run().ending == Ending::finished);
}

TEST_CASE("an assertion that fails in a thread ends the run with place and call path")
{
    Simulator simulator(uniform(1), tables, 1);
    Mutex mutex(0);
    simulator.spawn("t", {}, [&] {
        Probe probe(uint16_t{0});
        MutexGuard held(mutex);
        VERIFY(curthread().id == 7);
    });
    const End end = simulator.run();
    CHECK(end.ending == Ending::invariant);
    CHECK(end.text.find("thread t, in work") != std::string::npos);
}

TEST_CASE("assertions that fail while a failed one is being unwound change nothing about the end")
{
    // Holds the mutex twice: what a destructor does that expects the lock to be free.
    struct Late {
        Mutex &mutex;
        ~Late() noexcept(false) { MutexGuard held(mutex); }
    };
    struct Quiet { // one that may not throw at all
        ~Quiet() { VERIFY(curthread().id == 8); }
    };
    Simulator simulator(uniform(1), tables, 1);
    Mutex mutex(0);
    for (int i = 0; i < 2; ++i)
        simulator.spawn("t", {}, [&] {
            Probe probe(uint16_t{0});
            mutex.enter();
            Late late{mutex};
            Quiet quiet;
            VERIFY(curthread().id == 7);
        });
    const End end = simulator.run();
    CHECK(end.ending == Ending::invariant);
    CHECK(end.text.find("VERIFY(curthread().id == 7)") != std::string::npos);
    CHECK(end.text.find("thread t, in work") != std::string::npos);
}

TEST_CASE("more threads than CPUs share them by time slices")
{
    Machine machine = uniform(2);
    machine.time_slice_ps = 1'000'000;
    Simulator simulator(machine, tables, 1);
    for (int i = 0; i < 5; ++i)
        simulator.spawn("t", {}, [] {
            for (int k = 0; k < 100; ++k) {
                charge(nanoseconds(100));
                settle();
            }
        });
    const End end = simulator.run();
    CHECK(end.ending == Ending::finished);
    CHECK(end.at.ns() >= 25'000);
}

TEST_CASE("a run ends at the instant at which its patience does, counted from the last step done")
{
    // One thread does steps at 0, 700 and 1,400 ns and then only computes, the other never does one. Patience is 1 us.
    for (const bool ahead : {true, false}) {
        CAPTURE(ahead);
        Simulator simulator(uniform(2), tables, 1);
        simulator.set_release_ahead(ahead);
        simulator.set_patience(nanoseconds(1000));
        Mutex mutex(0);
        auto round = [&](int64_t ns) {
            mutex.enter();
            mutex.exit();
            charge(nanoseconds(ns));
            settle();
        };
        simulator.spawn("worker", {}, [&] {
            for (int step = 0; step < 3; ++step) {
                simulator.progress();
                charge(nanoseconds(700));
                settle();
            }
            for (;;)
                round(70);
        });
        simulator.spawn("other", {}, [&] {
            for (;;)
                round(90);
        });
        const End end = simulator.run();
        CHECK(end.ending == Ending::livelock);
        CHECK(end.at.ns() == 2'400);
        CHECK(end.text.find("1000 ns of simulated time") != std::string::npos);
        int64_t busy = 0;
        for (const Measurements::PerCpu &cpu : simulator.measurements().cpus)
            busy += cpu.busy_ps + cpu.idle_ps;
        CHECK(busy == 2 * 2'400'000);
    }
}
