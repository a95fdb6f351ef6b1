// dmusim sweep: one run for every point of a grid, in parallel, as JSON Lines in grid order.
#include "analysis/cli/commands/commands.h"
#include "analysis/cli/errors.h"
#include "analysis/cli/exit_status.h"
#include "analysis/cli/interrupt.h"
#include "analysis/cli/journal.h"
#include "analysis/cli/load.h"
#include "analysis/cli/output.h"
#include "analysis/cli/simulate.h"
#include "analysis/cli/workers.h"
#include "analysis/grid.h"
#include "analysis/metric.h"
#include "analysis/sweep_summary.h"
#include "analysis/version.h"

#include <thread>

namespace cli {

namespace {

using analysis::Json;

constexpr size_t points_summarised = 4096; // the summary keeps every point's counters; a larger sweep has no summary
constexpr uint64_t workers_max = 1024;

void add_options(po::options_description &options)
{
    auto add = options.add_options();
    add("vary", po::value<std::vector<std::string>>()->composing()->value_name("PATH=V,V,..."),
        "values of one path: a list, a range (1..16, 1..16:3) or powers (2^0..2^20); repeatable, the first one "
        "outermost");
    add("seeds", po::value<Whole>()->value_name("N"), "every point under N seeds: the scenario's, the next, ...");
    add("jobs,j", po::value<Whole>()->value_name("N"), "simulations at a time (default: the CPUs of this machine)");
    add("metric", po::value<std::vector<std::string>>()->composing()->value_name("PATH"),
        "what the summary shows (dmusim list metrics); repeatable");
    add("shard", po::value<std::string>()->value_name("K/N"),
        "only every N-th point, from the K-th on; see dmusim merge");
    add("dry-run", "print the points and run nothing");
}

analysis::Grid read_grid(const Arguments &arguments)
{
    try {
        std::vector<analysis::Axis> axes;
        for (const std::string &text : arguments.list("vary"))
            axes.push_back(analysis::parse_axis(text));
        if (arguments.has("seeds")) {
            uint64_t count = arguments.whole("seeds", 1);
            if (count == 0 || count > analysis::Grid::points_max)
                throw UsageError("sweep: --seeds: a number from 1 to " + std::to_string(analysis::Grid::points_max) +
                                 " is wanted");
            analysis::Axis seeds{"seed", {}};
            uint64_t first = load(arguments.words[0], arguments.common).seed;
            for (uint64_t i = 0; i < count; ++i)
                seeds.values.push_back(first + i);
            axes.push_back(std::move(seeds));
        }
        if (axes.empty())
            throw UsageError("sweep: nothing is varied; give --vary PATH=VALUE,VALUE,... or --seeds N");
        return analysis::Grid(std::move(axes));
    } catch (const analysis::GridError &error) {
        throw UsageError(std::string("sweep: --vary: ") + error.what());
    }
}

// A scenario from standard input can be read once only, and every point needs it.
void refuse_standard_input(const std::string &name)
{
    if (name == "-")
        throw UsageError("sweep: the scenario of a sweep must be a file or a built-in name");
}

// The points of this run: all of them, or those of one shard, spread over the grid so that shards take equally long.
std::vector<size_t> read_shard(const Arguments &arguments, size_t points)
{
    unsigned long long shard = 1, shards = 1;
    if (arguments.has("shard")) {
        const std::string &text = arguments.options["shard"].as<std::string>();
        int used = 0;
        bool good = text.find_first_not_of("0123456789/") == std::string::npos &&
                    std::sscanf(text.c_str(), "%9llu/%9llu%n", &shard, &shards, &used) == 2 &&
                    static_cast<size_t>(used) == text.size() && shard >= 1 && shard <= shards;
        if (!good)
            throw UsageError("sweep: --shard: " + scenarios::in_quotes(text) + " is not K/N with K from 1 to N");
    }
    std::vector<size_t> jobs;
    for (size_t i = shard - 1; i < points; i += shards)
        jobs.push_back(i);
    return jobs;
}

class Sweep {
public:
    explicit Sweep(const Arguments &arguments)
        : arguments_(arguments), common_(arguments.common), scenario_(arguments.words[0]), grid_(read_grid(arguments)),
          metrics_(arguments.list("metric")), points_to_run_(read_shard(arguments, grid_.size()))
    {
        for (const std::string &metric : metrics_)
            if (std::string problem = analysis::metric_problem(metric); !problem.empty())
                throw UsageError("sweep: --metric " + analysis::escaped(metric) + ": " + problem);
        workers_ = arguments_.whole("jobs", std::max(1u, std::thread::hardware_concurrency()));
        if (workers_ == 0 || workers_ > workers_max)
            throw UsageError("sweep: -j: a number from 1 to " + std::to_string(workers_max) + " is wanted");
        summarised_ = grid_.size() <= points_summarised && !common_.quiet && !arguments_.has("shard");
        for (size_t i = 0; i < grid_.size(); ++i) // a mistake in any point is told before the first one runs
            load(scenario_, common_, grid_.point(i));
    }

