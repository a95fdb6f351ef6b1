// dmusim calibrate: fits a machine profile to measured figures, and says how well and how surely.
//
// Each run is one scenario under one set of values. Its result is kept, by the hash of the scenario in effect, in a
// journal beside the profile, so an interrupted calibration goes on where it was, and another one over the same targets
// need not repeat what is known.
#include "analysis/calibration_report.h"
#include "analysis/cli/commands/commands.h"
#include "analysis/cli/errors.h"
#include "analysis/cli/exit_status.h"
#include "analysis/cli/interrupt.h"
#include "analysis/cli/journal.h"
#include "analysis/cli/load.h"
#include "analysis/cli/output.h"
#include "analysis/cli/simulate.h"
#include "analysis/cli/workers.h"
#include "analysis/metric.h"
#include "analysis/version.h"
#include "scenarios/input_error.h"

#include <map>
#include <memory>
#include <thread>

namespace cli {

namespace {

using analysis::CalibrationFigures;
using analysis::CalibrationFile;
using analysis::CalibrationPoint;
using analysis::Json;

constexpr uint64_t workers_max = 1024;

void add_options(po::options_description &options)
{
    auto add = options.add_options();
    add("jobs,j", po::value<Whole>()->value_name("N"), "simulations at a time (default: the CPUs of this machine)");
    add("runs", po::value<std::string>()->value_name("FILE"),
        "keep what the runs gave in FILE, for this and later calibrations (default: beside -o FILE, while it lasts)");
    add("no-leave-one-out", "do not fit again without each of the targets");
}

// FNV-1a over the scenario in effect: a run's name in the journal.
uint64_t hash_of(const std::string &text)
{
    uint64_t hash = 14695981039346656037u;
    for (unsigned char c : text)
        hash = (hash ^ c) * 1099511628211u;
    return hash;
}

class Calibration {
public:
    explicit Calibration(const Arguments &arguments)
        : arguments_(arguments), file_name_(arguments.words[0]), file_(analysis::read_calibration(file_name_)),
          progress_(arguments.common.progress)
    {
        workers_ = arguments.whole("jobs", std::max(1u, std::thread::hardware_concurrency()));
        if (workers_ == 0 || workers_ > workers_max)
            throw UsageError("calibrate: -j: a number from 1 to " + std::to_string(workers_max) + " is wanted");
        const std::vector<analysis::CalibrationParameter> parameters = file_.parameters();
        CalibrationPoint start;
        for (const analysis::CalibrationParameter &parameter : parameters)
            start.push_back(parameter.start);
        for (size_t i = 0; i < file_.targets.size(); ++i) // a mistake in any of them is told before the first one runs
            effective(i, start);
    }

    int run()
    {
        Output output(arguments_.common.output); // a path that cannot be written is told now
        std::string journal_path;
        if (arguments_.has("runs"))
            journal_path = arguments_.options["runs"].as<std::string>();
        else if (output.is_regular())
            journal_path = arguments_.common.output + ".journal";
        if (!journal_path.empty())
            journal_ = std::make_unique<Journal>(journal_path, std::string("dmusim-calibrate ") + analysis::version,
                                                 "calibration");

        analysis::CalibrationOptions options;
        options.trials = file_.trials;
        options.rounds = file_.rounds;
        options.leave_one_out = !arguments_.has("no-leave-one-out");
        const analysis::CalibrationResult result =
            analysis::calibrate(file_.parameters(), file_.figures(), options,
                                [this](const std::vector<CalibrationPoint> &points) { return evaluate(points); });
        const Json report = analysis::calibration_json(file_, result);
        const bool profile_to_file = !output.is_stdout();
        if (profile_to_file) {
            output.write(analysis::dump(analysis::fitted_profile(file_, result), 2) + "\n");
            output.commit();
        }
        Output told{std::string()};
        if (arguments_.common.json)
            told.write(analysis::dump(report) + "\n");
        else if (!arguments_.common.quiet)
            told.write(analysis::calibration_text(report, arguments_.common.style()));
        if (journal_ != nullptr && !arguments_.has("runs"))
            journal_->remove();
        return done;
    }

private:
    struct Run {
        size_t target; // one of those it serves
        CalibrationPoint point;
        uint64_t hash;
    };

    scenarios::Scenario effective(size_t target, const CalibrationPoint &point) const
    {
        const CalibrationFile::Target &wanted = file_.targets[target];
        Json set = {{"machine.profile", file_.profile}};
        for (const auto &[path, value] : wanted.set.items())
            set[path] = value;
        for (const std::string &argument : arguments_.common.sets)
            set.erase(scenarios::parse_override(argument).path); // the command line has the last word over the file
        for (size_t i = 0; i < point.size(); ++i) {
            const sim::MachineParameter &parameter = *file_.free[i].parameter;
            set["machine." + std::string(parameter.name)] = scenarios::machine_parameter_json(parameter, point[i]);
        }
        return load(wanted.scenario, arguments_.common, set);
    }

