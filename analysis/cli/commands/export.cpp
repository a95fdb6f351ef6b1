// dmusim export: a stored result for other people's viewers.
#include "analysis/export.h"

#include "analysis/cli/commands/commands.h"
#include "analysis/cli/errors.h"
#include "analysis/cli/exit_status.h"
#include "analysis/cli/output.h"
#include "analysis/stored_result.h"
#include "scenarios/input_error.h"

namespace cli {

namespace {

void add_options(po::options_description &options)
{
    auto add = options.add_options();
    add("as", po::value<std::string>()->value_name("FORMAT"), "the form, see below");
    add("line", po::value<Whole>()->value_name("N"), "which line of a sweep, from 1 (default 1)");
}

int run(const Arguments &arguments)
{
    std::vector<std::string> names;
    const analysis::ExportForm *chosen = nullptr;
    if (!arguments.has("as"))
        throw UsageError("export: --as FORMAT is missing");
    std::string wanted = arguments.options["as"].as<std::string>();
    for (const analysis::ExportForm &form : analysis::export_forms()) {
        names.emplace_back(form.name);
        if (wanted == form.name)
            chosen = &form;
    }
    if (chosen == nullptr)
        throw UsageError("export: --as: " + scenarios::unknown("format", wanted, names));
    std::vector<analysis::Json> results = analysis::read_results(arguments.words[0]);
    uint64_t line = arguments.whole("line", 1);
    if (line == 0 || line > results.size())
        throw UsageError("export: --line: a number from 1 to " + std::to_string(results.size()) + " is wanted");
    Output output(arguments.common.output);
    output.write(chosen->write(results[line - 1]));
    output.commit();
    return done;
}

} // namespace

const Command export_command = {
    "export",
    "[OPTION]... RESULT --as FORMAT",
    "Write a stored result in the form of another tool.",
    "RESULT is what `run --json`, `run -o` or `sweep` wrote (\"-\": standard input).\n\n"
    "  folded       stacks with their own CPU nanoseconds, for flame graphs\n"
    "  folded-wait  stacks with the nanoseconds they waited\n"
    "  speedscope   both, for speedscope\n"
    "  trace-event  txgs over time and the call tree, for Perfetto and chrome://tracing\n"
    "  pprof        both, for go tool pprof\n"
    "  openmetrics  counters, rates, latencies, locks, histograms\n"
    "  csv          every number of the result: metric,value\n"
    "  kstat        statistics as kstat text\n"
    "  lockstat     lock waits as lockstat prints them, with callers and holders\n\n"
    "Examples:\n"
    "  dmusim run object-alloc-legacy --json | dmusim export - --as folded | flamegraph.pl > legacy.svg\n"
    "  dmusim export before.json --as speedscope -o before.speedscope.json\n",
    1,
    1,
    "result",
    false,
    add_options,
    run};

} // namespace cli
