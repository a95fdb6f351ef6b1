// Traces of what one call costs: dmu_tx_hold_zap by case, single operations at six sizes, a million creates.
#pragma once

#include "analysis/conform.h"

namespace analysis {

void replay_hold_zap(const Json &trace, Comparison &comparison);
void replay_op_profile(const Json &trace, Comparison &comparison);
void replay_create_sequence(const Json &trace, Comparison &comparison);

} // namespace analysis
