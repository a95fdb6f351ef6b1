// The result of one run as JSON: the form that is stored, compared and read by other programs.
//
// analysis/README.md states every field with its unit. The order of the keys is fixed, and what was not asked for
// ("record") is left out rather than written as an empty list.
#pragma once

#include "analysis/json.h"
#include "scenarios/run.h"

namespace analysis {

inline constexpr const char *result_format = "dmusim-result-1";

// Expectations are judged and added too: they speak of the printed result.
Json report_json(const scenarios::RunResult &result);

} // namespace analysis