    int run()
    {
        if (arguments_.has("dry-run"))
            return list_points();
        // Made and dropped: a path that cannot be written is told now.
        if (Output trial(common_.output); trial.is_regular())
            run_with_journal();
        else
            run_directly(trial);
        summary();
        return status_;
    }

private:
    int list_points()
    {
        Output output(common_.output);
        for (size_t i : points_to_run_)
            output.write(analysis::dump(grid_.point(i)) + "\n");
        output.commit();
        return done;
    }

    void run_directly(Output &output)
    {
        Progress progress(common_.progress);
        bool whole = Workers(workers_).run(
            points_to_run_, Workers::Order::of_numbers,
            [this](size_t index, std::string &text) { return run_point(index, text); },
            [&](JobResult &&result) {
                if (!told_fault(result))
                    take(output, result.index, result.status, result.output);
            },
            [&](size_t finished) { progress.show_count(finished, points_to_run_.size(), "points"); });
        output.commit();
        if (!whole)
            throw Interrupted(kept(finished_) + " had finished and were written");
    }

    void run_with_journal()
    {
        std::string journal_path = common_.output + ".journal";
        {
            Journal journal(journal_path, identity());
            std::vector<size_t> missing;
            for (size_t i : points_to_run_)
                if (!journal.has(i))
                    missing.push_back(i);
            Progress progress(common_.progress);
            bool whole = Workers(workers_).run(
                missing, Workers::Order::of_finishing,
                [this](size_t index, std::string &text) { return run_point(index, text); },
                [&](JobResult &&result) {
                    if (!told_fault(result))
                        journal.append(result.index, {result.status, std::move(result.output)});
                },
                [&](size_t) { progress.show_count(journal.size(), points_to_run_.size(), "points"); });
            if (!whole)
                throw Interrupted(kept(journal.size()) + " are in " + journal_path +
                                  "; the same command goes on from there");
            if (journal.size() < points_to_run_.size())
                throw HostError("sweep: " + kept(journal.size()) + " are in " + journal_path +
                                "; the same command tries the rest again");
            Output output(common_.output);
            for (size_t i : points_to_run_) {
                Journal::Record record = journal.read(i);
                take(output, i, record.status, record.text);
            }
            output.commit();
            journal.remove();
        }
    }

    std::string kept(size_t points) const
    {
        return std::to_string(points) + " of " + std::to_string(points_to_run_.size()) + " points";
    }

    // Equal for equal sweeps only: everything that decides the bytes.
    std::string identity() const
    {
        Json axes = Json::array();
        for (const analysis::Axis &axis : grid_.axes())
            axes.push_back({{"path", axis.path}, {"values", axis.values}});
        return analysis::dump({{"journal", "dmusim-sweep-1"},
                               {"version", analysis::version},
                               {"scenario", scenarios::scenario_json(load(scenario_, common_))},
                               {"axes", axes},
                               {"points", points_to_run_.size()},
                               {"first", points_to_run_.empty() ? 0 : points_to_run_[0]},
                               {"metrics", metrics_},
                               {"summarised", summarised_}});
    }

