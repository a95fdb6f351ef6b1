// After a run that came to its end: what must hold whatever the scenario was.
#pragma once

#include "scenarios/workload.h"

namespace scenarios {

// REQUIRES: the pool is stopped, so everything is on disk. Throws sim::InvariantBroken.
//  - every fill count in the synced tree equals a recount of the blocks below it
//  - as many objects are on disk as scripts have allocated and not freed
//  - nothing is dirty, no transaction is open
void check_pool(World &world);

// Counters that are kept in two places agree.
void check_counters(const World &world);

} // namespace scenarios
