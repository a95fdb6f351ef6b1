// run --schedules N: the same scenario N times, disturbed in N ways; every bad end with the number that repeats it.
// run --shrink: of the first bad end, a smaller scenario that still has it.
#pragma once

#include "analysis/cli/options.h"

namespace cli {

// REQUIRES: --schedules or --shrink was given. Returns the exit status: the gravest of all runs.
int run_schedules(const Arguments &arguments);

} // namespace cli
