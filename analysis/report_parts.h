// What the reports for the terminal and the page have in common.
//
// A stored result is read as one where parts may be missing: another version, or a file somebody has edited.
#pragma once

#include "analysis/text.h"

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

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

// Of a scenario, which may have none.
inline std::string name_text(const Json &name)
{
    return name == "" || name.is_null() ? "a scenario without a name" : shown(name);
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

// "os_obj_lock held in dmu_object_alloc, who waited for db_mtx held in dbuf_hold_impl"
inline std::string chain_text(const Json &chain)
{
    std::string text;
    for (const Json &link : member(chain, "chain"))
        text += (text.empty() ? "" : ", who waited for ") + shown(member(link, "lock")) + " held in " +
                shown(member(link, "held_by"));
    return text;
}

// The table of operations: how many, how fast, how long.
inline std::vector<Table::Column> throughput_columns()
{
    return {{"operation", Table::left}, {"count"}, {"per second"}, {"p50"}, {"p90"}, {"p99"}, {"max"},
            {"errors", Table::left}};
}

// A row of it: an entry of the result's "ops".
inline std::vector<std::string> throughput_cells(const std::string &name, const Json &op)
{
    const Json &latency = member(op, "latency_ns");
    std::string errors;
    for (const auto &[error, count] : member(op, "errors").items())
        errors += (errors.empty() ? "" : ", ") + escaped(error) + " " + number_text(count);
    return {escaped(name),
            number_text(member(op, "count")),
            number_text(member(op, "per_s")),
            duration_text(member(latency, "p50")),
            duration_text(member(latency, "p90")),
            duration_text(member(latency, "p99")),
            duration_text(member(latency, "max")),
            errors};
}

} // namespace analysis
