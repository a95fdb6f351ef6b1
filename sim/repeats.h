// What is done with a stretch of code that comes again the same (repeat.h).
#pragma once

#include <cstdint>

namespace sim {

enum class Repeats : uint8_t {
    executed, // each time
    checked,  // each time, and it is compared with what adding would have done
    added,
};

} // namespace sim
