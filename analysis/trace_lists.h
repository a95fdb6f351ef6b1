// How traces of the allocator write long lists of numbers, and the same lists written by us.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/conform.h"

namespace analysis {

// Elements are one integer, or [first, last, stride] with both ends in the list. Throws BadTrace.
std::vector<uint64_t> objects_of(const Json &list, std::string_view path);
// The longest runs from the front: of two or more neighbours, or of three or more with any other stride.
Json coded_objects(const std::vector<uint64_t> &objects);

// Lists of [value, count].
Json coded_runs(const std::vector<std::pair<uint64_t, uint64_t>> &runs);

} // namespace analysis
