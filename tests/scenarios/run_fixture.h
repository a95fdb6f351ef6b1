// A scenario from text, run.
#pragma once

#include "scenarios/library.h"
#include "scenarios/run.h"

#include <string>
#include <vector>

namespace scenarios_test {

inline scenarios::RunResult run_text(const std::string &text, const std::vector<std::string> &sets = {})
{
    std::vector<scenarios::Override> overrides;
    for (const std::string &set : sets)
        overrides.push_back(scenarios::parse_override(set));
    return scenarios::run(scenarios::read_scenario(scenarios::parse_json("test", text), overrides));
}

// One group of threads with these steps.
inline scenarios::RunResult run_steps(const std::string &steps, unsigned threads = 1,
                                      const std::vector<std::string> &sets = {})
{
    return run_text(R"({"name": "t", "record": ["objects", "txgs"], "workload": [{"name": "g", "threads": )" +
                        std::to_string(threads) + R"(, "steps": [)" + steps + "]}]}",
                    sets);
}

inline uint64_t count(const scenarios::RunResult &result, const std::string &op)
{
    for (const scenarios::OpResult &one : result.ops)
        if (one.name == op)
            return one.count;
    return 0;
}

inline uint64_t errors(const scenarios::RunResult &result, const std::string &op, const std::string &error)
{
    for (const scenarios::OpResult &one : result.ops)
        if (one.name == op && one.errors.contains(error))
            return one.errors.at(error);
    return 0;
}

inline std::string rows(const scenarios::RunResult &result, const std::string &histogram)
{
    std::string text;
    for (const scenarios::HistogramResult &one : result.histograms)
        if (one.name == histogram)
            for (const scenarios::HistogramRow &row : one.rows)
                text += (text.empty() ? "" : " ") + std::to_string(row.bucket) + ":" + std::to_string(row.count);
    return text;
}

inline std::string objects(const scenarios::RunResult &result)
{
    std::string text;
    for (const scenarios::ObjectRun &run : result.allocator.objects)
        text += (text.empty() ? "" : " ") + std::to_string(run.first) + ".." + std::to_string(run.last) + "/" +
                std::to_string(run.stride);
    return text;
}

} // namespace scenarios_test
