#include "analysis/report_model.h"

#include "analysis/expectation.h"
#include "analysis/report_parts.h"
#include "analysis/sweep_view.h"
#include "sim/verify.h"

#include <algorithm>

namespace analysis {

namespace {

constexpr size_t expectations_shown = 60;

std::string lead_of(const Json &result)
{
    const Json &scenario = member(result, "scenario"), &machine = member(scenario, "machine"),
               &code = member(scenario, "code");
    std::string lead = shown(member(machine, "cpus")) + " CPUs, profile " + shown(member(machine, "profile")) +
                       ", era " + shown(member(code, "era")) + ", object_alloc " + shown(member(code, "object_alloc")) +
                       ", tx_hold_zap " + shown(member(code, "tx_hold_zap")) + ", seed " +
                       shown(member(scenario, "seed")) + "; measured " + duration_text(member(result, "simulated_ns")) +
                       " of simulated time. ";
    if (const Json &text = member(scenario, "description"); text.is_string())
        lead += shown(text);
    return lead;
}

// A sweep over two values that are no numbers, such as a code choice, is a before and after of its own.
bool compare_halves(Report &report, const std::vector<Json> &results)
{
    SweepView view(results);
    for (const SweepView::Axis &axis : view.axes()) {
        if (axis.numeric || axis.values.size() != 2)
            continue;
        std::vector<Json> sides[2];
        for (const Json &result : results) {
            Json copy = result;
            copy["point"].erase(axis.path);
            sides[result["point"].value(axis.path, Json()) == axis.values[0] ? 0 : 1].push_back(std::move(copy));
        }
        add_comparison(report, sides[0], sides[1]);
        return true;
    }
    return false;
}

} // namespace

void add_verdict(Report &report, const std::vector<const Json *> &results)
{
    Section section{"expectations", "Expectations", {}, {}};
    ReportTable table{
        "",
        {{"", Table::left}, {"metric", Table::left}, {"value"}, {"wanted", Table::left}, {"because", Table::left}},
        {},
        0};
    size_t judged = 0, held = 0, incomplete = 0;
    bool points = false;
    for (const Json *result : results)
        points = points || !member(*result, "point").empty();
    if (points)
        table.columns.push_back({"point", Table::left});
    for (bool good : {false, true}) // what did not hold comes first
        for (const Json *result : results)
            for (const Json &one : member(*result, "expect")) {
                bool held_here = member(one, "held") == true;
                if (held_here != good)
                    continue;
                ++judged;
                held += held_here ? 1 : 0;
                if (table.rows.size() == expectations_shown) {
                    ++table.rows_left_out;
                    continue;
                }
                std::string metric = shown(member(one, "metric"));
                if (one.contains("problem"))
                    metric += " (" + shown(one["problem"]) + ")";
                table.rows.push_back({held_here ? "held" : "NOT HELD", metric, number_text(member(one, "value")),
                                      escaped(bounds_text(one)), one.contains("because") ? shown(one["because"]) : "",
                                      point_text(member(*result, "point"))});
            }
    for (const Json *result : results) {
        if (member(*result, "complete") == true)
            continue;
        ++incomplete;
        if (section.paragraphs.size() < expectations_shown) {
            std::string ending = "Incomplete: " + shown(member(*result, "end"));
            for (const Json &line : member(*result, "ending"))
                ending += "; " + shown(line);
            section.paragraphs.push_back(ending);
        }
    }
    Verdict &verdict = report.verdict;
    verdict.any = judged > 0 || incomplete > 0;
    verdict.good = held == judged && incomplete == 0;
    if (judged > 0)
        verdict.words = held == judged
                            ? "Every expectation held (" + grouped(judged) + ")."
                            : grouped(judged - held) + " of " + grouped(judged) + " expectations did not hold.";
    if (incomplete > 0)
        verdict.words += std::string(verdict.words.empty() ? "" : " ") + grouped(incomplete) + " of " +
                         grouped(results.size()) + " runs did not come to their end.";
    if (!verdict.any)
        return;
    if (!table.rows.empty()) {
        Figure figure{"Each expectation", "", nullptr, {}, "", {}, true};
        figure.tables.push_back(std::move(table));
        section.figures.push_back(std::move(figure));
    }
    report.sections.push_back(std::move(section));
}

Report make_report(const std::vector<std::vector<Json>> &inputs, const ReportOptions &options)
{
    VERIFY(!inputs.empty());
    std::vector<const Json *> results;
    for (const std::vector<Json> &input : inputs)
        for (const Json &result : input)
            results.push_back(&result);
    const std::vector<Json> &last = inputs.back();
    const Json &detailed = options.detailed == 0 ? last.back() : last[options.detailed - 1];

    Report report;
    report.title = name_text(member(member(detailed, "scenario"), "name"));
    report.lead = lead_of(detailed);
    add_verdict(report, results);
    bool compared = inputs.size() == 2;
    if (compared)
        add_comparison(report, inputs[0], inputs[1]);
    else if (inputs.size() == 1 && last.size() > 1)
        compare_halves(report, last);
    if (compared) {
        Section flames{"flames-before-after", "Flame graphs before and after", {}, {}};
        const Json &before = inputs[0].size() == last.size() ? inputs[0][static_cast<size_t>(&detailed - last.data())]
                                                             : inputs[0].back();
        for (bool wait : {false, true}) {
            flames.figures.push_back(flame_figure(before, wait, "before"));
            flames.figures.push_back(flame_figure(detailed, wait, "after"));
        }
        report.sections.push_back(std::move(flames));
    }
    std::vector<Json> pool; // several files of single runs, or one sweep: curves over what was varied
    for (const std::vector<Json> &input : inputs)
        if (!compared)
            pool.insert(pool.end(), input.begin(), input.end());
    if (compared && last.size() > 1)
        pool = last;
    if (pool.size() > 1)
        add_sweep_sections(report, pool);
    if (results.size() > 1) {
        std::string where = point_text(member(detailed, "point"));
        report.sections.push_back(
            {"detail",
             "One run in detail",
             {"The sections from here on show one run" + (where.empty() ? std::string() : ": " + where) +
              (compared ? ", after." : ".") + " Another one of the file is shown with --line N."},
             {}});
    }
    add_run_sections(report, detailed);
    return report;
}

} // namespace analysis
