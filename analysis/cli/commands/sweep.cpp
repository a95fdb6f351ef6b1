// dmusim sweep: one run for every point of a grid, in parallel, as JSON Lines in grid order.
#include "analysis/cli/commands/commands.h"
#include "analysis/cli/errors.h"
#include "analysis/cli/exit_status.h"
#include "analysis/cli/interrupt.h"
#include "analysis/cli/journal.h"
#include "analysis/cli/load.h"
#include "analysis/cli/output.h"
#include "analysis/cli/simulate.h"
#include "analysis/cli/slurm.h"
#include "analysis/cli/workers.h"
#include "analysis/expectation.h"
#include "analysis/grid.h"
#include "analysis/metric.h"
#include "analysis/sweep_summary.h"
#include "analysis/version.h"
#include "scenarios/work_estimate.h"

#include <chrono>
#include <filesystem>
#include <fstream>
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
    add("dry-run", "print the points; what they would cost is estimated from a short trial of the largest");
    add("slurm", "run it as a Slurm job array, put together in -o FILE; the same command goes on where it was");
    add("partition", po::value<std::string>()->value_name("P"), "of Slurm (default: its default)");
    add("array-size", po::value<Whole>()->value_name("N"),
        "tasks of the array, each a slice of the grid (default 100)");
    add("detach", "submit to Slurm and return; the same command later waits and puts the parts together");
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
        if (arguments_.has("slurm")) {
            if (!run_on_slurm())
                return done;
            summary();
            return status_;
        }
        for (const char *option : {"partition", "array-size", "detach"})
            if (arguments_.has(option))
                throw UsageError(std::string("sweep: --") + option + " goes with --slurm");
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
        if (!common_.quiet)
            tell_cost();
        return done;
    }

    // On standard error, for people: it depends on the host. The point with the most operations is tried for a moment.
    void tell_cost() const
    {
        constexpr auto trial = std::chrono::seconds(1);
        uint64_t operations = 0, most = 0;
        size_t largest = 0;
        bool exact = true;
        for (size_t i : points_to_run_) {
            scenarios::WorkEstimate work = scenarios::estimate_work(load(scenario_, common_, grid_.point(i)));
            operations += work.operations + work.setup;
            exact = exact && work.exact;
            if (i == points_to_run_[0] || work.operations + work.setup > most) {
                most = work.operations + work.setup;
                largest = i;
            }
        }
        std::fprintf(stderr, "dmusim: sweep: %zu points, %s%s operations\n", points_to_run_.size(),
                     exact ? "" : "about ", analysis::grouped(operations).c_str());
        if (most == 0)
            return;
        auto start = std::chrono::steady_clock::now();
        uint64_t tried = 0;
        scenarios::RunOptions options;
        options.progress = [&](const scenarios::Progress &progress) {
            tried = progress.operations;
            return std::chrono::steady_clock::now() - start < trial && !interrupt_requested();
        };
        scenarios::RunResult result = scenarios::run(load(scenario_, common_, grid_.point(largest)), options);
        double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        uint64_t setup = scenarios::estimate_work(load(scenario_, common_, grid_.point(largest))).setup;
        if (result.end != scenarios::End::interrupted)
            tried = most;
        else
            tried += setup;
        if (tried == 0) {
            std::fprintf(stderr, "dmusim: sweep: a trial of the largest point came to no operation in %.1f s\n", spent);
            return;
        }
        double total = spent * static_cast<double>(operations) / static_cast<double>(tried);
        std::fprintf(stderr,
                     "dmusim: sweep: in a trial of %s, %s operations took %.1f s; at that pace all take about %s of "
                     "one CPU, %s with "
                     "-j %llu (more where the cost of an operation grows with their number)\n",
                     analysis::escaped(analysis::dump(grid_.point(largest))).c_str(), analysis::grouped(tried).c_str(),
                     spent, analysis::duration_text(total * 1e9).c_str(),
                     analysis::duration_text(total * 1e9 / static_cast<double>(workers_)).c_str(),
                     static_cast<unsigned long long>(workers_));
    }

    // The parts are shards of this very sweep; this program puts them together and tells what they came to.
    bool run_on_slurm()
    {
        constexpr uint64_t tasks_default = 100, tasks_max = 1000; // Slurm's arrays hold 1,001 by default
        if (common_.output.empty() || common_.output == "-")
            throw UsageError("sweep: --slurm needs -o FILE, on a file system that every node sees");
        if (arguments_.has("shard"))
            throw UsageError("sweep: --slurm makes its own shards; leave --shard away");
        uint64_t tasks = arguments_.whole("array-size", tasks_default);
        if (tasks == 0 || tasks > tasks_max)
            throw UsageError("sweep: --array-size: a number from 1 to " + std::to_string(tasks_max) + " is wanted");
        SlurmJob job;
        job.folder = std::filesystem::absolute(common_.output).string() + ".slurm";
        job.parts = std::min<uint64_t>(tasks, grid_.size());
        job.identity = identity() + " in " + std::to_string(job.parts);
        job.detach = arguments_.has("detach");
        if (arguments_.has("partition"))
            job.partition = arguments_.options["partition"].as<std::string>();
        job.command = {std::filesystem::read_symlink("/proc/self/exe").string(), "sweep", scenario_};
        std::error_code none;
        if (std::filesystem::is_regular_file(scenario_, none))
            job.command.back() = std::filesystem::absolute(scenario_).string();
        auto add = [&](const char *option, const std::string &value) {
            job.command.insert(job.command.end(), {option, value});
        };
        for (const std::string &text : arguments_.list("vary"))
            add("--vary", text);
        for (const std::string &text : common_.sets)
            add("--set", text);
        if (arguments_.has("seeds"))
            add("--seeds", std::to_string(arguments_.whole("seeds", 1)));
        if (common_.seed)
            add("--seed", std::to_string(*common_.seed));
        if (common_.cpus)
            add("--cpus", std::to_string(*common_.cpus));
        add("-j", "1");
        job.command.push_back("-q");

        Output output(common_.output); // a path that cannot be written is told now
        Progress progress(common_.progress);
        if (!run_parts(job, progress))
            return false;
        std::vector<std::ifstream> parts;
        for (size_t part = 1; part <= job.parts; ++part)
            parts.emplace_back(part_file(job, part), std::ios::binary);
        for (size_t i = 0; i < grid_.size(); ++i) {
            std::string line;
            if (!std::getline(parts[i % job.parts], line))
                throw HostError("sweep: " + part_file(job, i % job.parts + 1) + " ends before point " +
                                std::to_string(i));
            Json result = Json::parse(line, nullptr, false);
            if (!result.is_object() || result["grid"] != Json{{"index", i}, {"points", grid_.size()}})
                throw HostError("sweep: " + part_file(job, i % job.parts + 1) + " does not hold point " +
                                std::to_string(i));
            line += '\n';
            if (summarised_)
                line += analysis::dump(analysis::sweep_values(result, metrics_)) + "\n";
            take(output, i, status_of(result), line);
        }
        output.commit();
        std::filesystem::remove_all(job.folder, none);
        return true;
    }

    // As the run that made it would have ended.
    static int status_of(const Json &result)
    {
        static const std::pair<const char *, int> ends[] = {
            {"refused", not_held},        {"deadlock", deadlocked},    {"livelock", no_progress},
            {"lost_wakeup", no_progress}, {"limit", could_not_finish}, {"invariant", invariant_broken}};
        int status = analysis::all_held(result["expect"]) ? done : not_held;
        for (const auto &[name, value] : ends)
            if (result["end"] == name)
                status = graver(status, value);
        return status;
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
    "with the same command. --shard K/N runs a part on another machine; dmusim merge puts parts together.\n"
    "--slurm does both with a job array, and submits again what is missing.\n\n"
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
