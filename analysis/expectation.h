// Expectations: what a scenario says must come out, judged on the printed result.
//
//   {"metric": PATH, "at_least": N, "at_most": N, "equals": N, "within": {"of": N, "percent": P}, "because": TEXT}
//
// Several bounds in one entry must all hold. A metric that leads nowhere does not hold: the run did not show it.
#pragma once

#include "analysis/json.h"

namespace analysis {

// The "expect" list of a result. `result` holds the effective scenario and everything else but "expect".
Json judge_expectations(const Json &result);

// Does every entry of a judged list hold?
bool all_held(const Json &judged);

// "at least 27000, at most 33000"
std::string bounds_text(const Json &expectation);

} // namespace analysis
