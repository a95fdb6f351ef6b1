// Replays a recorded run of the real object allocator ("alloc-oracle-1") and compares everything recorded but times.
//
// The replay is a real run: a pool with its service threads on a simulated machine, transactions, syncs, re-opens. It
// is told what was asked (the operation, its count, which objects were freed or claimed, the arguments of searches) and
// nothing of the answers. A field it does not know is a bad trace, never skipped.
#pragma once

#include "analysis/conform.h"

namespace analysis {

// Throws BadTrace; Comparison::Stop passes through.
void conform_alloc(const Json &trace, Comparison &comparison);

} // namespace analysis
