// A stretch that comes again the same is added instead of executed, and nobody can tell.
//
// Each test runs a workload with stretches executed, checked and added: clock, digest, accounts of threads, call paths
// and locks have to be equal.
#include "sim/atomic.h"
#include "sim/guard.h"
#include "sim/probe.h"
#include "sim/repeat.h"
#include "tests/sim/kernel_fixture.h"

#include <deque>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <sstream>

using namespace sim;

using sim_test::tables;
using sim_test::uniform;

namespace {

constexpr uint16_t all_functions[] = {0, 1, 2};
constexpr Repeats all_ways[] = {Repeats::executed, Repeats::checked, Repeats::added};

// `times` stretches, of which `body` executes one.
uint64_t take(Repeat &repeat, uint64_t times, const std::function<void()> &body)
{
    uint64_t executed = 0;
    for (uint64_t done = 0; done < times;) {
        repeat.begin();
        body();
        ++executed;
        ++done;
        const uint64_t more = std::min(repeat.end(), times - done);
        if (more > 0 && repeat.again(more))
            done += more;
    }
    return executed;
}

std::string accounts(const Simulator &simulator, const End &end)
{
    std::ostringstream text;
    const Measurements &m = simulator.measurements();
    text << static_cast<int>(end.ending) << ' ' << end.at.ps << ' ' << simulator.digest() << '\n';
    sim_test::tell_threads(text, m);
    for (const Measurements::Node &node : m.nodes)
        text << node.parent << ' ' << node.function << ' ' << node.calls << ' ' << node.self_ps << ' ' << node.spin_ps
             << ' ' << node.blocked_ps << '\n';
    for (size_t i = 0; i < m.holds.size(); ++i) {
        text << m.locks.counts[i].acquisitions << ' ' << m.locks.counts[i].writes << ' '
             << m.locks.counts[i].owner_changes << ' ' << m.holds[i].count() << ' ' << m.holds[i].total() << ' '
             << m.holds[i].max() << ' ' << m.locks.waits[i].contended << ' ' << m.locks.waits[i].wait.total() << '\n';
        for (const uint32_t per_mille : {1, 100, 500, 900, 999})
            text << m.holds[i].quantile(per_mille) << ' ';
    }
    return text.str();
}

// Spawns threads; what one of them executed and counted is in the two numbers.
struct Result {
    std::string accounts;
    uint64_t executed = 0;
    uint64_t counted = 0;
};
template <class Setup>
Result run(Repeats way, const Machine &machine, Setup setup)
{
    Simulator simulator(machine, tables, 1);
    simulator.set_repeats(way);
    Result result;
    setup(simulator, result);
    const End end = simulator.run();
    result.accounts = accounts(simulator, end) + end.text;
    return result;
}

} // namespace

TEST_CASE("what comes again is executed a few times and added the rest: same clock, same accounts, same digest")
{
    // work 10, enter 10, inner 5, charge 3, leave 1 (illumos leaves by a store; uniform: a load): each time the same.
    const auto setup = [](Simulator &simulator, Result &result) {
        simulator.spawn("t", {}, [&result] {
            Mutex mutex(0);
            RwLock rwlock(2);
            Repeat repeat({{&result.counted, 1}}, all_functions);
            result.executed = take(repeat, 1000, [&] {
                Probe work(uint16_t{0});
                MutexGuard held(mutex);
                {
                    Probe inner(uint16_t{1});
                    charge(nanoseconds(3));
                }
                RwGuard reading(rwlock, RwMode::reader);
                ++result.counted;
            });
            CHECK(curthread().calls[0] == 1000);
            CHECK(curthread().calls[1] == 1000);
        });
    };
    const Result executed = run(Repeats::executed, uniform(1), setup);
    CHECK(executed.executed == 1000);
    CHECK(executed.counted == 1000);
    const Result checked = run(Repeats::checked, uniform(1), setup);
    CHECK(checked.executed == 1000);
    CHECK(checked.accounts == executed.accounts);
    const Result added = run(Repeats::added, uniform(1), setup);
    CHECK(added.executed < 10);
    CHECK(added.counted == 1000);
    CHECK(added.accounts == executed.accounts);
}

