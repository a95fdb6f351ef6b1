// The form of the numbers in every report: integers, or one IEEE division of two integers.
//
// Both compilers print one correctly rounded division the same way, so a report has the same bytes everywhere. A whole
// quotient is written as an integer. Keys keep the order in which they were put in: reports are read by people too.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

namespace analysis {

using Json = nlohmann::ordered_json;

// numerator * scale / denominator. REQUIRES: nothing; x / 0 is null, which is how JSON says "no such number".
inline Json quotient(uint64_t numerator, uint64_t denominator, uint64_t scale = 1)
{
    __extension__ using Wide = unsigned __int128;
    if (denominator == 0)
        return nullptr;
    Wide above = Wide(numerator) * scale;
    if (above % denominator == 0 && above / denominator <= UINT64_MAX)
        return static_cast<uint64_t>(above / denominator);
    uint64_t common = std::gcd(scale, denominator);
    above = Wide(numerator) * (scale / common);
    return static_cast<double>(above) / static_cast<double>(denominator / common);
}

// Picoseconds as nanoseconds, exact to the picosecond.
inline Json nanoseconds(uint64_t ps)
{
    return quotient(ps, 1000);
}

// One line, no spaces, and never an exception: what is not UTF-8 was refused where it was read.
inline std::string dump(const Json &value, int indent = -1)
{
    return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

} // namespace analysis
