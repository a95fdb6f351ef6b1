// How much a scenario asks for, before it is run: the operations its scripts will try, counted from their loops.
//
// Choices count by their weights; a loop that ends by time, a wait for a counter and numbers that differ from round to
// round cannot be counted, so the estimate says that it is one.
#pragma once

#include <cstdint>

namespace scenarios {

struct Scenario;

struct WorkEstimate {
    uint64_t operations = 0; // of the workload; the setup is not measured but costs time as well
    uint64_t setup = 0;
    bool exact = true;
};

WorkEstimate estimate_work(const Scenario &scenario);

} // namespace scenarios
