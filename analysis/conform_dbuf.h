// Replays of recorded holds and reads of cached files: depths and allocations, states over time, counts of one call.
#pragma once

#include "analysis/conform.h"

namespace analysis {

void replay_dbuf_depth(const Json &trace, Comparison &comparison);
void replay_dbuf_states(const Json &trace, Comparison &comparison);
void replay_read_profile(const Json &trace, Comparison &comparison);

} // namespace analysis
