// Every upper bound of the model, each with its reason.
#pragma once

#include <cstdint>

namespace dmu::limits {

// So many refusals, one txg each, show that a transaction whose estimate no txg can hold will never be assigned. Enough
// to measure at what rate txgs race by meanwhile.
constexpr uint32_t unassignable_attempts = 4096;

} // namespace dmu::limits
