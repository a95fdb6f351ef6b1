// A mistake in what the user gave us: the file, the place in it, what is wrong and what would be right.
//
// Thrown by every reader of this layer and caught once, in the program's main(), which prints it and exits with 2.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace scenarios {

// Counted from 1; columns count bytes. Line 0: the value has no place of its own (it came from the command line).
struct Place {
    uint32_t line = 0;
    uint32_t column = 0;
};

class InputError : public std::runtime_error {
public:
    // what(): "source:line:column: path: problem", leaving out what there is none of.
    InputError(std::string source, Place place, std::string path, std::string problem);

    std::string source; // file name, "standard input", or an option such as --set machine.cpus=x
    Place place;
    std::string path; // machine.cpus, workload.0.steps.2.op
    std::string problem;
};

// Text from outside, in double quotes, made safe to print: control characters and bytes outside ASCII that are not
// UTF-8 are escaped, long text is cut.
std::string in_quotes(std::string_view text);

// The candidate that the user may have meant, or an empty string when none is near.
std::string nearest(std::string_view wanted, const std::vector<std::string> &candidates);

// `unknown key "cpsu"; did you mean "cpus"?`, or, with no near candidate, the list of what is allowed.
std::string unknown(std::string_view what, std::string_view given, const std::vector<std::string> &candidates);

} // namespace scenarios
