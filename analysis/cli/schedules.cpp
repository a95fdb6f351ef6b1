#include "analysis/cli/schedules.h"

#include "analysis/cli/errors.h"
#include "analysis/cli/exit_status.h"
#include "analysis/cli/load.h"
#include "analysis/cli/output.h"
#include "analysis/cli/simulate.h"
#include "analysis/cli/workers.h"
#include "analysis/report_parts.h"
#include "analysis/shrink.h"
#include "scenarios/input_error.h"

#include <set>
#include <thread>

namespace cli {

namespace {

using analysis::Json;
using analysis::member;

constexpr char schedules_format[] = "dmusim-schedules-1";
constexpr uint64_t schedules_max = 1'000'000, workers_max = 1024;
constexpr size_t bad_shown = 10; // with their endings, on a screen
// While a scenario is made smaller: schedules tried for each candidate, and candidates.
constexpr uint64_t schedules_per_candidate = 40, candidates_max = 3000;

// A bad end, as the workers tell it: null for a good one.
Json bad_end(const Json &result)
{
    const std::string end = member(result, "end").get<std::string>();
    if (end == "completed" || end == "interrupted")
        return nullptr;
    return {{"end", end}, {"ending", member(result, "ending")}};
}

class Schedules {
public:
    explicit Schedules(const Arguments &arguments) : arguments_(arguments), common_(arguments.common) {}

    int run()
    {
        count_ = arguments_.whole("schedules", 0);
        if (arguments_.has("schedules") && (count_ == 0 || count_ > schedules_max))
            throw UsageError("run: --schedules: a number from 1 to " + std::to_string(schedules_max) + " is wanted");
        workers_ = arguments_.whole("jobs", std::max(1u, std::thread::hardware_concurrency()));
        if (workers_ == 0 || workers_ > workers_max)
            throw UsageError("run: -j: a number from 1 to " + std::to_string(workers_max) + " is wanted");
        if (arguments_.words.size() != 1)
            throw UsageError("run: --schedules and --shrink take one scenario");
        scenario_ = load(arguments_.words[0], common_);
        if (!scenario_.records("lock_order"))
            scenario_.record.emplace_back("lock_order");
        Output output(common_.output);
        Output screen{std::string()};

        // Without --schedules, the scenario's own.
        std::vector<uint64_t> schedules;
        if (count_ == 0)
            schedules.push_back(scenario_.schedule);
        for (uint64_t i = 1; i <= count_; ++i)
            schedules.push_back(i);
        try_schedules(schedules);

        Json report = {{"format", schedules_format},
                       {"scenario", scenario_.name},
                       {"schedules", schedules.size()},
                       {"bad", bad_},
                       {"warnings", warnings_}};
        if (arguments_.has("shrink") && !bad_.empty())
            add_smaller(report);
        if (common_.json || !output.is_stdout())
            output.write(analysis::dump(report) + "\n");
        if (!common_.json && !common_.quiet)
            screen.write(text(report));
        output.commit();
        return status_;
    }

private:
    scenarios::Scenario under(uint64_t schedule) const
    {
        scenarios::Scenario scenario = scenario_;
        scenario.schedule = schedule;
        return scenario;
    }

    void try_schedules(const std::vector<uint64_t> &schedules)
    {
        std::vector<size_t> numbers;
        for (size_t i = 0; i < schedules.size(); ++i)
            numbers.push_back(i);
        Progress progress(common_.progress);
        const bool whole = Workers(workers_).run(
            numbers, Workers::Order::of_numbers,
            [&](size_t index, std::string &text) {
                const Outcome outcome = simulate(under(schedules[index]), nullptr);
                text = analysis::dump(
                    {{"bad", bad_end(outcome.report)}, {"warnings", member(outcome.report, "warnings")}});
                return outcome.status;
            },
            [&](JobResult &&job) {
                status_ = graver(status_, job.output.empty() ? static_cast<int>(could_not_finish) : job.status);
                Json told = Json::parse(job.output, nullptr, false);
                Json bad = job.output.empty() ? Json{{"end", "no result: " + job.fault}} : member(told, "bad");
                if (!bad.is_null()) {
                    Json entry = {{"schedule", schedules[job.index]}};
                    entry.update(bad);
                    bad_.push_back(std::move(entry));
                }
                for (const Json &warning : member(told, "warnings"))
                    if (told_.insert(warning.get<std::string>()).second)
                        warnings_.push_back(warning);
            },
            [&](size_t finished) { progress.show_count(finished, schedules.size(), "schedules"); });
        if (!whole)
            throw Interrupted("");
    }

