// Reading a stored result where parts may be missing: another version, or a file somebody has edited.
#pragma once

#include "analysis/text.h"

#include <cmath>
#include <string>
#include <string_view>

namespace analysis {

// The member of an object; null where there is none.
inline const Json &member(const Json &object, std::string_view key)
{
    static const Json nothing;
    auto found = object.is_object() ? object.find(std::string(key)) : object.end();
    return found == object.end() ? nothing : *found;
}

inline double number_of(const Json &value)
{
    return value.is_number() ? value.get<double>() : 0;
}

// A name or a value as plain text that is safe everywhere.
inline std::string shown(const Json &value)
{
    return value.is_string() ? escaped(value.get<std::string>()) : escaped(dump(value));
}

inline std::string average_text(const Json &total, const Json &count)
{
    return number_of(count) == 0 ? "-" : duration_text(number_of(total) / number_of(count));
}

// "machine.cpus = 8, code.object_alloc = rescan"
inline std::string point_text(const Json &point)
{
    std::string text;
    for (const auto &[path, value] : point.items())
        text += (text.empty() ? "" : ", ") + escaped(path) + " = " + shown(value);
    return text;
}

} // namespace analysis
