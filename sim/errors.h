// Trouble that is neither the user's mistake nor the simulation's: the program needs more than it may have.
#pragma once

#include <stdexcept>

namespace sim {

// A bound of limits.h, or of the system, was reached; the text names it.
struct LimitReached : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace sim
