// When two bad ends are the same mistake.
//
// A smaller scenario has other threads, other numbers, another moment: their texts differ though the mistake is one,
// and a bad end of the same kind may still be another mistake. A broken invariant is known by the line of code that
// states it. Where threads wait for ever, it is known by what they wait for: locks by class, reasons without their
// numbers, condition variables by the function that sleeps on one. Somebody who merely came too late is gone from a
// smaller scenario, so the smaller one may wait for less, though not for nothing, nor for anything else.
#pragma once

#include "analysis/json.h"

#include <set>
#include <string>

namespace analysis {

// {"end", "ending"} of a result that ended badly; null of one that did not.
Json bad_end(const Json &result);

// What the threads of a bad end wait for, as its text tells.
std::set<std::string> waited_for(const Json &bad);

// Whether `candidate` is `original` over again, in a smaller scenario. Either may be null: then it is not.
bool is_same_mistake(const Json &original, const Json &candidate);

} // namespace analysis
