// Replaying a recorded trace in a test, and tampering with it.
#pragma once

#include "analysis/conform.h"

#include <filesystem>
#include <fstream>
#include <string>

namespace conform_test {

inline analysis::Json trace_of(const std::filesystem::path &path)
{
    std::ifstream stream(path);
    return analysis::Json::parse(stream);
}

// Empty: the trace agrees.
inline std::string verdict(const analysis::Json &trace)
{
    analysis::Comparison comparison(false);
    try {
        analysis::trace_kind(trace).replay(trace, comparison);
    } catch (const analysis::Comparison::Stop &) {
        const analysis::Difference &first = comparison.differences().front();
        return first.step + " " + first.field + ": recorded " + first.recorded + ", got " + first.got;
    } catch (const analysis::BadTrace &bad) {
        return std::string("bad trace: ") + bad.what();
    }
    return {};
}

// Makes the value another one of its kind.
inline void alter(analysis::Json &value)
{
    if (value.is_string())
        value = value.get<std::string>() + "x";
    else if (value.is_boolean())
        value = !value.get<bool>();
    else if (value.is_number_float())
        value = value.get<double>() + 1;
    else if (value.is_number())
        value = value.get<int64_t>() + 1;
    else if (value.empty())
        value.is_array() ? value.push_back(1) : void(value["1"] = 1);
    else
        alter(value.is_array() ? value.back() : value.begin().value());
}

} // namespace conform_test
