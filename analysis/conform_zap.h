// Traces of ZAPs: shape and names, events of growth, removal, iteration order, edges.
#pragma once

#include "analysis/conform.h"

namespace analysis {

void replay_zap_structure(const Json &trace, Comparison &comparison);
void replay_zap_events(const Json &trace, Comparison &comparison);
void replay_zap_remove(const Json &trace, Comparison &comparison);
void replay_zap_cursor(const Json &trace, Comparison &comparison);
void replay_zap_edge(const Json &trace, Comparison &comparison);

} // namespace analysis