TEST_CASE("no stretch is added that reaches into somebody else's turn")
{
    // The other thread comes every 777 ns and takes the lock for 50: it waits for the first one's stretches, which
    // have to lie where they lie when executed, and the first one for it.
    const auto setup = [](Simulator &simulator, Result &result) {
        auto mutex = std::make_shared<Mutex>(uint16_t{0});
        simulator.spawn("t", {}, [&result, mutex] {
            Repeat repeat({{&result.counted, 1}}, all_functions);
            result.executed = take(repeat, 3000, [&] {
                MutexGuard held(*mutex);
                Probe work(uint16_t{0});
                ++result.counted;
            });
        });
        simulator.spawn("other", {}, [mutex] {
            for (int i = 0; i < 60; ++i) {
                sleep_for(nanoseconds(777), WaitKind::other);
                MutexGuard held(*mutex);
                charge(nanoseconds(50));
            }
        });
    };
    const Result executed = run(Repeats::executed, uniform(2), setup);
    for (const Repeats way : {Repeats::checked, Repeats::added}) {
        const Result other = run(way, uniform(2), setup);
        CHECK(other.accounts == executed.accounts);
        CHECK(other.counted == 3000);
        if (way == Repeats::added)
            CHECK(other.executed < 1000);
    }
}

TEST_CASE("what is not the same each time is executed each time")
{
    const auto executions = [](const std::function<void(uint64_t &)> &body, std::span<const uint16_t> allowed) {
        std::vector<Result> results;
        for (const Repeats way : all_ways)
            results.push_back(run(way, uniform(2), [&](Simulator &simulator, Result &result) {
                simulator.spawn("t", {}, [&] {
                    Repeat repeat({{&result.counted, 1}}, allowed);
                    result.executed = take(repeat, 200, [&] { body(result.counted); });
                });
            }));
        CHECK(results[1].accounts == results[0].accounts);
        CHECK(results[2].accounts == results[0].accounts);
        CHECK(results[2].counted == results[0].counted);
        return results[2].executed;
    };
    const auto work = [](uint64_t &) { Probe probe(uint16_t{0}); };
    CHECK(executions(work, all_functions) < 10);
    // It enters a function of which nobody has said that it leaves things as they are.
    CHECK(executions(work, std::span(all_functions).subspan(1)) == 200);
    // It costs more each time, or counts more.
    CHECK(executions([](uint64_t &n) { charge(nanoseconds(static_cast<int64_t>(++n))); }, all_functions) == 200);
    CHECK(executions(
              [](uint64_t &n) {
                  Probe probe(uint16_t{0});
                  n += n * n + 3; // never twice the same
              },
              all_functions) == 200);
    // A lock is made each time.
    CHECK(executions([made = std::make_shared<std::deque<Mutex>>()](
                         uint64_t &) { MutexGuard held(made->emplace_back(uint16_t{0})); },
                     all_functions) == 200);
    // A lock is entered and not left.
    CHECK(executions(
              [entered = std::make_shared<std::deque<Mutex>>()](uint64_t &n) {
                  if (n == 0)
                      entered->clear(); // of the run before
                  for (int i = n == 0 ? 200 : 0; i > 0; --i)
                      entered->emplace_back(uint16_t{0});
                  (*entered)[n++].enter();
              },
              all_functions) == 200);
    // It sleeps.
    CHECK(executions([](uint64_t &) { sleep_for(nanoseconds(10), WaitKind::other); }, all_functions) == 200);
    // Two holds of different length that are counted in one place of the call path.
    CHECK(executions(
              [mutex = std::make_shared<std::unique_ptr<Mutex>>()](uint64_t &n) {
                  if (n++ == 0)
                      *mutex = std::make_unique<Mutex>(uint16_t{0});
                  for (const int64_t length : {5, 7}) {
                      MutexGuard held(**mutex);
                      charge(nanoseconds(length));
                  }
              },
              all_functions) == 200);
}

TEST_CASE("a caller who says that a stretch is the same when it is not is found out by checking")
{
    const Result lied = run(Repeats::checked, uniform(1), [](Simulator &simulator, Result &result) {
        simulator.spawn("t", {}, [&result] {
            Repeat repeat({{&result.counted, 1}}, all_functions);
            uint64_t executed = 0;
            take(repeat, 100, [&] {
                Probe work(uint16_t{0});
                if (++executed == 50)
                    charge(nanoseconds(1));
            });
        });
    });
    CHECK(lied.accounts.find("promised_ == 0") != std::string::npos);
}

