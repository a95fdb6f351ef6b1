// dmusim run: one simulation for each scenario, a report for people or JSON.
#include "analysis/cli/commands/commands.h"
#include "analysis/cli/errors.h"
#include "analysis/cli/exit_status.h"
#include "analysis/cli/interrupt.h"
#include "analysis/cli/load.h"
#include "analysis/cli/output.h"
#include "analysis/cli/schedules.h"
#include "analysis/cli/simulate.h"
#include "analysis/report_text.h"
#include "model/kstat_report.h"
#include "scenarios/input_error.h"

#include <algorithm>

namespace cli {

namespace {

using analysis::Json;

// What went wrong, for a person who does not see the text report.
void complain(const std::string &name, const Json &report)
{
    for (const Json &line : report.value("ending", Json::array()))
        std::fprintf(stderr, "%s: %s\n", analysis::escaped(name).c_str(),
                     analysis::escaped(line.get<std::string>()).c_str());
    for (const Json &warning : report.value("warnings", Json::array()))
        std::fprintf(stderr, "%s: warning: %s\n", analysis::escaped(name).c_str(),
                     analysis::escaped(warning.get<std::string>()).c_str());
    for (const Json &one : report["expect"])
        if (!one["held"].get<bool>())
            std::fprintf(stderr, "%s: not held: %s = %s\n", analysis::escaped(name).c_str(),
                         analysis::escaped(one["metric"].get<std::string>()).c_str(),
                         analysis::dump(one["value"]).c_str());
}

std::string known_kstats()
{
    std::string names;
    for (const std::string_view name : dmu::kstat_names())
        names += (names.empty() ? "" : ", ") + std::string(name);
    return names;
}

void add_options(po::options_description &options)
{
    auto add = options.add_options();
    add("kstat", po::value<std::vector<std::string>>()->value_name("NAME"),
        "print that kstat's text instead of the report (repeatable): arcstats, dbufs, dbufstats, dmu_tx, "
        "dnodestats, txgs, zfetchstats");
    add("schedules", po::value<Whole>()->value_name("N"),
        "run it under N disturbed schedules instead, and tell every bad end");
    add("shrink", "make the scenario smaller while it still ends as badly");
    add("jobs,j", po::value<Whole>()->value_name("N"),
        "with --schedules: simulations at a time (default: the CPUs of this machine)");
}

int run(const Arguments &arguments)
{
    if (arguments.has("schedules") || arguments.has("shrink"))
        return run_schedules(arguments);
    if (arguments.has("jobs"))
        throw UsageError("run: -j is for --schedules; `sweep` runs several simulations at a time");
    const Common &common = arguments.common;
    std::vector<scenarios::Scenario>
        loaded; // all of them first: a mistake in the last one is told before an hour has gone by
    for (const std::string &name : arguments.words)
        loaded.push_back(load(name, common));

    const std::vector<std::string> kstats = arguments.list("kstat");
    for (const std::string &name : kstats)
        if (std::find(dmu::kstat_names().begin(), dmu::kstat_names().end(), name) == dmu::kstat_names().end())
            throw UsageError("run: --kstat: " + scenarios::in_quotes(name) + " is no kstat; known: " + known_kstats());

    Output output(common.output);
    Output screen{std::string()};
    bool text_file = common.output.ends_with(".txt");
    int status = done;
    for (size_t i = 0; i < loaded.size(); ++i) {
        const std::string &name = arguments.words[i];
        Outcome outcome;
        {
            Progress progress(common.progress);
            outcome = simulate(
                loaded[i],
                [&](const scenarios::Progress &now) {
                    progress.show(name + ": " + analysis::duration_text(now.simulated_ps / 1000) + " simulated, " +
                                  analysis::grouped(now.operations) + " operations");
                    return !interrupt_requested();
                },
                kstats);
        }
        if (outcome.status == interrupted) {
            if (i > 0)
                output.commit();
            throw Interrupted(std::to_string(i) + " of " + std::to_string(loaded.size()) + " scenarios had finished");
        }
        status = graver(status, outcome.status);
        bool shown = !common.json && !common.quiet && kstats.empty();
        if (common.json || (!output.is_stdout() && !text_file))
            output.write(analysis::dump(outcome.report) + "\n");
        else if (text_file)
            output.write(analysis::report_text(outcome.report, {}) + (i + 1 < loaded.size() ? "\n" : ""));
        if (shown && !(text_file && output.is_stdout()))
            screen.write(analysis::report_text(outcome.report, common.style()) + (i + 1 < loaded.size() ? "\n" : ""));
        for (const std::string &kstat : kstats)
            if (!common.json)
                screen.write(outcome.kstats[kstat]);
        if (!shown)
            complain(name, outcome.report);
        loaded[i] = {}; // its memory is not needed any more
    }
    output.commit();
    return status;
}

} // namespace

const Command run_command = {
    "run",
    "[OPTION]... SCENARIO...",
    "Run one simulation for each scenario and print a report for people.",
    "SCENARIO is a file, \"-\" for standard input, or a built-in name (dmusim list scenarios). With --json, one JSON "
    "result\n"
    "a line. With -o FILE the JSON goes there (the report, if FILE ends in .txt) and the report still to standard "
    "output,\n"
    "unless -q or --json. --kstat NAME prints what /proc/spl/kstat/zfs would show when the measured part ends; in JSON "
    "the\n"
    "same numbers are under dbuf, arc and dnode.\n"
    "With --schedules N threads are held up at random moments, in N ways (--set schedule=1 is the first): every bad "
    "end "
    "is told\n"
    "with the number that repeats it alone, every expectation that a schedule does not meet, and every pair of locks "
    "that\n"
    "was taken in both orders. With --shrink "
    "groups, "
    "steps\n"
    "and rounds are taken away as long as the first bad end stays; the smaller scenario is \"shrunk\" in the JSON.\n\n"
    "Examples:\n"
    "  dmusim run object-alloc-legacy\n"
    "  dmusim run object-alloc-legacy --cpus 8 --set code.object_alloc=rescan -o rescan.json\n"
    "  dmusim run alloc-one-txg --set params.objects=65536 --json | jq .counters.dnode_next_offset\n"
    "  dmusim run dbufstats --kstat dbufstats\n"
    "  dmusim run zap-upgrade-deadlock --set params.added=600 --schedules 20 --shrink\n",
    1,
    SIZE_MAX,
    "SCENARIO",
    true,
    add_options,
    run};

} // namespace cli
