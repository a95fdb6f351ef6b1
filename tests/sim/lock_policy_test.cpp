// Each policy at the exact picosecond, worked out by hand, and its collapse under a crowd against its formula.
//
// The machine is `uniform`: an owned access takes 10 ns, a load 1, a transfer 100; going to sleep, waking and changing
// threads 1000 each, an idle CPU 2000 to take a thread. Here each poller in the way costs 20, and a pause lasts 60.
#include "sim/guard.h"
#include "sim/rwlock.h"
#include "tests/sim/kernel_fixture.h"

#include <doctest/doctest.h>
#include <vector>

using namespace sim;

namespace {

Machine crowded(uint32_t cpus, const std::string &policy)
{
    Machine machine = sim_test::uniform(cpus, policy);
    machine.crowd_ps = 20'000;
    machine.backoff_ps = 60'000;
    return machine;
}

struct Outcome {
    std::vector<int64_t> had_ns; // when each thread had the mutex
    int64_t end_ns = 0;
    int64_t wait_ns = 0;
    int64_t spin_ns = 0;
};

// Thread i computes for `think_ns[i]`, enters, holds for 1000 ns, leaves.
Outcome one_round(const Machine &machine, const std::vector<int64_t> &think_ns)
{
    Simulator simulator(machine, sim_test::tables, 1);
    Mutex mutex(0);
    Outcome outcome;
    outcome.had_ns.resize(think_ns.size());
    for (size_t i = 0; i < think_ns.size(); ++i)
        simulator.spawn("t", {}, [&, i] {
            charge(nanoseconds(think_ns[i]));
            MutexGuard held(mutex);
            CHECK(now().ps % 1000 == 0); // so that nanoseconds say all
            outcome.had_ns[i] = now().ns();
            charge(nanoseconds(1000));
        });
    const End end = simulator.run();
    CHECK(end.ending == Ending::finished);
    const LockClassWaits &waits = simulator.measurements().locks.waits[0];
    CHECK(end.at.ps % 1000 == 0);
    CHECK(waits.wait.total() % 1000 == 0);
    CHECK(waits.spin_ps % 1000 == 0);
    outcome.end_ns = end.at.ns();
    outcome.wait_ns = static_cast<int64_t>(waits.wait.total() / 1000);
    outcome.spin_ns = static_cast<int64_t>(waits.spin_ps / 1000);
    return outcome;
}

// The time from one owner to the next when `threads` want the mutex all the time, with 100 ns in it.
int64_t hand_over_ps(const Machine &machine, uint32_t threads)
{
    Simulator simulator(machine, sim_test::tables, 1);
    Mutex mutex(0);
    std::vector<int64_t> had_ps;
    for (uint32_t i = 0; i < threads; ++i)
        simulator.spawn("t", {}, [&] {
            for (int round = 0; round < 20; ++round) {
                MutexGuard held(mutex);
                had_ps.push_back(now().ps);
                charge(nanoseconds(100));
            }
        });
    CHECK(simulator.run().ending == Ending::finished);
    // In the middle everybody is there.
    const size_t middle = had_ps.size() / 2;
    for (size_t i = middle - threads; i < middle; ++i)
        CHECK(had_ps[i + 1] - had_ps[i] == had_ps[i] - had_ps[i - 1]);
    return had_ps[middle] - had_ps[middle - 1];
}

} // namespace

TEST_CASE("a thread alone with a mutex never spins")
{
    for (const LockPolicy *policy : lock_policies()) {
        const Outcome alone = one_round(crowded(1, policy->name), {0});
        CHECK(alone.had_ns[0] == 10); // one owned access
        CHECK(alone.wait_ns == 0);
        // Leaving is an owned access, or a plain store.
        CHECK(alone.end_ns == 10 + 1000 + (policy->leaves_by_store ? 1 : 10));
    }
}

