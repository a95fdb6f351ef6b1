// A smaller scenario that still fails: pieces are taken away as long as the failure stays.
//
// Delta debugging on the scenario's JSON. A candidate is the scenario with one piece less: a group, a step, a round of
// steps; or with a smaller number: threads, rounds, a parameter, CPUs, by halving. Candidates that cannot be read, or
// do not fail in the same way, are dropped. It ends when no candidate fails any more, or after so many trials. What
// fails is the caller's to say.
//
// What fails only now and then is looked at with more and more patience: first come all candidates that fail readily,
// which keeps the failure frequent and the search short; only when none of them is left, those that seldom do.
#pragma once

#include "analysis/json.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace analysis {

// How thoroughly to look.
enum class Patience { little, some, much };

// Whether the scenario still fails in the wanted way.
using StillFails = std::function<bool(const Json &scenario, Patience patience)>;

struct Shrunk {
    Json scenario;
    uint64_t trials = 0;
    bool finished = true; // false: the trials ran out first
};

// REQUIRES: still_fails(scenario, Patience::much).
Shrunk shrink(Json scenario, const StillFails &still_fails, uint64_t trials_max);

struct ScenarioSize {
    uint64_t threads = 0; // of all groups, where they are numbers or the name of a parameter
    uint64_t steps = 0;   // written down, in the setup and in all groups, steps within steps included
};
ScenarioSize scenario_size(const Json &scenario);

} // namespace analysis
