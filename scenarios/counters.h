// Counters by name: what wait_until may wait for, and what a result lists.
#pragma once

#include <string>
#include <vector>

namespace scenarios {

// ops.NAME, txg.open, txg.synced, every function, every kstat.
std::vector<std::string> counter_names();
// Of the model, as results name them.
std::vector<std::string> lock_class_names();
std::vector<std::string> function_names();

} // namespace scenarios
