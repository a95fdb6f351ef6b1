// A smaller scenario that still fails: pieces are taken away as long as the failure stays.
//
// Delta debugging on the scenario's JSON. A candidate is the scenario with one piece less: a group, a step, a round of
// steps; or with a smaller number: threads, rounds, a parameter, CPUs. Candidates that cannot be read, or do not fail
// in the same way, are dropped. It ends when no candidate fails any more, or after so many trials. What fails is the
// caller's to say.
#pragma once

#include "analysis/json.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace analysis {

// Whether the scenario still fails in the wanted way.
using StillFails = std::function<bool(const Json &scenario)>;

struct Shrunk {
    Json scenario;
    uint64_t trials = 0;
    bool finished = true; // false: the trials ran out first
};

// REQUIRES: still_fails(scenario).
Shrunk shrink(Json scenario, const StillFails &still_fails, uint64_t trials_max);

struct ScenarioSize {
    uint64_t threads = 0; // of all groups, where they are plain numbers
    uint64_t steps = 0;   // written down, in the setup and in all groups, steps within steps included
};
ScenarioSize scenario_size(const Json &scenario);

} // namespace analysis
