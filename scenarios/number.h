// Numbers as scenarios write them: integers, sizes ("4G"), times ("10us"), and expressions over the scenario's
// parameters
// ("$files / $threads", "$n * 4K + 1").
//
// Everything is whole: a division that does not come out whole is the user's mistake, not a rounded number. Signed
// 128-bit arithmetic, so that an intermediate value may leave the 64 bits that the result must fit into.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace scenarios {

enum class Unit {
    plain,    // a count, a shift, a number of an object
    size,     // bytes: suffixes K, M, G, T, powers of 1024
    duration, // nanoseconds: suffixes ns, us, ms, s; a bare number other than 0 is refused
    any,      // a parameter: either suffix
};

__extension__ typedef __int128 int128;

// A value and whether a unit of time went into it.
struct Amount {
    int128 value = 0;
    bool time = false;
};

struct Param {
    std::string name;
    Amount amount;
};
using Params = std::vector<Param>; // in the order of the file

// What is wrong with a number, for people; whoever knows the place adds it.
struct NumberError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A quotient that is not whole, or a division by zero: depends on the values, not on the form.
struct DivisionError : NumberError {
    using NumberError::NumberError;
};

Amount evaluate(std::string_view expression, Unit unit, const Params &params);

// "5s", "100us": the largest unit in which it is whole. "128K": the same for bytes, "1000" where none is.
std::string duration_text(uint64_t ns);
std::string size_text(uint64_t bytes);

std::string decimal(int128 value);

} // namespace scenarios
