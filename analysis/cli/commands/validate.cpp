// dmusim validate: schema and semantics of scenarios; nothing is run.
#include "analysis/cli/commands/commands.h"
#include "analysis/cli/exit_status.h"
#include "analysis/cli/load.h"
#include "analysis/cli/output.h"

namespace cli {

namespace {

using analysis::Json;

int run(const Arguments &arguments)
{
    const Common &common = arguments.common;
    Output output(common.output);
    int status = done;
    for (const std::string &name : arguments.words) {
        Json verdict = {{"scenario", name}, {"valid", true}};
        try {
            scenarios::Scenario scenario = load(name, common);
            uint64_t threads = 0;
            for (const scenarios::Group &group : scenario.workload)
                threads += group.threads;
            verdict["threads"] = threads;
            verdict["cpus"] = scenario.machine.cpus;
        } catch (const scenarios::InputError &error) {
            status = bad_input;
            verdict["valid"] = false;
            verdict["error"] = error.what();
            std::fprintf(stderr, "%s\n", error.what());
        }
        if (common.json)
            output.write(analysis::dump(verdict) + "\n");
        else if (verdict["valid"].get<bool>() && !common.quiet)
            output.write(analysis::escaped(name) + ": valid, " + verdict["threads"].dump() + " threads on " +
                         verdict["cpus"].dump() + " CPUs\n");
    }
    output.commit();
    return status;
}

} // namespace

const Command validate_command = {
    "validate",
    "[OPTION]... SCENARIO...",
    "Check scenarios, and the --set options with them; run nothing.",
    "Each mistake is told as file:line:column: path: what is wrong, what is allowed. Exit status 2 where there is "
    "one.\n\n"
    "Examples:\n"
    "  dmusim validate my-storm.json\n"
    "  dmusim validate alloc-one-txg --set params.objects=1000000 --set machine.cpus=64\n",
    1,
    SIZE_MAX,
    "SCENARIO",
    true,
    nullptr,
    run};

} // namespace cli
