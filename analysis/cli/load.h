// From the words of a command line to a checked scenario.
#pragma once

#include "analysis/cli/options.h"
#include "analysis/json.h"
#include "scenarios/scenario.h"

namespace cli {

// Throws scenarios::InputError for anything that is wrong in the file or in the overrides. `varied` (a point of a
// sweep) is put in after the common options.
scenarios::Scenario load(const std::string &name, const Common &common, const analysis::Json &varied = nullptr);

} // namespace cli
