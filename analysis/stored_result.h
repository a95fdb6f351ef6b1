// Reading results that were written before: one JSON result, or the JSON Lines of a sweep.
#pragma once

#include "analysis/json.h"

#include <string>
#include <vector>

namespace analysis {

// "-" is standard input. Throws scenarios::InputError: not JSON, not a result, none at all.
std::vector<Json> read_results(const std::string &file);

} // namespace analysis
