// The names of the error numbers that the simulated system refuses with.
#pragma once

#include <string>

namespace scenarios {

std::string errno_name(int error); // "EEXIST"; "errno 123" for one without a name here

} // namespace scenarios
