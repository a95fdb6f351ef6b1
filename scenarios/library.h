// The built-in scenarios: plain files in scenarios/library/, found by name.
#pragma once

#include "scenarios/scenario.h"

#include <string>
#include <vector>

namespace scenarios {

// Names, sorted. Empty when the library is not where it was built or installed.
std::vector<std::string> library_names();

// The scenario of that name, or "-" for standard input, or a file. Throws InputError.
Document open_scenario(const std::string &name);

} // namespace scenarios
