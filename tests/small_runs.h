// Every built-in scenario at a size that runs in a moment: what the golden, determinism and compiler tests run.
//
// tests/golden/sizes.json holds, for each scenario, the overrides that make it small. Expectations are left out, since
// they speak of the full size.
#pragma once

#include "analysis/report_json.h"
#include "scenarios/library.h"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

inline std::string read_whole(const std::string &path)
{
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

inline analysis::Json small_sizes()
{
    return analysis::Json::parse(read_whole(DMUSIM_SOURCE_ROOT "/tests/golden/sizes.json"));
}

inline scenarios::RunResult small_run(const std::string &name, const analysis::Json &overrides,
                                      const scenarios::RunOptions &options = {})
{
    if (!overrides.is_object())
        throw std::runtime_error(name + " has no line in tests/golden/sizes.json that makes it small");
    std::vector<scenarios::Override> list = {{"expect", "[]", "golden"}};
    for (const auto &[path, value] : overrides.items())
        list.push_back({path, value.dump(), "golden"});
    return scenarios::run(scenarios::load_scenario(name, list), options);
}