    // In the worker: the result's line, then (where there is a summary) what it needs of it in a second line.
    int run_point(size_t index, std::string &text) const
    {
        Json point = grid_.point(index);
        Outcome outcome = simulate(load(scenario_, common_, point), nullptr);
        Json result = {{"format", outcome.report["format"]},
                       {"grid", {{"index", index}, {"points", grid_.size()}}},
                       {"point", point}};
        for (auto &[key, value] : outcome.report.items())
            if (key != "format")
                result[key] = std::move(value);
        text = analysis::dump(result) + "\n";
        if (summarised_)
            text += analysis::dump(analysis::sweep_values(result, metrics_)) + "\n";
        return outcome.status;
    }

    // A worker that came back without a result.
    bool told_fault(const JobResult &result)
    {
        if (result.output.find('\n') != std::string::npos)
            return false;
        Json point = grid_.point(result.index);
        std::fprintf(stderr, "dmusim: sweep: point %s gave no result%s%s\n", analysis::dump(point).c_str(),
                     result.fault.empty() ? "" : ": ", result.fault.c_str());
        status_ = graver(status_, could_not_finish);
        points_.push_back({std::move(point), nullptr});
        return true;
    }

    void take(Output &output, size_t index, int status, const std::string &text)
    {
        status_ = graver(status_, status);
        size_t end = text.find('\n');
        output.write(std::string_view(text).substr(0, end + 1));
        ++finished_;
        Json point = grid_.point(index);
        if (status != done)
            std::fprintf(stderr, "dmusim: sweep: point %s: exit status %d\n", analysis::dump(point).c_str(), status);
        if (summarised_)
            points_.push_back({std::move(point), Json::parse(text.substr(end + 1), nullptr, false)});
    }

    // Beside the JSON Lines: on standard output where they went to a file, else on standard error.
    void summary()
    {
        if (!summarised_)
            return;
        bool to_stdout = !common_.output.empty() && common_.output != "-" && !common_.json;
        std::string text =
            analysis::sweep_text(grid_, points_, metrics_, to_stdout ? common_.style() : analysis::Style{});
        if (to_stdout)
            Output(std::string()).write(text);
        else
            std::fputs(text.c_str(), stderr);
    }

    const Arguments &arguments_;
    const Common &common_;
    std::string scenario_;
    analysis::Grid grid_;
    std::vector<std::string> metrics_;
    std::vector<size_t> points_to_run_;
    uint64_t workers_ = 1;
    bool summarised_ = false;
    std::vector<analysis::SweepPoint> points_;
    size_t finished_ = 0;
    int status_ = done;
};

int run(const Arguments &arguments)
{
    refuse_standard_input(arguments.words[0]);
    return Sweep(arguments).run();
}

} // namespace

const Command sweep_command = {
    "sweep",
    "[OPTION]... SCENARIO --vary PATH=V,V,... [--vary ...]",
    "Run every point of a grid, in parallel, and write JSON Lines.",
    "One result a line, in grid order whatever the order of finishing, each with its \"point\". The same inputs give "
    "the\n"
    "same bytes at any -j. A summary follows on standard error, or on standard output where -o FILE takes the lines: "
    "a\n"
    "table of the points, the spread over seeds, and how every counter grows with a varied number.\n\n"
    "With -o FILE, what has finished is kept in FILE.journal until FILE is there: an interrupted or killed sweep goes "
    "on\n"
    "with the same command. --shard K/N runs a part on another machine; dmusim merge puts parts together.\n\n"
    "Examples:\n"
    "  dmusim sweep alloc-one-txg --vary params.objects=2^13..2^17 --vary code.object_alloc=legacy,rescan -o "
    "sweep.jsonl\n"
    "  dmusim sweep object-alloc-rescan --vary machine.cpus=1,2,4,8,16 --seeds 3 -j 2 > cpus.jsonl\n",
    1,
    1,
    "SCENARIO",
    true,
    add_options,
    run};

} // namespace cli
