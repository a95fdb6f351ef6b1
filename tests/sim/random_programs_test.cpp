// Random lock programs, each run with and without release ahead of time: every number that comes out is equal.
//
// A program is a seed. Its machine, its threads and what they do are drawn from it: nested mutexes in a fixed order,
// rwlocks with upgrades and downgrades, condition variables with and without a limit, atomics, peeks, sleeps, more
// threads than CPUs, slices short enough to preempt owners, every policy.
#include "sim/atomic.h"
#include "sim/condvar.h"
#include "sim/guard.h"
#include "sim/probe.h"
#include "tests/sim/kernel_fixture.h"

#include <cstdlib>
#include <deque>
#include <doctest/doctest.h>
#include <sstream>

using namespace sim;

namespace {

struct World {
    std::deque<Mutex> mutexes;
    std::deque<RwLock> rwlocks;
    Mutex cv_mutex{1};
    CondVar cv;
    uint64_t tickets = 0;
    Atomic<uint64_t> counter;
    racy<uint64_t> peeked;
    uint64_t seen = 0; // everything that threads read, in simulated order of each thread
};

Machine random_machine(Random &random)
{
    Machine machine = find_machine_profile(random.below(4) == 0 ? "flat" : "uniform")->machine;
    machine.cpus = static_cast<uint32_t>(random.between(1, 6));
    machine.cpus_per_socket = static_cast<uint32_t>(random.between(1, 4));
    const auto policies = lock_policies();
    machine.lock_policy = policies[random.below(policies.size())]->name;
    machine.transfer_other_socket_ps = machine.transfer_same_socket_ps * static_cast<int64_t>(random.between(1, 3));
    machine.crowd_ps = static_cast<int64_t>(random.below(3)) * 10'000;
    machine.data_lines = static_cast<int64_t>(random.below(3));
    machine.backoff_ps = static_cast<int64_t>(random.below(3)) * 50'000;
    machine.block_ps = static_cast<int64_t>(random.between(1, 1000)) * 1000;
    machine.wake_ps = static_cast<int64_t>(random.below(1000)) * 1000;
    machine.wake_latency_ps = static_cast<int64_t>(random.below(1000)) * 1000;
    machine.context_switch_ps = static_cast<int64_t>(random.below(1000)) * 1000;
    // Where nobody sleeps and no slice ends, spinners keep the owner off its CPU for ever.
    const bool slices = !find_lock_policy(machine.lock_policy)->sleeps || random.below(3) != 0;
    machine.time_slice_ps = slices ? static_cast<int64_t>(random.between(500, 20'000)) * 1000 : 0;
    return machine;
}

void think(Random &random)
{
    Probe probe(static_cast<uint16_t>(random.below(3)));
    // Round numbers, so that many events fall on one instant.
    charge(nanoseconds(static_cast<int64_t>(random.below(20)) * 50));
}

void note(World &world, Thread &self, uint64_t value)
{
    world.seen += (static_cast<uint64_t>(now().ps) * 31 + value) * (self.id + 1);
}

void nested_mutexes(World &world, Random &random, size_t from, unsigned depth)
{
    if (from >= world.mutexes.size())
        return;
    const size_t index = from + random.below(world.mutexes.size() - from);
    Mutex &mutex = world.mutexes[index];
    if (random.below(4) == 0) {
        if (!mutex.try_enter())
            return;
    } else {
        mutex.enter();
    }
    MutexGuard held = MutexGuard::adopt(mutex);
    think(random);
    if (depth > 0 && random.below(2) == 0)
        nested_mutexes(world, random, index + 1, depth - 1);
    if (random.below(12) == 0)
        sleep_for(microseconds(static_cast<int64_t>(random.below(5))), WaitKind::disk);
    if (random.below(3) == 0)
        think(random);
}

void use_rwlock(World &world, Random &random)
{
    RwLock &lock = world.rwlocks[random.below(world.rwlocks.size())];
    const RwMode mode = random.below(3) == 0 ? RwMode::writer : RwMode::reader;
    RwGuard held(lock, mode);
    think(random);
    if (mode == RwMode::reader && random.below(3) == 0) {
        if (held.try_upgrade())
            think(random);
    }
    if (held.mode() == RwMode::writer && random.below(3) == 0) {
        held.downgrade();
        think(random);
    }
    if (random.below(4) == 0)
        nested_mutexes(world, random, 0, 1);
}

void step(World &world, Random &random, Thread &self)
{
    switch (random.below(9)) {
    case 0:
    case 1:
    case 2:
        nested_mutexes(world, random, 0, 2);
        break;
    case 3:
        use_rwlock(world, random);
        break;
    case 4: {
        MutexGuard held(world.cv_mutex);
        const Time limit = now() + nanoseconds(static_cast<int64_t>(random.below(10'000)));
        while (world.tickets == 0) {
            if (!world.cv.timed_wait(world.cv_mutex, limit, WaitKind::txg))
                break;
        }
        if (world.tickets > 0)
            --world.tickets;
        note(world, self, world.tickets);
        break;
    }
    case 5: {
        MutexGuard held(world.cv_mutex);
        ++world.tickets;
        random.below(2) == 0 ? world.cv.signal() : world.cv.broadcast();
        break;
    }
    case 6:
        note(world, self, world.counter.fetch_add(random.below(3)));
        note(world, self, world.counter.load());
        break;
    case 7:
        note(world, self, world.peeked);
        world.peeked = random.below(100);
        break;
    default:
        if (random.below(6) == 0)
            sleep_for(nanoseconds(static_cast<int64_t>(random.below(5000))), WaitKind::other);
        else if (random.below(6) == 0)
            yield_cpu();
        break;
    }
    think(random);
}

struct Listener final : Observer {
    uint64_t heard = 0;

    bool wants_holds() const override { return true; }
    bool wants_frames() const override { return true; }
    void waited(const LockWait &) override { ++heard; }
    void held(const LockHold &) override { ++heard; }
    void frame_entered(const Thread &, const CallNode &, Time) override { ++heard; }
    void switched(uint32_t, const Thread *, Time) override { ++heard; }
};

// Holders are blamed for what waiters have waited, to the picosecond: for every class, and for every single lock. No
// chain of waiting is longer than the waiting itself.
void check_blame(uint64_t seed, const Measurements &m)
{
    INFO("seed ", seed);
    const size_t columns = size_t{m.locks.functions} + 1;
    std::vector<uint64_t> by_instance(m.locks.waits.size());
    for (const LockInstance &instance : m.locks.instances) {
        uint64_t blamed = 0;
        for (const Blame &blame : instance.blame) {
            blamed += blame.ps;
            REQUIRE((blame.node == Blame::hand_over || blame.node < m.nodes.size()));
        }
        REQUIRE(blamed == instance.wait_ps);
        by_instance[instance.lock_class] += instance.wait_ps;
    }
    std::vector<uint64_t> chained(m.locks.waits.size());
    for (const auto &[chain, ps] : m.locks.chains)
        chained[chain.links[0] >> 16] += ps;
    for (size_t i = 0; i < m.locks.waits.size(); ++i) {
        uint64_t waited = 0;
        uint64_t blamed = m.locks.hand_over_ps[i];
        for (size_t column = 0; column < columns; ++column) {
            waited += m.locks.waiter_ps[i * columns + column];
            blamed += m.locks.holder_ps[i * columns + column];
        }
        REQUIRE(waited == m.locks.waits[i].wait.total());
        REQUIRE(blamed == waited);
        REQUIRE(by_instance[i] == waited);
        REQUIRE(chained[i] <= waited);
    }
}

enum class Care { none, watched, supposed, disturbed };

// Everything that a run lets one see, as text.
std::string outcome(uint64_t seed, bool release_ahead, Observer *observer = nullptr, Care care = Care::none)
{
    Random random(seed, "program");
    const Machine machine = random_machine(random);
    Simulator simulator(machine, sim_test::tables, seed, observer);
    simulator.set_release_ahead(release_ahead);
    if (care == Care::watched)
        simulator.watch_lock_order();
    if (care == Care::disturbed)
        simulator.disturb(seed);
    if (care == Care::supposed) {
        simulator.suppose_lock(0, static_cast<uint32_t>(seed % 3));
        simulator.suppose_lock(2, static_cast<uint32_t>(seed % 4));
        simulator.suppose_function(1, 2);
    }
    World world;
    for (uint64_t i = random.between(1, 4); i > 0; --i)
        world.mutexes.emplace_back(uint16_t{0});
    for (uint64_t i = random.between(1, 2); i > 0; --i)
        world.rwlocks.emplace_back(uint16_t{2});
    const uint64_t threads = random.between(1, 10);
    const uint64_t steps = random.between(1, 30);
    for (uint64_t t = 0; t < threads; ++t) {
        ThreadOptions options;
        options.start = Time{} + nanoseconds(static_cast<int64_t>(random.below(4)) * 250);
        if (random.below(5) == 0) {
            options.cpus = CpuSet{};
            options.cpus.insert(static_cast<uint32_t>(random.below(machine.cpus)));
        }
        Thread &thread = simulator.spawn("t", options, [] {});
        thread.body = [&world, &thread, own = Random(seed, "thread", t), steps]() mutable {
            for (uint64_t i = 0; i < steps; ++i)
                step(world, own, thread);
        };
    }
    const End end = simulator.run();
    CHECK_MESSAGE(end.ending == Ending::finished, "seed " << seed << ": " << end.text);

    std::ostringstream text;
    const Measurements &m = simulator.measurements();
    text << end.at.ps << ' ' << simulator.digest() << ' ' << world.seen << ' ' << world.tickets << '\n';
    sim_test::tell_threads(text, m);
    for (const auto &cpu : m.cpus)
        text << cpu.busy_ps << ' ' << cpu.idle_ps << ' ' << cpu.switch_ps << '\n';
    for (size_t i = 0; i < m.locks.waits.size(); ++i)
        text << m.locks.counts[i].acquisitions << ' ' << m.locks.counts[i].owner_changes << ' ' << m.holds[i].total()
             << ' ' << m.holds[i].max() << ' ' << m.locks.waits[i].contended << ' ' << m.locks.waits[i].wait.total()
             << ' ' << m.locks.waits[i].spin_ps << '\n';
    for (const uint64_t ps : m.locks.waiter_ps)
        text << ps << ' ';
    for (const uint64_t ps : m.locks.holder_ps)
        text << ps << ' ';
    for (const uint64_t ps : m.locks.hand_over_ps)
        text << ps << ' ';
    for (const auto &[chain, ps] : m.locks.chains)
        text << chain.links[0] << ' ' << chain.links[1] << ' ' << ps << '\n';
    check_blame(seed, m);
    for (const auto &node : m.nodes)
        text << node.calls << ' ' << node.self_ps << ' ' << node.spin_ps << ' ' << node.blocked_ps << '\n';
    return text.str();
}

uint64_t number_from_environment(const char *name, uint64_t otherwise)
{
    const char *text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

} // namespace

TEST_CASE("nobody who listens changes what comes out")
{
    for (uint64_t seed = 1; seed <= 200; ++seed) {
        Listener listener;
        CHECK(outcome(seed, true) == outcome(seed, true, &listener));
        CHECK(listener.heard > 0);
    }
}

TEST_CASE("watching the order of locks, with nobody running ahead, changes nothing that comes out")
{
    for (uint64_t seed = 1; seed <= 500; ++seed)
        REQUIRE_MESSAGE(outcome(seed, true) == outcome(seed, true, nullptr, Care::watched), "seed " << seed);
}

TEST_CASE("disturbed programs, and those with cheaper locks, end, add up, and repeat")
{
    for (uint64_t seed = 1; seed <= 500; ++seed) {
        REQUIRE(outcome(seed, true, nullptr, Care::disturbed) == outcome(seed, true, nullptr, Care::disturbed));
        REQUIRE(outcome(seed, true, nullptr, Care::supposed) == outcome(seed, true, nullptr, Care::supposed));
    }
}

// DMUSIM_PROGRAMS=N runs more or fewer, DMUSIM_FIRST_PROGRAM=N starts elsewhere.
TEST_CASE("random lock programs come out the same with and without release ahead of time")
{
    const uint64_t programs = number_from_environment("DMUSIM_PROGRAMS", 10'000);
    const uint64_t first = number_from_environment("DMUSIM_FIRST_PROGRAM", 1);
    for (uint64_t seed = first; seed < first + programs; ++seed) {
        const std::string with = outcome(seed, true);
        const std::string without = outcome(seed, false);
        REQUIRE_MESSAGE(with == without, "seed " << seed << "\n" << with << "\n" << without);
    }
}
