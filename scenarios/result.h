// From what the kernel and the world have counted to a RunResult.
#pragma once

#include "scenarios/workload.h"

namespace scenarios {

// What the kernel measured: time, CPUs, functions, locks, the stack. REQUIRES: the measurement has ended.
void add_measurements(RunResult &result, const sim::Simulator &simulator, const Scenario &scenario);

// What the world counted: operations, histograms, counters.
void add_world(RunResult &result, const World &world);

// The allocator's state and the txg rows, as they are now.
void add_pool(RunResult &result, World &world, const std::vector<std::string> &wanted_kstats);

} // namespace scenarios
