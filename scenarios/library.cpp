#include "scenarios/library.h"

#include <algorithm>
#include <filesystem>

namespace scenarios {

namespace fs = std::filesystem;

namespace {

// Beside the installed program, wherever that was put; where the sources are when it runs in its build tree; where it
// was meant to be installed.
fs::path directory()
{
    std::error_code none;
    const fs::path program = fs::read_symlink("/proc/self/exe", none);
    const fs::path beside = program.parent_path() / DMUSIM_LIBRARY_FROM_PROGRAM;
    if (!program.empty() && fs::is_directory(beside, none))
        return beside;
    for (const char *candidate : {DMUSIM_LIBRARY_SOURCE, DMUSIM_LIBRARY_INSTALLED})
        if (fs::is_directory(candidate, none))
            return candidate;
    return {};
}

} // namespace

std::vector<std::string> library_names()
{
    std::vector<std::string> names;
    std::error_code error;
    for (const fs::directory_entry &entry : fs::directory_iterator(directory(), error))
        if (entry.path().extension() == ".json")
            names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

Document open_scenario(const std::string &name)
{
    std::error_code error;
    if (name == "-" || fs::exists(name, error))
        return read_json(name);
    const std::vector<std::string> names = library_names();
    if (std::find(names.begin(), names.end(), name) != names.end())
        return parse_json(name + " (built in)", read_text((directory() / (name + ".json")).string()));
    if (name.find('/') != std::string::npos || name.ends_with(".json"))
        return read_json(name); // says why not
    throw InputError(name, {}, "", "is neither a file nor a built-in scenario: " + unknown("scenario", name, names));
}

Scenario load_scenario(const std::string &name, const std::vector<Override> &overrides)
{
    return read_scenario(open_scenario(name), overrides);
}

} // namespace scenarios
