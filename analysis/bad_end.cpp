#include "analysis/bad_end.h"

#include "analysis/report_parts.h"

#include <algorithm>

namespace analysis {

namespace {

constexpr std::string_view waits_for = "    waits for ";
constexpr std::string_view waits_on = "    waits on ";
constexpr std::string_view thread = "  thread ";
constexpr std::string_view nowhere = "(outside of any function)";

std::vector<std::string> lines_of(const Json &bad)
{
    std::vector<std::string> lines;
    for (const Json &line : member(bad, "ending"))
        if (line.is_string())
            lines.push_back(line.get<std::string>());
    return lines;
}

// "dnode_slots.cpp:17: the slots..." to "dnode_slots.cpp:17". Empty: the text names no place.
std::string place_of(const Json &bad)
{
    const std::vector<std::string> lines = lines_of(bad);
    return lines.empty() ? "" : lines[0].substr(0, lines[0].find(": "));
}

// The class of a lock, or the reason up to its first comma, without numbers.
std::string thing(std::string text)
{
    for (const char *end : {" of ", ", ", "; ", " as "})
        text = text.substr(0, text.find(end));
    text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }), text.end());
    return text;
}

// "  thread holders-0 in dnode_hold > dnode_hold_impl" to "dnode_hold_impl".
std::string innermost_function(const std::string &line)
{
    const size_t in = line.find(" in ");
    const size_t last = line.rfind(" > ");
    if (in == std::string::npos)
        return std::string(nowhere);
    return line.substr(last == std::string::npos ? in + 4 : last + 3);
}

} // namespace

Json bad_end(const Json &result)
{
    const std::string end = member(result, "end").get<std::string>();
    if (end == "completed" || end == "interrupted")
        return nullptr;
    return {{"end", end}, {"ending", member(result, "ending")}};
}

std::set<std::string> waited_for(const Json &bad)
{
    std::set<std::string> things;
    std::string function;
    for (const std::string &line : lines_of(bad)) {
        if (line.starts_with(thread))
            function = innermost_function(line);
        else if (line.starts_with(waits_for))
            things.insert(thing(line.substr(waits_for.size())));
        else if (line.starts_with(waits_on) && function != nowhere)
            things.insert("condition of " + function);
    }
    return things;
}

bool is_same_mistake(const Json &original, const Json &candidate)
{
    if (original.is_null() || candidate.is_null() || member(original, "end") != member(candidate, "end"))
        return false;
    if (member(original, "end") == "invariant")
        return place_of(original) == place_of(candidate);
    const std::set<std::string> before = waited_for(original), after = waited_for(candidate);
    return before.empty() == after.empty() && std::includes(before.begin(), before.end(), after.begin(), after.end());
}

} // namespace analysis
