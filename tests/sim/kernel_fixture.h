// What tests of the kernel share: a few functions and lock classes, and machines with round numbers.
#pragma once

#include "sim/simulator.h"

#include <ostream>
#include <string>

namespace sim_test {

inline constexpr sim::FunctionInfo functions[] = {
    {"work", 10, 64, true}, {"inner", 5, 32, false}, {"other", 7, 48, true}};
inline constexpr sim::LockClassInfo lock_classes[] = {{"first", nullptr}, {"second", nullptr}, {"rw", nullptr}};
inline constexpr sim::Tables tables{functions, lock_classes};

// Every transfer 100 ns, an owned access 10 ns, a load 1 ns, blocking, waking and switching 1 us, wake-up latency 2 us.
inline sim::Machine uniform(uint32_t cpus, const std::string &policy = "adaptive-ttas")
{
    sim::Machine machine = sim::find_machine_profile("uniform")->machine;
    machine.cpus = cpus;
    machine.cpus_per_socket = cpus;
    machine.lock_policy = policy;
    return machine;
}

// Where each thread's time went, what it called and how long it waited for locks, a line each.
inline void tell_threads(std::ostream &text, const sim::Measurements &m)
{
    for (const auto &thread : m.threads) {
        for (const int64_t part : thread.parts.ps)
            text << part << ' ';
        for (const uint64_t calls : thread.calls)
            text << calls << ' ';
        text << thread.lock_wait_ps << '\n';
    }
}

} // namespace sim_test