    // The schedule under which a candidate ends as `end`, tried in order; 0 may be the first, undisturbed.
    bool fails(const Json &candidate, const std::string &end, uint64_t &schedule) const
    {
        scenarios::Scenario scenario;
        try {
            scenario = scenarios::read_scenario(scenarios::parse_json("candidate", analysis::dump(candidate)));
        } catch (const scenarios::InputError &) {
            return false;
        }
        std::vector<uint64_t> schedules = {schedule};
        for (uint64_t i = 1; i <= schedules_per_candidate && schedule != 0; ++i)
            if (i != schedule)
                schedules.push_back(i);
        // As many at a time as there are workers, so that the first few decide quickly.
        for (size_t from = 0; from < schedules.size(); from += workers_) {
            std::vector<size_t> numbers;
            for (size_t i = from; i < std::min<size_t>(from + workers_, schedules.size()); ++i)
                numbers.push_back(i);
            bool found = false;
            Workers(workers_).run(
                numbers, Workers::Order::of_numbers,
                [&](size_t index, std::string &text) {
                    scenario.schedule = schedules[index];
                    const Json bad = bad_end(simulate(scenario, nullptr).report);
                    text = bad.is_null() ? "" : bad["end"].get<std::string>();
                    return static_cast<int>(done);
                },
                [&](JobResult &&job) {
                    if (!found && job.output == end) {
                        found = true;
                        schedule = schedules[job.index];
                    }
                },
                [](size_t) {});
            if (found)
                return true;
        }
        return false;
    }

    void add_smaller(Json &report)
    {
        const std::string end = bad_[0]["end"].get<std::string>();
        uint64_t schedule = bad_[0]["schedule"].get<uint64_t>();
        const analysis::Shrunk shrunk = analysis::shrink(
            scenarios::scenario_json(scenario_), [&](const Json &candidate) { return fails(candidate, end, schedule); },
            candidates_max);
        Json smaller = shrunk.scenario;
        smaller["schedule"] = schedule;
        const analysis::ScenarioSize size = analysis::scenario_size(smaller);
        report["shrunk"] = std::move(smaller);
        report["shrunk_size"] = {{"threads", size.threads}, {"steps", size.steps}};
        report["shrink_trials"] = shrunk.trials;
        report["shrink_finished"] = shrunk.finished;
    }

    std::string text(const Json &report) const
    {
        const analysis::Style style = common_.style();
        std::string out = style.heading(analysis::escaped(scenario_.name)) + ": " +
                          analysis::number_text(report["schedules"]) + " schedules, ";
        out += bad_.empty() ? style.good("no bad end") + "\n"
                            : style.bad(analysis::grouped(bad_.size()) + " bad ends") + "\n";
        for (size_t i = 0; i < std::min(bad_.size(), bad_shown); ++i) {
            const Json &bad = bad_[i];
            out += "\n  schedule " + analysis::dump(bad["schedule"]) + ": " + analysis::shown(bad["end"]) +
                   "   (alone: dmusim run " + analysis::escaped(arguments_.words[0]) +
                   " --set schedule=" + analysis::dump(bad["schedule"]) + ")\n";
            for (const Json &line : member(bad, "ending"))
                out += "    " + analysis::shown(line) + "\n";
        }
        if (bad_.size() > bad_shown)
            out += "\n  and " + analysis::grouped(bad_.size() - bad_shown) + " more\n";
        for (const Json &warning : warnings_)
            out += "\n" + analysis::wrapped("warning: " + analysis::shown(warning), "  ");
        if (report.contains("shrunk"))
            out += "\n  A smaller scenario that ends so: " + analysis::number_text(report["shrunk_size"]["threads"]) +
                   " threads, " + analysis::number_text(report["shrunk_size"]["steps"]) + " steps (" +
                   analysis::number_text(report["shrink_trials"]) + " candidates tried)\n" +
                   analysis::dump(essentials(report["shrunk"]), 2) + "\n";
        return out;
    }

    // Without what is at its default anyway.
    static Json essentials(const Json &scenario)
    {
        const Json defaults = scenarios::scenario_json(scenarios::default_scenario());
        Json left = Json::object();
        for (const auto &[key, value] : scenario.items()) {
            if (!value.is_object() || !defaults.contains(key) || key == "params") {
                if (!defaults.contains(key) || defaults[key] != value)
                    left[key] = value;
                continue;
            }
            for (const auto &[inner, one] : value.items())
                if (!defaults[key].contains(inner) || defaults[key][inner] != one)
                    left[key][inner] = one;
        }
        return left;
    }

    const Arguments &arguments_;
    const Common &common_;
    uint64_t count_ = 0;
    uint64_t workers_ = 1;
    scenarios::Scenario scenario_;
    Json bad_ = Json::array();
    Json warnings_ = Json::array();
    std::set<std::string> told_;
    int status_ = done;
};

} // namespace

int run_schedules(const Arguments &arguments)
{
    return Schedules(arguments).run();
}

} // namespace cli
