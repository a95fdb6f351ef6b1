#include "analysis/cli/load.h"

#include "analysis/metric.h"

namespace cli {

scenarios::Scenario load(const std::string &name, const Common &common, const analysis::Json &varied)
{
    std::vector<scenarios::Override> overrides;
    for (const std::string &argument : common.sets)
        overrides.push_back(scenarios::parse_override(argument));
    if (common.seed)
        overrides.push_back({"seed", std::to_string(*common.seed), "--seed"});
    if (common.cpus)
        overrides.push_back({"machine.cpus", std::to_string(*common.cpus), "--cpus"});
    for (const auto &[path, value] : varied.items())
        overrides.push_back({path, analysis::dump(value), "--vary " + path});
    scenarios::Scenario scenario = scenarios::load_scenario(name, overrides);
    for (size_t i = 0; i < scenario.expect.size(); ++i) {
        std::string problem = analysis::metric_problem(scenario.expect[i].value("metric", ""));
        if (!problem.empty())
            throw scenarios::InputError(name, {}, "expect." + std::to_string(i) + ".metric", problem);
    }
    return scenario;
}

} // namespace cli