TEST_CASE("a lock that somebody waits for is not at hand, though it is free")
{
    // Three sleep for the lock, under each policy that has sleepers; whoever leaves it wakes one or all of them, and in
    // between it is free.
    for (const LockPolicy *policy : lock_policies()) {
        CAPTURE(policy->name);
        uint64_t free_and_waited_for = 0;
        Simulator simulator(uniform(5, policy->name), tables, 1);
        Mutex mutex(0);
        for (int t = 0; t < 3; ++t)
            simulator.spawn("waiter", {}, [&] {
                sleep_for(microseconds(1), WaitKind::other);
                for (int i = 0; i < 50; ++i) {
                    MutexGuard held(mutex);
                    charge(microseconds(1));
                }
            });
        simulator.spawn("t", {}, [&] {
            mutex.enter();
            sleep_for(microseconds(20), WaitKind::disk);
            mutex.exit();
            while (now().ns() < 400'000) {
                if (!mutex.held_by_anyone() && !mutex.at_hand())
                    ++free_and_waited_for;
                if (mutex.at_hand()) {
                    const uint64_t dealings = simulator.dealings();
                    mutex.enter();
                    mutex.exit();
                    CHECK(simulator.dealings() == dealings); // nobody woken, nobody blamed
                }
                charge(nanoseconds(100));
            }
        });
        CHECK(simulator.run().ending == Ending::finished);
        if (policy->sleeps)
            CHECK(free_and_waited_for > 0);
    }
}

TEST_CASE("random stretches among other threads come out the same executed, checked and added")
{
    uint64_t added = 0;
    for (uint64_t seed = 1; seed <= 400; ++seed) {
        CAPTURE(seed);
        Random random(seed, "stretches");
        const auto cpus = static_cast<uint32_t>(random.between(1, 4));
        Machine machine = uniform(cpus, lock_policies()[random.below(4)]->name);
        machine.cpus_per_socket = static_cast<uint32_t>(random.between(1, cpus));
        machine.data_lines = static_cast<int64_t>(random.below(2));
        machine.time_slice_ps = static_cast<int64_t>(random.between(5, 50)) * 1'000'000;
        const uint64_t threads = random.between(1, 5);
        struct Piece {
            uint64_t kind, number;
        };
        std::vector<Piece> pieces;
        for (uint64_t i = random.between(1, 8); i > 0; --i)
            pieces.push_back({random.below(6), random.below(3)});

        const auto setup = [&](Simulator &simulator, Result &result) {
            struct Shared {
                std::array<Mutex, 3> mutexes{Mutex(0), Mutex(0), Mutex(1)};
                RwLock rwlock{2};
                Atomic<uint64_t> atomic;
            };
            auto shared = std::make_shared<Shared>();
            for (uint64_t t = 0; t < threads; ++t) {
                simulator.spawn("t", {}, [&, shared, own = Random(seed, "thread", t)]() mutable {
                    Repeat repeat({{&result.counted, 1}}, all_functions);
                    for (int round = 0; round < 12; ++round) {
                        result.executed += take(repeat, 40, [&] {
                            for (const Piece &piece : pieces) {
                                Probe probe(static_cast<uint16_t>(piece.number));
                                MutexGuard held;
                                if (piece.kind < 3)
                                    held = MutexGuard(shared->mutexes[piece.kind]);
                                if (piece.kind == 3)
                                    RwGuard guard(shared->rwlock, piece.number == 0 ? RwMode::writer : RwMode::reader);
                                if (piece.kind == 4)
                                    shared->atomic.fetch_add(0);
                                if (piece.kind == 5)
                                    charge(nanoseconds(static_cast<int64_t>(piece.number)));
                            }
                            ++result.counted;
                        });
                        Probe other(static_cast<uint16_t>(own.below(3)));
                        MutexGuard held(shared->mutexes[own.below(3)]);
                        if (own.below(3) == 0)
                            sleep_for(nanoseconds(static_cast<int64_t>(own.below(20'000))), WaitKind::disk);
                    }
                });
            }
        };
        const Result executed = run(Repeats::executed, machine, setup);
        REQUIRE(executed.accounts.starts_with("0 "));
        for (const Repeats way : {Repeats::checked, Repeats::added}) {
            const Result other = run(way, machine, setup);
            CHECK(other.accounts == executed.accounts);
            CHECK(other.counted == executed.counted);
            if (way == Repeats::added)
                added += executed.executed - other.executed;
        }
    }
    CHECK(added > 100'000); // of some 600,000
}
