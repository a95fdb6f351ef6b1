// A step repeated by arithmetic leaves what it leaves when it runs; where it could go differently it is not repeated.
#include <doctest/doctest.h>

#include "sim/atomic.h"
#include "sim/guard.h"
#include "sim/probe.h"
#include "sim/repetition.h"
#include "sim/simulator.h"

#include <array>
#include <vector>

using namespace sim;

namespace {

constexpr FunctionInfo functions[] = {{"outer", 3, 0, true}, {"inner", 5, 0, true}};
constexpr LockClassInfo lock_classes[] = {{"list", nullptr}, {"item", nullptr}, {"tree", nullptr}};

struct Item {
    Mutex mutex{1};
};

struct Places {
    Mutex list{0};
    RwLock tree{2};
    Atomic<uint32_t> count;
    std::array<Item, 64> items;
};

void step(Places &places, Item &item)
{
    Probe outer{uint16_t{0}};
    RwGuard reader(places.tree, RwMode::reader);
    MutexGuard listed(places.list);
    places.count.fetch_add(1);
    {
        Probe inner{uint16_t{1}};
        MutexGuard held(item.mutex);
        charge(nanoseconds(7));
    }
    listed.exit();
    charge(nanoseconds(11));
}

struct Outcome {
    uint64_t digest;
    int64_t end_ps;
    std::vector<uint64_t> accounts;
    uint64_t repeated;

    bool operator==(const Outcome &other) const
    {
        return digest == other.digest && end_ps == other.end_ps && accounts == other.accounts;
    }
};

// Two rounds over the items; `disturb` is what another thread does meanwhile.
template <class Disturb>
Outcome run(const char *profile, bool repeating, Disturb disturb)
{
    Machine machine = find_machine_profile(profile)->machine;
    machine.cpus = 2;
    Simulator simulator(machine, {functions, lock_classes}, 1);
    Places places;
    Outcome out{};
    simulator.spawn("worker", {}, [&] {
        Repetition repetition;
        for (int round = 0; round < 4; ++round) {
            for (size_t i = 0; i < places.items.size();) {
                const bool begun = repeating && repetition.begin();
                step(places, places.items[i]);
                if (begun && repetition.end(places.items[i].mutex)) {
                    std::vector<Mutex *> others;
                    for (size_t next = i + 1; next < places.items.size(); ++next) {
                        if (others.size() == repetition.room() || !places.items[next].mutex.near())
                            break;
                        others.push_back(&places.items[next].mutex);
                    }
                    repetition.repeat(others);
                    i += others.size();
                    out.repeated += others.size();
                    // What the step does to the program is the caller's: the count goes up without a cost.
                    // (Nobody reads it here.)
                }
                ++i;
            }
        }
    });
    disturb(simulator, places);
    const End end = simulator.run();
    CHECK(end.text == "");
    out.digest = simulator.digest();
    out.end_ps = end.at.ps;
    const Measurements &m = simulator.measurements();
    for (const auto &node : m.nodes)
        out.accounts.insert(out.accounts.end(), {node.function, node.calls, node.self_ps, node.spin_ps});
    for (const auto &thread : m.threads)
        out.accounts.insert(out.accounts.end(), thread.calls.begin(), thread.calls.end());
    for (size_t i = 0; i < m.holds.size(); ++i) {
        const auto &counts = m.locks.counts[i];
        out.accounts.insert(out.accounts.end(), {counts.acquisitions, counts.owner_changes, counts.writes});
        out.accounts.insert(out.accounts.end(), m.holds[i].counts().begin(), m.holds[i].counts().end());
        out.accounts.insert(out.accounts.end(), {m.holds[i].total(), m.holds[i].max()});
    }
    return out;
}

const auto nobody = [](Simulator &, Places &) {};

} // namespace

TEST_CASE("a repeated step leaves time, frames, locks and digest as if it had run each time")
{
    for (const char *profile : {"flat", "uniform", "xeon-2016"}) {
        CAPTURE(profile);
        const Outcome plain = run(profile, false, nobody);
        const Outcome quick = run(profile, true, nobody);
        CHECK(plain.repeated == 0);
        CHECK(quick.repeated > 3 * 60);
        CHECK(quick == plain);
    }
}

TEST_CASE("a repetition ends where somebody else has to be looked at")
{
    const auto visitor = [](Simulator &simulator, Places &places) {
        simulator.spawn("visitor", {}, [&] {
            for (int i = 0; i < 20; ++i) {
                sleep_for(nanoseconds(900 + 37 * i), WaitKind::other);
                MutexGuard listed(places.list);
                MutexGuard held(places.items[static_cast<size_t>(i)].mutex);
                charge(nanoseconds(300));
            }
        });
    };
    for (const char *profile : {"flat", "uniform", "xeon-2016"}) {
        CAPTURE(profile);
        const Outcome plain = run(profile, false, visitor);
        const Outcome quick = run(profile, true, visitor);
        CHECK(quick.repeated > 0);
        CHECK(quick == plain);
    }
}

TEST_CASE("a step that fetches a line, writes a rwlock or keeps a lock is not repeated")
{
    Machine machine = find_machine_profile("uniform")->machine;
    machine.cpus = 1;
    Simulator simulator(machine, {functions, lock_classes}, 1);
    Places places;
    simulator.spawn("worker", {}, [&] {
        Mutex &mutex = places.items[0].mutex;
        const auto repeatable = [&](auto body) {
            Repetition repetition;
            REQUIRE(repetition.begin());
            body();
            return repetition.end(mutex);
        };
        const auto pass = [&] { MutexGuard held(mutex); };
        CHECK_FALSE(repeatable(pass)); // its line has never been here
        CHECK(repeatable(pass));
        const auto write = [&] { RwGuard writer(places.tree, RwMode::writer); };
        CHECK_FALSE(repeatable(write));
        CHECK_FALSE(repeatable(write));
        CHECK_FALSE(repeatable([&] { mutex.enter(); }));
        CHECK_FALSE(repeatable([&] { mutex.exit(); }));
        CHECK_FALSE(repeatable([&] {
            pass();
            sleep_for(nanoseconds(1), WaitKind::other);
        }));
        CHECK_FALSE(repeatable([] {})); // it takes no time
        Repetition first;
        Repetition second;
        CHECK(first.begin());
        CHECK_FALSE(second.begin());
    });
    CHECK(simulator.run().text == "");
}