TEST_CASE("two threads on one mutex: the second has it when the first has left, and the hand-over of the policy later")
{
    // The first has it at 10 and until 1010. It leaves by an owned access, so it is free at 1020; with adaptive-backoff
    // by a store, so at 1011. The second came at 500 and spins, one waiter.
    const std::vector<int64_t> think = {0, 500};
    const Outcome ttas = one_round(crowded(2, "adaptive-ttas"), think);
    CHECK(ttas.had_ns[1] == 1020 + 2 * 100 + 20 * 1);
    CHECK(ttas.wait_ns == 1240 - 500);
    CHECK(ttas.spin_ns == ttas.wait_ns);
    CHECK(ttas.end_ns == 1240 + 1000 + 10);

    CHECK(one_round(crowded(2, "adaptive-backoff"), think).had_ns[1] == 1011 + 2 * 100 + 60 / (1 + 1));
    CHECK(one_round(crowded(2, "queued"), think).had_ns[1] == 1020 + 2 * 100);
    CHECK(one_round(crowded(2, "ticket"), think).had_ns[1] == 1020 + 100 + 20 * 1 / 2);
}

TEST_CASE("three threads on two CPUs: the third gets the first one's CPU, and then the mutex")
{
    // The first ends at 1020 (adaptive-backoff: 1011); CPU 0 changes to the third, which starts 1000 later and finds
    // the second in the mutex. The second came at 500, has it as above, keeps it for 1000 and leaves; the third is then
    // the only waiter. Its wait begins at 2020 (2011).
    const std::vector<int64_t> think = {0, 500, 0};
    const Outcome ttas = one_round(crowded(2, "adaptive-ttas"), think);
    CHECK(ttas.had_ns[2] == (1240 + 1000 + 10) + 200 + 20);
    CHECK(ttas.wait_ns == (1240 - 500) + (2470 - 2020));
    CHECK(ttas.end_ns == 2470 + 1000 + 10);

    const Outcome backoff = one_round(crowded(2, "adaptive-backoff"), think);
    CHECK(backoff.had_ns[2] == (1241 + 1000 + 1) + 200 + 30);
    CHECK(backoff.wait_ns == (1241 - 500) + (2472 - 2011));

    const Outcome queue = one_round(crowded(2, "queued"), think);
    CHECK(queue.had_ns[2] == (1220 + 1000 + 10) + 200);
    CHECK(queue.end_ns == 2430 + 1000 + 10);

    const Outcome tickets = one_round(crowded(2, "ticket"), think);
    CHECK(tickets.had_ns[2] == (1130 + 1000 + 10) + 100 + 10);
    CHECK(tickets.wait_ns == (1130 - 500) + (2250 - 2020));
}

