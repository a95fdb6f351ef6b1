#include "analysis/cli/schedules.h"

#include "analysis/bad_end.h"
#include "analysis/cli/errors.h"
#include "analysis/cli/exit_status.h"
#include "analysis/cli/load.h"
#include "analysis/cli/output.h"
#include "analysis/cli/shell_word.h"
#include "analysis/cli/simulate.h"
#include "analysis/cli/workers.h"
#include "analysis/expectation.h"
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
// While a scenario is made smaller: candidates; and schedules for each.
constexpr uint64_t candidates_max = 3000, schedules_per_candidate_max = 256;

// By how many schedules it takes to find the bad end.
uint64_t schedules_per_candidate(uint64_t rarity, analysis::Patience patience)
{
    const uint64_t wanted = patience == analysis::Patience::little ? std::max<uint64_t>(rarity / 2, 2)
                            : patience == analysis::Patience::some ? rarity * 2
                                                                   : std::max<uint64_t>(rarity * 8, 16);
    return std::min(wanted, schedules_per_candidate_max);
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
        wanted_record_ = scenario_.record;
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

        Json report = {{"format", schedules_format},    {"scenario", scenario_.name},
                       {"schedules", schedules.size()}, {"bad", bad_},
                       {"not_held", not_held_},         {"warnings", warnings_}};
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
                text = analysis::dump({{"bad", analysis::bad_end(outcome.report)},
                                       {"not_held", not_held_in(outcome.report)},
                                       {"warnings", member(outcome.report, "warnings")}});
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
                if (const Json &missed = member(told, "not_held"); bad.is_null() && !missed.empty())
                    not_held_.push_back({{"schedule", schedules[job.index]}, {"expect", missed}});
                for (const Json &warning : member(told, "warnings"))
                    if (told_.insert(warning.get<std::string>()).second)
                        warnings_.push_back(warning);
            },
            [&](size_t finished) { progress.show_count(finished, schedules.size(), "schedules"); });
        if (!whole)
            throw Interrupted("");
    }

    // The expectations that a result does not meet.
    static Json not_held_in(const Json &result)
    {
        Json missed = Json::array();
        for (const Json &one : member(result, "expect"))
            if (!one["held"].get<bool>())
                missed.push_back(one);
        return missed;
    }

    // The schedules to try a candidate under: the one that failed last first; 0 is the undisturbed one, and alone.
    std::vector<uint64_t> schedules_of_candidate(uint64_t first, uint64_t wanted) const
    {
        std::vector<uint64_t> schedules = {first};
        for (uint64_t i = 1; schedules.size() < wanted && first != 0; ++i)
            if (i != first)
                schedules.push_back(i);
        return schedules;
    }

    // Whether a candidate ends in the wanted way under one of those schedules; then which of them, counted from 1.
    // As many at a time as there are workers, so that the first few decide quickly.
    uint64_t tries_until(const Json &bad, scenarios::Scenario &scenario, const std::vector<uint64_t> &schedules) const
    {
        for (size_t from = 0; from < schedules.size(); from += workers_) {
            std::vector<size_t> numbers;
            for (size_t i = from; i < std::min<size_t>(from + workers_, schedules.size()); ++i)
                numbers.push_back(i);
            uint64_t found = 0;
            const bool whole = Workers(workers_).run(
                numbers, Workers::Order::of_numbers,
                [&](size_t index, std::string &text) {
                    scenario.schedule = schedules[index];
                    text = analysis::dump(analysis::bad_end(simulate(scenario, nullptr).report));
                    return static_cast<int>(done);
                },
                [&](JobResult &&job) {
                    const Json end = job.output.empty() ? Json(nullptr) : Json::parse(job.output, nullptr, false);
                    if (found == 0 && analysis::is_same_mistake(bad, end))
                        found = job.index + 1;
                },
                [](size_t) {});
            if (!whole)
                throw Interrupted("");
            if (found != 0)
                return found;
        }
        return 0;
    }

    // The first bad end's scenario, made smaller.
    void add_smaller(Json &report)
    {
        const Json bad = bad_[0];
        uint64_t schedule = bad["schedule"].get<uint64_t>();
        // How many schedules it takes to find the bad end. Forgotten slowly: one lucky hit does not make it frequent.
        uint64_t rarity = report["schedules"].get<uint64_t>() / bad_.size();
        scenario_.record = wanted_record_;
        Progress progress(common_.progress);
        uint64_t tried = 0;
        const auto fails = [&](const Json &candidate, analysis::Patience patience) {
            progress.show_count(++tried, candidates_max, "smaller scenarios, at most");
            scenarios::Scenario scenario;
            try {
                scenario = scenarios::read_scenario(scenarios::parse_json("candidate", analysis::dump(candidate)));
            } catch (const scenarios::InputError &) {
                return false;
            }
            const std::vector<uint64_t> schedules =
                schedules_of_candidate(schedule, schedules_per_candidate(rarity, patience));
            const uint64_t tries = tries_until(bad, scenario, schedules);
            if (tries == 0)
                return false;
            schedule = schedules[tries - 1];
            rarity = std::max(tries, rarity - rarity / 4);
            return true;
        };
        const analysis::Shrunk shrunk = analysis::shrink(scenarios::scenario_json(scenario_), fails, candidates_max);
        Json smaller = shrunk.scenario;
        smaller["schedule"] = schedule;
        const analysis::ScenarioSize size = analysis::scenario_size(smaller);
        report["shrunk"] = std::move(smaller);
        report["shrunk_size"] = {{"threads", size.threads}, {"steps", size.steps}};
        report["shrink_trials"] = shrunk.trials;
        report["shrink_finished"] = shrunk.finished;
    }

    // The scenario as it was asked for, as words of a shell.
    std::string scenario_words() const
    {
        std::string words = quoted(arguments_.words[0]);
        for (const std::string &set : common_.sets)
            words += " --set " + quoted(set);
        if (common_.seed)
            words += " --seed " + std::to_string(*common_.seed);
        if (common_.cpus)
            words += " --cpus " + std::to_string(*common_.cpus);
        return words;
    }

    static std::string quoted(const std::string &word)
    {
        constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,:/=+@";
        const bool needs_none = !word.empty() && word.find_first_not_of(plain) == std::string::npos;
        return needs_none ? word : shell_quoted(analysis::escaped(word));
    }

    std::string head_of(const Json &entry, const std::string &what) const
    {
        const std::string schedule = analysis::dump(entry["schedule"]);
        return "\n  schedule " + schedule + ": " + what + "   (alone: dmusim run " + scenario_words() +
               " --set schedule=" + schedule + ")\n";
    }

    std::string text(const Json &report) const
    {
        const analysis::Style style = common_.style();
        std::string out = style.heading(analysis::name_text(scenario_.name)) + ": " +
                          analysis::number_text(report["schedules"]) + " schedules, ";
        out += bad_.empty() ? style.good("no bad end") : style.bad(analysis::grouped(bad_.size()) + " bad ends");
        if (!not_held_.empty())
            out += ", " + style.bad(analysis::grouped(not_held_.size()) + " with an expectation that is not held");
        out += "\n";
        for (size_t i = 0; i < std::min(bad_.size(), bad_shown); ++i) {
            const Json &bad = bad_[i];
            out += head_of(bad, analysis::shown(bad["end"]));
            for (const Json &line : member(bad, "ending"))
                out += "    " + analysis::shown(line) + "\n";
        }
        if (bad_.size() > bad_shown)
            out += "\n  and " + analysis::grouped(bad_.size() - bad_shown) + " more\n";
        for (size_t i = 0; i < std::min(not_held_.size(), bad_shown); ++i) {
            out += head_of(not_held_[i], "not as expected");
            for (const Json &one : not_held_[i]["expect"])
                out += "    " + analysis::shown(one["metric"]) + " = " + analysis::number_text(one["value"]) + "  (" +
                       analysis::bounds_text(one) + ")\n";
        }
        if (not_held_.size() > bad_shown)
            out += "\n  and " + analysis::grouped(not_held_.size() - bad_shown) + " more that are not as expected\n";
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
    std::vector<std::string> wanted_record_; // by the scenario itself, without what is watched here
    Json bad_ = Json::array();
    Json not_held_ = Json::array(); // of schedules that end well
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
