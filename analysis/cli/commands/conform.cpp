// dmusim conform: replay recorded traces of the real library and compare everything that was recorded.
#include "analysis/conform.h"
#include "analysis/cli/commands/commands.h"
#include "analysis/cli/errors.h"
#include "analysis/cli/exit_status.h"
#include "analysis/cli/interrupt.h"
#include "analysis/cli/output.h"
#include "scenarios/strict_json.h"

#include <filesystem>
#include <nlohmann/json.hpp>

namespace cli {

namespace {

using analysis::Json;

void add_options(po::options_description &options)
{
    options.add_options()("keep-going", "report every difference instead of ending at the first one of each file");
}

Json replay(const std::string &file, bool keep_going)
{
    scenarios::Document document = scenarios::read_json(file);
    analysis::Comparison comparison(keep_going, std::filesystem::path(file).stem().string());
    Json report = {{"file", file}};
    try {
        analysis::trace_kind(document.root).replay(document.root, comparison);
    } catch (const analysis::BadTrace &error) {
        throw document.error(error.path, error.problem);
    } catch (const nlohmann::json::exception &error) {
        // A value of the wrong type where the replayer looked for what to do next.
        throw document.error("", std::string("not a trace of its kind: ") + error.what());
    } catch (const analysis::Comparison::Stop &) {
    }
    report["agrees"] = comparison.differences().empty();
    report["steps"] = comparison.steps();
    report["compared"] = comparison.compared();
    Json differences = Json::array();
    for (const analysis::Difference &difference : comparison.differences())
        differences.push_back({{"step", difference.step},
                               {"field", difference.field},
                               {"recorded", difference.recorded},
                               {"got", difference.got}});
    report["differences"] = std::move(differences);
    report["notes"] = comparison.notes();
    return report;
}

std::string text(const Json &report, const analysis::Style &style)
{
    bool agrees = report["agrees"].get<bool>();
    std::string out = analysis::escaped(report["file"].get<std::string>()) + ": " +
                      (agrees ? style.good("agrees") : style.bad("DIFFERS")) + ", " +
                      analysis::grouped(report["steps"].get<uint64_t>()) + " steps, " +
                      analysis::grouped(report["compared"].get<uint64_t>()) + " values compared\n";
    for (const Json &difference : report["differences"]) {
        out += "  " + analysis::escaped(difference["step"].get<std::string>()) + ", " +
               analysis::escaped(difference["field"].get<std::string>()) + "\n";
        out += "    recorded " + analysis::escaped(difference["recorded"].get<std::string>()) + "\n";
        out += "    got      " + analysis::escaped(difference["got"].get<std::string>()) + "\n";
    }
    for (const Json &note : report["notes"])
        out += "  note: " + analysis::escaped(note.get<std::string>()) + "\n";
    return out;
}

int run(const Arguments &arguments)
{
    const Common &common = arguments.common;
    Output output(common.output);
    Progress progress(common.progress);
    int status = done;
    size_t finished = 0, agreed = 0;
    auto show = [&](const std::string &product) {
        if (!common.quiet || common.json || !output.is_stdout())
            output.write(product);
    };
    for (const std::string &file : arguments.words) {
        progress.show_count(finished, arguments.words.size(), "traces, now " + file);
        try {
            Json report = replay(file, arguments.has("keep-going"));
            bool agrees = report["agrees"].get<bool>();
            agreed += agrees;
            status = graver(status, agrees ? done : not_held);
            show(common.json ? analysis::dump(report) + "\n" : text(report, common.style()));
        } catch (const scenarios::InputError &error) {
            std::fprintf(stderr, "%s\n", error.what());
            status = graver(status, bad_input);
        }
        ++finished;
        if (interrupt_requested()) {
            output.commit();
            throw Interrupted(std::to_string(finished) + " of " + std::to_string(arguments.words.size()) +
                              " traces were compared");
        }
    }
    if (!common.json && arguments.words.size() > 1)
        show(std::to_string(agreed) + " of " + std::to_string(arguments.words.size()) + " traces agree\n");
    output.commit();
    return status;
}

} // namespace

const Command conform_command = {
    "conform",
    "[OPTION]... FILE...",
    "Replay recorded traces of the real library and compare everything but times.",
    "Each FILE is one recorded trace (\"-\": standard input). The model is asked what the real library was asked, and\n"
    "every recorded answer is compared: objects, histograms, counters, searches, allocator state, fill counts. The "
    "first\n"
    "difference is told by step, field, recorded value and the model's value. Exit status 3 where a trace differs.\n\n"
    "Examples:\n"
    "  dmusim conform traces/legacy/*.json\n"
    "  dmusim conform --keep-going --json traces/rescan/w06.json\n",
    1,
    SIZE_MAX,
    "FILE",
    false,
    add_options,
    run};

} // namespace cli