    std::vector<CalibrationFigures> evaluate(const std::vector<CalibrationPoint> &points)
    {
        std::vector<Run> runs;
        std::vector<size_t> missing;
        std::vector<std::vector<uint64_t>> hashes; // by point, then target
        for (const CalibrationPoint &point : points) {
            hashes.emplace_back();
            for (size_t target = 0; target < file_.targets.size(); ++target) {
                const uint64_t hash = hash_of(analysis::dump(scenarios::scenario_json(effective(target, point))));
                hashes.back().push_back(hash);
                bool known = results_.count(hash) > 0;
                if (!known && journal_ != nullptr && journal_->has(hash)) {
                    results_[hash] = Json::parse(journal_->read(hash).text, nullptr, false);
                    known = results_[hash].is_object();
                }
                for (const Run &run : runs)
                    known = known || run.hash == hash;
                if (!known) {
                    missing.push_back(runs.size());
                    runs.push_back({target, point, hash});
                }
            }
        }
        const bool whole = Workers(workers_).run(
            missing, Workers::Order::of_finishing,
            [&](size_t index, std::string &text) { return run_one(runs[index], text); },
            [&](JobResult &&result) { take(runs[result.index], std::move(result)); },
            [&](size_t finished) {
                progress_.show("calibrate: point " + std::to_string(points_done_ + 1) + " and on, run " +
                               std::to_string(finished) + "/" + std::to_string(missing.size()));
            });
        if (!whole)
            throw Interrupted(journal_ != nullptr ? std::to_string(journal_->size()) + " runs are kept"
                                                  : "nothing is kept");
        points_done_ += points.size();

        std::vector<CalibrationFigures> figures;
        for (size_t i = 0; i < points.size(); ++i) {
            figures.emplace_back();
            for (size_t target = 0; target < file_.targets.size(); ++target)
                figures.back().push_back(figure(target, results_.at(hashes[i][target])));
        }
        return figures;
    }

    // What the targets need of a run, and no more.
    int run_one(const Run &run, std::string &text) const
    {
        Outcome outcome = simulate(effective(run.target, run.point), [](const scenarios::Progress &) { return true; });
        if (outcome.report.is_object()) {
            outcome.report.erase("scenario");
            outcome.report["cpu"].erase("call_tree");
            for (Json &lock : outcome.report["locks"])
                for (const char *list : {"waiters", "holders", "hottest"})
                    lock.erase(list);
        }
        text = analysis::dump(outcome.report);
        return outcome.status;
    }

    void take(const Run &run, JobResult &&result)
    {
        const std::string &name = file_.targets[run.target].name;
        if (!result.fault.empty() || (result.status != done && result.status != not_held))
            throw HostError("calibrate: the run of " + scenarios::in_quotes(name) + " with " + values(run.point) +
                            (result.fault.empty() ? " ended with status " + std::to_string(result.status)
                                                  : " was " + result.fault));
        results_[run.hash] = Json::parse(result.output, nullptr, false);
        if (journal_ != nullptr)
            journal_->append(run.hash, {result.status, std::move(result.output)});
    }

    std::string values(const CalibrationPoint &point) const
    {
        std::string text;
        for (size_t i = 0; i < point.size(); ++i)
            text += (i > 0 ? ", " : "") + std::string(file_.free[i].parameter->name) + " " +
                    analysis::dump(scenarios::machine_parameter_json(*file_.free[i].parameter, point[i]));
        return text;
    }

    double figure(size_t target, const Json &result) const
    {
        const CalibrationFile::Target &wanted = file_.targets[target];
        const analysis::MetricValue value = analysis::metric_value(result, wanted.metric);
        const std::string place = file_name_ + ": targets." + std::to_string(target) + ".metric";
        if (!value.value.is_number())
            throw scenarios::InputError(file_name_, {}, "targets." + std::to_string(target) + ".metric", value.problem);
        const double number = value.value.get<double>();
        if (!(number > 0))
            throw scenarios::InputError(file_name_, {}, "targets." + std::to_string(target) + ".metric",
                                        "is " + analysis::dump(value.value) +
                                            " in a run; a figure that is fitted must be above 0");
        return number;
    }

    const Arguments &arguments_;
    std::string file_name_;
    CalibrationFile file_;
    uint64_t workers_ = 1;
    std::unique_ptr<Journal> journal_;
    std::map<uint64_t, Json> results_;
    size_t points_done_ = 0;
    Progress progress_;
};

int run(const Arguments &arguments)
{
    return Calibration(arguments).run();
}

} // namespace

const Command calibrate_command = {
    "calibrate",
    "[OPTION]... TARGETS.json",
    "Fit a machine profile to measured figures.",
    "TARGETS.json names a profile to start from, up to twelve of its parameters with the range that is plausible for\n"
    "each, and the targets: a scenario, overrides, a metric, the figure that was measured, a weight "
    "(analysis/README.md).\n"
    "A search without slopes comes first (\"trials\"), then Levenberg-Marquardt on logarithms (\"rounds\").\n\n"
    "The report says how far each target is off, what each parameter does to it, which target pins which parameter, "
    "and\n"
    "what the other targets predict for it. The fitted profile goes to -o FILE, whole or not at all; a scenario's\n"
    "machine.profile may name it.\n\n"
    "What has been run is kept in FILE.journal until FILE is there, or in --runs FILE for good: an interrupted\n"
    "calibration goes on with the same command, and comes to the same bytes at any -j.\n\n"
    "Examples:\n"
    "  dmusim calibrate analysis/targets/vm-2016.json -o vm-2016.json\n"
    "  dmusim run create-one-directory --set machine.profile=vm-2016.json\n",
    1,
    1,
    "TARGETS.json",
    true,
    add_options,
    run};

} // namespace cli
