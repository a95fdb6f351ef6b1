// dmusim whatif: the same run with one lock or one function cheaper, for each of those on top, side by side.
#include "analysis/whatif.h"

#include "analysis/cli/commands/commands.h"
#include "analysis/cli/errors.h"
#include "analysis/cli/exit_status.h"
#include "analysis/cli/interrupt.h"
#include "analysis/cli/load.h"
#include "analysis/cli/output.h"
#include "analysis/cli/simulate.h"
#include "analysis/cli/workers.h"
#include "analysis/metric.h"

#include <cstdio>
#include <thread>

namespace cli {

namespace {

using analysis::Json;

constexpr uint64_t workers_max = 1024;
constexpr uint64_t top_default = 5, top_max = 100;
constexpr uint64_t factor_max = 1'000'000;

void add_options(po::options_description &options)
{
    auto add = options.add_options();
    add("lock", po::value<std::vector<std::string>>()->value_name("CLASS")->composing(),
        "try this class of locks (repeatable)");
    add("function", po::value<std::vector<std::string>>()->value_name("NAME")->composing(),
        "try this function (repeatable)");
    add("factor", po::value<Whole>()->value_name("K"), "K times cheaper, instead of free");
    add("top", po::value<Whole>()->value_name("N"),
        "without --lock and --function: how many of each are tried (default 5)");
    add("pairs", "every two of them at once as well");
    add("metric", po::value<std::string>()->value_name("PATH"),
        "what is compared (default: the throughput of the operation done most often)");
    add("jobs,j", po::value<Whole>()->value_name("N"), "simulations at a time (default: the CPUs of this machine)");
}

class WhatIf {
public:
    explicit WhatIf(const Arguments &arguments) : arguments_(arguments), common_(arguments.common) {}

    int run()
    {
        read_options();
        scenarios::Scenario scenario = load(arguments_.words[0], common_);
        for (const scenarios::Supposition &one : scenario.suppose)
            supposed_.push_back({{{one.function.empty(), one.lock + one.function}}});
        check_names();
        Output output(common_.output);
        Output screen{std::string()};

        const int status = run_as_it_is(scenario);
        if (member_is_false("complete"))
            throw HostError("whatif: the run as it is comes to no end of its own (" +
                            result_["end"].get<std::string>() + "); there is nothing to compare with");
        if (metric_.empty())
            metric_ = analysis::throughput_metric(result_);
        if (metric_.empty())
            throw HostError("whatif: the run as it is did no operation, so it has no throughput; --metric PATH names "
                            "what else is compared");
        const analysis::MetricValue before = analysis::metric_value(result_, metric_);
        if (!before.value.is_number())
            throw UsageError("whatif: --metric " + metric_ + ": " + before.problem);

        std::vector<analysis::Trial> trials = named_;
        if (trials.empty())
            trials = analysis::top_trials(result_, top_);
        std::erase_if(trials, [this](const analysis::Trial &trial) { return is_supposed(trial); });
        const size_t singles = trials.size();
        if (pairs_)
            for (analysis::Trial &pair : analysis::pair_trials(trials))
                trials.push_back(std::move(pair));
        Json entries = try_all(trials, before.value);

        Json ranking = Json::array(), pairs = Json::array();
        for (size_t i = 0; i < entries.size(); ++i)
            (i < singles ? ranking : pairs).push_back(entries[i]);
        analysis::sort_by_gain(ranking);
        analysis::sort_by_gain(pairs);
        const Json whatif = analysis::whatif_json(result_, metric_, std::move(ranking),
                                                  pairs_ ? std::optional<Json>(std::move(pairs)) : std::nullopt);
        const bool to_file = !output.is_stdout();
        if (common_.json || to_file)
            output.write(analysis::dump(whatif) + "\n");
        if (!common_.json && !common_.quiet)
            screen.write(analysis::whatif_text(whatif, common_.style()));
        output.commit();
        return status;
    }

private:
    void read_options()
    {
        factor_ = arguments_.whole("factor", 0);
        if (arguments_.has("factor") && (factor_ < 2 || factor_ > factor_max))
            throw UsageError("whatif: --factor: a number from 2 to " + std::to_string(factor_max) +
                             " is wanted; without it, everything tried is free");
        top_ = arguments_.whole("top", top_default);
        if (top_ == 0 || top_ > top_max)
            throw UsageError("whatif: --top: a number from 1 to " + std::to_string(top_max) + " is wanted");
        workers_ = arguments_.whole("jobs", std::max(1u, std::thread::hardware_concurrency()));
        if (workers_ == 0 || workers_ > workers_max)
            throw UsageError("whatif: -j: a number from 1 to " + std::to_string(workers_max) + " is wanted");
        pairs_ = arguments_.has("pairs");
        for (const std::string &name : arguments_.list("lock"))
            named_.push_back({{{true, name}}});
        for (const std::string &name : arguments_.list("function"))
            named_.push_back({{{false, name}}});
        if (!named_.empty() && arguments_.has("top"))
            throw UsageError("whatif: --top is for when neither --lock nor --function names what to try");
        if (arguments_.has("metric")) {
            metric_ = arguments_.options["metric"].as<std::string>();
            if (const std::string problem = analysis::metric_problem(metric_); !problem.empty())
                throw UsageError("whatif: --metric " + metric_ + ": " + problem);
        }
    }

