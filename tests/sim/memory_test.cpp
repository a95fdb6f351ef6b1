// What comes with a lock, what memory costs whom, and what a function costs that nobody recorded: exact times on a
// machine with round numbers.
#include "sim/atomic.h"
#include "sim/guard.h"
#include "sim/probe.h"
#include "tests/sim/kernel_fixture.h"

#include <doctest/doctest.h>

using namespace sim;

using sim_test::tables;
using sim_test::uniform;

TEST_CASE("a lock that another CPU takes brings its data along, as part of the hold and not of the wait")
{
    Machine machine = uniform(2);
    machine.data_lines = 2;
    Simulator simulator(machine, tables, 1);
    Mutex contended(0), free(1);
    RwLock rw(2);
    simulator.spawn("a", {}, [&] {
        contended.enter(); // nobody had it: 10
        CHECK(now().ns() == 10);
        charge(nanoseconds(1000));
        contended.exit(); // 1020
        free.enter();     // 1030
        free.exit();      // 1040
        rw.enter_write(); // 1050
        rw.exit_write();  // 1060
        CHECK(now().ns() == 1060);
    });
    simulator.spawn("b", {}, [&] {
        charge(nanoseconds(500));
        contended.enter(); // handed over at 1020 + 2 * 100, then the data, 2 * 100
        CHECK(now().ns() == 1420);
        contended.exit();
        charge(nanoseconds(570)); // 2000
        free.enter();             // 100, and the data
        CHECK(now().ns() == 2300);
        free.exit();
        free.enter(); // its own by now
        CHECK(now().ns() == 2320);
        free.exit();
        rw.enter_read(); // a reader fetches the lock's line alone
        CHECK(now().ns() == 2430);
        rw.exit_read();
    });
    CHECK(simulator.run().ending == Ending::finished);
    CHECK(simulator.measurements().locks.waits[0].wait.total() == 720'000);
    CHECK(simulator.measurements().holds[1].total() == (10 + 210 + 10) * 1000);
}

TEST_CASE(
    "a line is fetched from memory by each CPU once, until somebody else writes it; over two sockets half come from "
    "afar")
{
    Machine machine = uniform(2);
    machine.cpus_per_socket = 1;
    machine.miss_ps = 50'000;
    machine.remote_memory_per_mille = 2000;
    CHECK(mean_miss_ps(machine) == 75'000);
    machine.cpus_per_socket = 2;
    CHECK(mean_miss_ps(machine) == 50'000);
    machine.cpus_per_socket = 1;
    Simulator simulator(machine, tables, 1);
    Footprint footprint;
    simulator.spawn("a", {}, [&] {
        footprint.read(4);
        CHECK(now().ns() == 300);
        footprint.read(4);
        footprint.write(4);
        CHECK(now().ns() == 300);
        charge(nanoseconds(1700)); // 2000: the other CPU has read it at 1000
        footprint.write(2);
        CHECK(now().ns() == 2000);
    });
    simulator.spawn("b", {}, [&] {
        charge(nanoseconds(1000));
        footprint.read(4);
        CHECK(now().ns() == 1300);
        charge(nanoseconds(1700)); // 3000: it has been written at 2000
        footprint.read(4);
        CHECK(now().ns() == 3300);
    });
    CHECK(simulator.run().ending == Ending::finished);
}

TEST_CASE("adding unless is one visit of the line, and a load where it is refused")
{
    Simulator simulator(uniform(2), tables, 1);
    Atomic<uint32_t> word;
    simulator.spawn("a", {}, [&] {
        CHECK(word.add_unless(9, 1));
        CHECK(now().ns() == 1 + 10);
        charge(nanoseconds(1989)); // 2000
        word.store(9);
    });
    simulator.spawn("b", {}, [&] {
        charge(nanoseconds(1000));
        CHECK(word.add_unless(9, 1));
        CHECK(now().ns() == 1000 + 1 + 100);
        charge(nanoseconds(1899)); // 3000
        CHECK_FALSE(word.add_unless(9, 1));
        CHECK(now().ns() == 3100);
        CHECK(word.peek() == 9);
    });
    CHECK(simulator.run().ending == Ending::finished);
}

TEST_CASE("what nobody recorded costs its steps, each of so many instructions as the machine says")
{
    static constexpr FunctionInfo functions[] = {{"recorded", 10, 0, true}, {"assumed", 0, 0, false, 4}};
    Machine machine = uniform(1);
    machine.unrecorded_step_instructions = 3;
    Simulator simulator(machine, {functions, sim_test::lock_classes}, 1);
    simulator.spawn("t", {}, [] {
        {
            Probe probe(uint16_t{0});
            CHECK(now().ns() == 10);
        }
        Probe probe(uint16_t{1});
        CHECK(now().ns() == 22);
    });
    CHECK(simulator.run().ending == Ending::finished);
}
