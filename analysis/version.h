// The version of the program, as written in every result. tests/tidy_test.cpp holds it equal to meson.build's.
#pragma once

namespace analysis {

inline constexpr const char *version = "0.1.0";

} // namespace analysis