    // A name that is none is told before anything runs.
    void check_names() const
    {
        for (size_t i = 0; i < named_.size(); ++i) {
            load_with(named_[i]);
            for (size_t j = 0; j < i; ++j)
                if (named_[i].name() == named_[j].name() && named_[i].kind() == named_[j].kind())
                    throw UsageError("whatif: --" + named_[i].kind() + " " + named_[i].name() + " is given twice");
        }
    }

    bool is_supposed(const analysis::Trial &trial) const
    {
        for (const analysis::Trial &one : supposed_)
            if (one.name() == trial.name() && one.kind() == trial.kind())
                return true;
        return false;
    }

    // The scenario, its own suppositions kept, with those of the trial.
    scenarios::Scenario load_with(const analysis::Trial &trial) const
    {
        const scenarios::Scenario plain = load(arguments_.words[0], common_);
        Json suppositions = scenarios::scenario_json(plain).value("suppose", Json::array());
        for (Json &one : trial.suppositions(factor_))
            suppositions.push_back(std::move(one));
        Json varied = Json::object();
        varied["suppose"] = std::move(suppositions);
        return load(arguments_.words[0], common_, varied);
    }

    bool member_is_false(const char *key) const { return result_.value(key, false) == false; }

    // In a process of its own: its memory goes with it, and a crash is told.
    int run_as_it_is(const scenarios::Scenario &scenario)
    {
        int status = could_not_finish;
        Progress progress(common_.progress);
        progress.show_count(0, 1, "runs");
        const bool whole = Workers(1).run(
            {0}, Workers::Order::of_numbers,
            [&](size_t, std::string &text) {
                Outcome outcome = simulate(scenario, nullptr);
                text = analysis::dump(outcome.report);
                return outcome.status;
            },
            [&](JobResult &&job) {
                status = job.status;
                if (!job.output.empty())
                    result_ = Json::parse(job.output, nullptr, false);
                fault_ = job.fault;
            },
            [](size_t) {});
        if (!whole)
            throw Interrupted("");
        if (!result_.is_object())
            throw HostError("whatif: the run as it is gave no result" + (fault_.empty() ? "" : ": " + fault_));
        return status;
    }

    Json try_all(const std::vector<analysis::Trial> &trials, const Json &before)
    {
        std::vector<size_t> numbers;
        for (size_t i = 0; i < trials.size(); ++i)
            numbers.push_back(i);
        Json entries = Json::array();
        Progress progress(common_.progress);
        const bool whole = Workers(workers_).run(
            numbers, Workers::Order::of_numbers,
            [&](size_t index, std::string &text) {
                Outcome outcome = simulate(load_with(trials[index]), nullptr);
                text = analysis::dump(analysis::trial_outcome(outcome.report, metric_));
                return static_cast<int>(done);
            },
            [&](JobResult &&job) {
                if (!job.fault.empty())
                    std::fprintf(stderr, "dmusim: whatif: %s: %s\n", trials[job.index].name().c_str(),
                                 job.fault.c_str());
                const Json outcome = job.output.empty() ? Json(nullptr) : Json::parse(job.output, nullptr, false);
                entries.push_back(analysis::ranking_entry(trials[job.index], factor_, metric_, before, outcome));
            },
            [&](size_t finished) { progress.show_count(finished, trials.size(), "runs"); });
        if (!whole)
            throw Interrupted("");
        return entries;
    }

    const Arguments &arguments_;
    const Common &common_;
    uint64_t factor_ = 0;
    uint64_t top_ = top_default;
    uint64_t workers_ = 1;
    bool pairs_ = false;
    std::string metric_;
    std::vector<analysis::Trial> named_;
    std::vector<analysis::Trial> supposed_; // by the scenario itself
    Json result_;
    std::string fault_;
};

int run(const Arguments &arguments)
{
    return WhatIf(arguments).run();
}

} // namespace

const Command whatif_command = {
    "whatif",
    "[OPTION]... SCENARIO",
    "Tell what throughput would be, were one lock or function free.",
    "SCENARIO is a file, \"-\" for standard input, or a built-in name. It is run as it is, and once for each lock and "
    "function\n"
    "on top (or named) with that one free, or K times cheaper: what throughput becomes, and what is on top then, by "
    "gain.\n"
    "A free lock keeps its order, but nobody loses time over it; a free function takes none of its own instructions "
    "(sim/careful.h,\n"
    "\"suppose\" in scenarios/README.md). Each figure is that of `dmusim run SCENARIO --set "
    "'suppose=[{\"lock\":\"CLASS\",\"factor\":0}]'`.\n"
    "With --json, {\"ranking\": [{\"kind\", \"name\", \"factor\", \"metric\", \"before\", \"after\", \"gain\", "
    "\"next\"}, "
    "...]} (factor 0: free),\n"
    "with the result of the run as it is; `dmusim report` makes a page with a chart of it.\n\n"
    "Examples:\n"
    "  dmusim whatif object-alloc-legacy --set params.objects=50000\n"
    "  dmusim whatif create-one-directory --set params.files=20000 --top 3 --pairs -o what.json && dmusim report "
    "what.json -o what.html\n"
    "  dmusim whatif create-one-directory --lock dn_mtx --lock db_mtx --factor 2 --json | jq '.ranking[] | {name, "
    "gain, next}'\n",
    1,
    1,
    "SCENARIO",
    true,
    add_options,
    run};

} // namespace cli
