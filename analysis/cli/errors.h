// What ends the program besides success, each with one exit status (the table is in exit_status.h).
#pragma once

#include <stdexcept>

namespace cli {

// The command line is wrong: exit 2, and a hint at --help.
struct UsageError : std::runtime_error {
    using runtime_error::runtime_error;
};

// The product cannot be written, or the work cannot be finished for a reason of the host: exit 1.
struct HostError : std::runtime_error {
    using runtime_error::runtime_error;
};

// Ctrl-C: exit 130. What had finished has been written by whoever throws this.
struct Interrupted : std::runtime_error {
    using runtime_error::runtime_error;
};

} // namespace cli
