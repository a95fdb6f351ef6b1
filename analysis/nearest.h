// "Did you mean ...?": the known name nearest to what was typed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace analysis {

// Empty where nothing is near enough to be a slip of the finger (a third of the length, at least 1, at most 3 edits).
std::string nearest(std::string_view typed, const std::vector<std::string> &known);

// " (did you mean 'run'?)" or nothing.
std::string did_you_mean(std::string_view typed, const std::vector<std::string> &known);

} // namespace analysis
