// One run from scenario to report, as `run` and the workers of `sweep` do it.
#pragma once

#include "analysis/json.h"
#include "scenarios/run.h"
#include "scenarios/scenario.h"

#include <functional>

namespace cli {

struct Outcome {
    analysis::Json report;                     // null when interrupted
    int status = 0;                            // of exit_status.h
    std::map<std::string, std::string> kstats; // texts, by name
};

// `progress` may end the run by returning false.
// `kstats`: names whose text is wanted.
Outcome simulate(const scenarios::Scenario &scenario, const std::function<bool(const scenarios::Progress &)> &progress,
                 const std::vector<std::string> &kstats = {});

} // namespace cli
