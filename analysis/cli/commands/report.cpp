// dmusim report: what a reviewer reads, as one HTML file or as Markdown.
#include "analysis/cli/commands/commands.h"
#include "analysis/cli/errors.h"
#include "analysis/cli/exit_status.h"
#include "analysis/cli/output.h"
#include "analysis/page_files.h"
#include "analysis/report_model.h"
#include "analysis/stored_result.h"

namespace cli {

namespace {

void add_options(po::options_description &options)
{
    auto add = options.add_options();
    add("markdown", "for a pull request: verdict, words and tables");
    add("line", po::value<Whole>()->value_name("N"),
        "which line of the last sweep is shown in detail, from 1 (default the last)");
}

int run(const Arguments &arguments)
{
    bool markdown = arguments.has("markdown");
    if (arguments.common.json)
        throw UsageError("report: --json is the result itself; a report is HTML or --markdown");
    if (!markdown && !analysis::page_files().complete)
        throw UsageError(
            "report: this program was built without the charting library of the page; --markdown works without it. "
            "To get it: install npm, then `meson setup --reconfigure -Dreport_assets=enabled` in the build folder, and "
            "build again");
    std::vector<std::vector<analysis::Json>> inputs;
    for (const std::string &word : arguments.words) {
        inputs.push_back(analysis::read_results(word));
        if (inputs.back().empty())
            throw UsageError("report: " + analysis::escaped(word) + " holds no result");
    }
    uint64_t line = arguments.whole("line", inputs.back().size());
    if (line == 0 || line > inputs.back().size())
        throw UsageError("report: --line: a number from 1 to " + std::to_string(inputs.back().size()) + " is wanted");
    Output output(arguments.common.output);
    analysis::Report report = analysis::make_report(inputs, {static_cast<size_t>(line)});
    output.write(markdown ? analysis::report_markdown(report) : analysis::report_html(report));
    output.commit();
    return done;
}

} // namespace

const Command report_command = {
    "report",
    "[OPTION]... RESULT... -o FILE.html",
    "Write a self-contained page: what contends, why, how it scales, what a change did.",
    "RESULT is what `run --json`, `run -o` or `sweep` wrote (\"-\": standard input). One file is a run, or a sweep "
    "with its\n"
    "curves; two files are before and after; a sweep over two values of a code choice is both. The page opens from "
    "disk,\n"
    "asks the network for nothing, follows light and dark, prints on A4, and has a table under every chart.\n\n"
    "Examples:\n"
    "  dmusim run object-alloc-legacy -q -o before.json\n"
    "  dmusim report before.json -o before.html\n"
    "  dmusim report before.json after.json --markdown\n"
    "  dmusim sweep create-one-directory --vary machine.cpus=1,2,4,8,16 -o cpus.jsonl && dmusim report cpus.jsonl -o "
    "cpus.html\n",
    1,
    64,
    "result",
    false,
    add_options,
    run};

} // namespace cli
