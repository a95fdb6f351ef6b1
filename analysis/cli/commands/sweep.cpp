// dmusim sweep: one run for every point of a grid, in parallel, as JSON Lines in grid order.
#include "analysis/cli/commands/commands.h"
#include "analysis/cli/errors.h"
#include "analysis/cli/exit_status.h"
#include "analysis/cli/interrupt.h"
#include "analysis/cli/load.h"
#include "analysis/cli/output.h"
#include "analysis/cli/simulate.h"
#include "analysis/cli/workers.h"
#include "analysis/grid.h"
#include "analysis/metric.h"
#include "analysis/sweep_summary.h"

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

class Sweep {
  public:
    explicit Sweep(const Arguments &arguments)
        : arguments_(arguments), common_(arguments.common), scenario_(arguments.words[0]), grid_(read_grid(arguments)),
          metrics_(arguments.list("metric")), output_(common_.output)
    {
        for (const std::string &metric : metrics_)
            if (std::string problem = analysis::metric_problem(metric); !problem.empty())
                throw UsageError("sweep: --metric " + analysis::escaped(metric) + ": " + problem);
        summarised_ = grid_.size() <= points_summarised && !common_.quiet;
        for (size_t i = 0; i < grid_.size(); ++i) // a mistake in any point is told before the first one runs
            load(scenario_, common_, grid_.point(i));
    }

    int run()
    {
        if (arguments_.has("dry-run"))
            return list_points();
        uint64_t jobs = arguments_.whole("jobs", std::max(1u, std::thread::hardware_concurrency()));
        if (jobs == 0 || jobs > workers_max)
            throw UsageError("sweep: -j: a number from 1 to " + std::to_string(workers_max) + " is wanted");
        Progress progress(common_.progress);
        bool whole = Workers(jobs).run(
            grid_.size(), [this](size_t index, std::string &line) { return run_point(index, line); },
            [this](JobResult &&result) { take(std::move(result)); },
            [&](size_t finished) { progress.show_count(finished, grid_.size(), "points"); });
        if (!whole) {
            if (finished_ > 0)
                output_.commit();
            throw Interrupted(std::to_string(finished_) + " of " + std::to_string(grid_.size()) +
                              " points had finished and are kept");
        }
        output_.commit();
        summary();
        return status_;
    }

  private:
    int list_points()
    {
        for (size_t i = 0; i < grid_.size(); ++i)
            output_.write(analysis::dump(grid_.point(i)) + "\n");
        output_.commit();
        return done;
    }

    // In the worker: the result's line, then (where there is a summary) what it needs of it in a second line.
    int run_point(size_t index, std::string &line) const
    {
        Json point = grid_.point(index);
        Outcome outcome = simulate(load(scenario_, common_, point), nullptr);
        Json result = {{"format", outcome.report["format"]}, {"point", point}};
        for (auto &[key, value] : outcome.report.items())
            if (key != "format")
                result[key] = value;
        line = analysis::dump(result) + "\n";
        if (summarised_)
            line += analysis::dump(analysis::sweep_values(result, metrics_)) + "\n";
        return outcome.status;
    }

    void take(JobResult &&result)
    {
        Json point = grid_.point(result.index);
        status_ = graver(status_, result.status);
        size_t end = result.output.find('\n');
        if (end == std::string::npos) {
            std::fprintf(stderr, "dmusim: sweep: point %s gave no result%s%s\n", analysis::dump(point).c_str(),
                         result.fault.empty() ? "" : ": ", result.fault.c_str());
            points_.push_back({std::move(point), nullptr});
            return;
        }
        output_.write(std::string_view(result.output).substr(0, end + 1));
        ++finished_;
        if (result.status != done)
            std::fprintf(stderr, "dmusim: sweep: point %s: exit status %d\n", analysis::dump(point).c_str(),
                         result.status);
        if (summarised_)
            points_.push_back({std::move(point), Json::parse(result.output.substr(end + 1), nullptr, false)});
    }

    // Beside the JSON Lines: on standard output where they went to a file, else on standard error.
    void summary()
    {
        if (!summarised_)
            return;
        bool to_stdout = !output_.is_stdout() && !common_.json;
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
    Output output_;
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
