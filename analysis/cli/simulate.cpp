#include "analysis/cli/simulate.h"

#include "analysis/cli/exit_status.h"
#include "analysis/expectation.h"
#include "analysis/report_json.h"

namespace cli {

Outcome simulate(const scenarios::Scenario &scenario, const std::function<bool(const scenarios::Progress &)> &progress,
                 const std::vector<std::string> &kstats)
{
    scenarios::RunOptions options;
    options.progress = progress;
    options.kstats = kstats;
    scenarios::RunResult result = scenarios::run(scenario, options);
    if (result.end == scenarios::End::interrupted)
        return {nullptr, interrupted, {}};
    Outcome outcome{analysis::report_json(result), exit_status(result.end), std::move(result.kstat_texts)};
    if (!analysis::all_held(outcome.report["expect"]))
        outcome.status = graver(outcome.status, not_held);
    return outcome;
}

} // namespace cli
