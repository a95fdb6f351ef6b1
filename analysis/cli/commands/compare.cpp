// dmusim compare: two results or two sweeps, before and after.
#include "analysis/compare.h"

#include "analysis/cli/commands/commands.h"
#include "analysis/cli/errors.h"
#include "analysis/cli/exit_status.h"
#include "analysis/cli/output.h"
#include "analysis/stored_result.h"

#include <stdexcept>

namespace cli {

namespace {

using analysis::Json;

void add_options(po::options_description &options)
{
    auto add = options.add_options();
    add("fail-if", po::value<std::vector<std::string>>()->composing()->value_name("CONDITION"),
        "exit with 3 where it holds: 'METRIC>5%' or 'METRIC<-5%' (change), 'METRIC>100' (value afterwards); "
        "repeatable");
    add("markdown", "tables for a pull request");
}

int run(const Arguments &arguments)
{
    const Common &common = arguments.common;
    if (common.json && arguments.has("markdown"))
        throw UsageError("compare: --json and --markdown exclude each other");
    std::vector<analysis::Guard> guards;
    try {
        for (const std::string &text : arguments.list("fail-if"))
            guards.push_back(analysis::parse_guard(text));
    } catch (const std::invalid_argument &error) {
        throw UsageError(std::string("compare: --fail-if: ") + error.what());
    }
    std::vector<Json> before = analysis::read_results(arguments.words[0]);
    std::vector<Json> after = analysis::read_results(arguments.words[1]);
    Output output(common.output);
    Json comparison = analysis::compare_results(before, after);
    int status = done;
    Json strikes = Json::array();
    for (const analysis::Guard &guard : guards)
        for (const std::string &strike : analysis::guard_strikes(guard, before, after)) {
            status = not_held;
            strikes.push_back(strike);
            std::fprintf(stderr, "dmusim: compare: %s\n", strike.c_str());
        }
    comparison["failed"] = std::move(strikes);
    if (common.json)
        output.write(analysis::dump(comparison) + "\n");
    else if (arguments.has("markdown"))
        output.write(analysis::compare_markdown(comparison));
    else if (!common.quiet || !output.is_stdout())
        output.write(analysis::compare_text(comparison, output.is_stdout() ? common.style() : analysis::Style{}));
    output.commit();
    return status;
}

} // namespace

const Command compare_command = {
    "compare",
    "[OPTION]... BEFORE AFTER",
    "Compare two results, or two sweeps point by point: what changed and by how much.",
    "BEFORE and AFTER are what `run --json`, `run -o` or `sweep` wrote (\"-\": standard input). Inputs that differ "
    "come first,\n"
    "then throughput, latency, CPU by function, waiting by lock, counters and histograms, by size of effect; what "
    "grows with\n"
    "the length of a run is given per operation. Runs that differ in the seed alone are one point with a spread.\n\n"
    "Examples:\n"
    "  dmusim run object-alloc-legacy -q -o before.json\n"
    "  dmusim run object-alloc-legacy -q --set code.object_alloc=rescan -o after.json\n"
    "  dmusim compare before.json after.json\n"
    "  dmusim compare --markdown --fail-if 'ops.alloc.per_s<-5%' before.json after.json\n",
    2,
    2,
    "result",
    false,
    add_options,
    run};

} // namespace cli