TEST_CASE("a waiter spins while the owner runs, and sleeps when it does not")
{
    // The owner has the mutex at 10, begins to sleep at 1010 (after paying for it) until 10010, runs again at
    // 10010 + 2000 + 1000 = 13010 and leaves at 13020. The waiter came at 500, spun until 1010, paid for going to sleep
    // until 2010. It is ready at 13020 and runs at 16020: free, so its wait is over; the line takes 100 to come.
    for (const char *policy : {"adaptive-ttas", "queued"}) {
        Simulator simulator(crowded(2, policy), sim_test::tables, 1);
        Mutex mutex(0);
        int64_t had_ns = 0;
        simulator.spawn("owner", {}, [&] {
            MutexGuard held(mutex);
            sleep_for(nanoseconds(10'000), WaitKind::disk);
            CHECK(now().ns() == 13'010);
        });
        simulator.spawn("waiter", {}, [&] {
            charge(nanoseconds(500));
            MutexGuard held(mutex);
            had_ns = now().ns();
        });
        const End end = simulator.run();
        CHECK(end.ending == Ending::finished);
        CHECK(had_ns == 16'020 + 100);
        const Measurements &m = simulator.measurements();
        CHECK(m.locks.waits[0].wait.total() == (16'020 - 500) * 1000);
        CHECK(m.locks.waits[0].spin_ps == (2'010 - 500) * 1000);
        CHECK(m.threads[0].parts[Part::disk] == (10'010 - 1'010) * 1000);
        CHECK(m.threads[0].parts[Part::cpu_wait] == 3'000 * 1000);
        // Waking is the owner's to pay.
        CHECK(m.threads[0].parts.total() == (13'020 + 1'000) * 1000);
    }
}

TEST_CASE("under a crowd a polled lock slows down as its formula says, and a queued one does not")
{
    // With n others waiting: 100 in it, the leave, the hand-over.
    for (const uint32_t threads : {2u, 3u, 5u, 9u, 16u}) {
        const int64_t n = threads - 1;
        CHECK(hand_over_ps(crowded(threads, "adaptive-ttas"), threads) == (100 + 10 + 200 + 20 * n) * 1000);
        CHECK(hand_over_ps(crowded(threads, "ticket"), threads) == (100 + 10 + 100) * 1000 + 20'000 * n / 2);
        CHECK(hand_over_ps(crowded(threads, "queued"), threads) == (100 + 10 + 200) * 1000);
        CHECK(hand_over_ps(crowded(threads, "adaptive-backoff"), threads) == (100 + 1 + 200) * 1000 + 60'000 / (n + 1));
    }
}

TEST_CASE("on any machine the time between two owners is the leave and the hand-over of the policy's formula")
{
    Random random(1, "machines");
    for (int i = 0; i < 60; ++i) {
        Machine machine = crowded(static_cast<uint32_t>(random.between(2, 24)), "queued");
        machine.rmw_owned_ps = static_cast<int64_t>(random.between(1, 30'000));
        machine.load_hit_ps = static_cast<int64_t>(random.between(1, 5'000));
        machine.transfer_same_socket_ps = machine.rmw_owned_ps + static_cast<int64_t>(random.below(300'000));
        machine.crowd_ps = static_cast<int64_t>(random.below(50'000));
        machine.backoff_ps = static_cast<int64_t>(random.below(900'000));
        const int64_t n = machine.cpus - 1;
        const int64_t x = machine.transfer_same_socket_ps;
        const int64_t in_it = 100'000 + machine.rmw_owned_ps;
        const auto between = [&](const char *policy) {
            machine.lock_policy = policy;
            return hand_over_ps(machine, machine.cpus);
        };
        CHECK(between("queued") == in_it + 2 * x);
        CHECK(between("adaptive-ttas") == in_it + 2 * x + machine.crowd_ps * n);
        CHECK(between("ticket") == in_it + x + machine.crowd_ps * n / 2);
        CHECK(between("adaptive-backoff") == 100'000 + machine.load_hit_ps + 2 * x + machine.backoff_ps / (n + 1));
    }
}

TEST_CASE("a transfer from another socket is dearer")
{
    Machine machine = crowded(2, "queued");
    machine.cpus_per_socket = 1;
    machine.transfer_other_socket_ps = 300'000;
    CHECK(one_round(machine, {0, 500}).had_ns[1] == 1020 + 2 * 300);
}

TEST_CASE("readers of one rwlock do not exceed one in two transfers, with nothing held")
{
    constexpr uint32_t readers = 8;
    constexpr int64_t rounds = 200;
    Simulator simulator(sim_test::uniform(readers), sim_test::tables, 1);
    RwLock lock(2);
    for (uint32_t i = 0; i < readers; ++i)
        simulator.spawn("reader", {}, [&] {
            for (int64_t round = 0; round < rounds; ++round) {
                RwGuard held(lock, RwMode::reader);
            }
        });
    const End end = simulator.run();
    const int64_t each_ns = end.at.ns() / (readers * rounds);
    CHECK(each_ns >= 195); // the first and the last have less company
    CHECK(each_ns <= 200);
    CHECK(simulator.measurements().locks.waits[2].contended == 0);
}
