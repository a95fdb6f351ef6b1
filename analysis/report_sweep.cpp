// The sections that a sweep fills: throughput over CPUs, growth with a fitted slope, sensitivity to a tunable, spread
// over seeds.
#include "analysis/growth_fit.h"
#include "analysis/metric.h"
#include "analysis/report_charts.h"
#include "analysis/report_model.h"
#include "analysis/report_parts.h"
#include "analysis/scaling_fit.h"
#include "analysis/sensitivity.h"
#include "analysis/sweep_view.h"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

constexpr size_t series_max = 6; // as many as have dashes and marks of their own
constexpr size_t points_shown = 60;

std::string line_name(const Line &line)
{
    std::string name = point_text(line.others);
    return name.empty() ? "all" : name;
}

std::string figure_name(const std::string &metric)
{
    if (metric.starts_with("ops.") && metric.ends_with(".per_s"))
        return metric.substr(4, metric.size() - 10) + ", per simulated second";
    return metric;
}

std::vector<std::string> rates(const SweepView &view)
{
    std::vector<std::string> metrics;
    for (const Json &result : view.results())
        for (const auto &[name, op] : member(result, "ops").items())
            if (std::string metric = "ops." + name + ".per_s";
                std::find(metrics.begin(), metrics.end(), metric) == metrics.end())
                metrics.push_back(metric);
    return metrics;
}

std::vector<ChartPoint> points_of(const std::vector<Line> &lines, const std::vector<std::string> &names)
{
    std::vector<ChartPoint> points;
    for (size_t i = 0; i < std::min(lines.size(), series_max); ++i)
        for (const Spot &spot : lines[i].spots)
            points.push_back({names[i], spot.x, spot.median, spot.least, spot.most});
    return points;
}

std::vector<double> ticks_of(const std::vector<Line> &lines)
{
    std::vector<double> ticks;
    for (const Line &line : lines)
        for (const Spot &spot : line.spots)
            if (std::find(ticks.begin(), ticks.end(), spot.x) == ticks.end())
                ticks.push_back(spot.x);
    std::sort(ticks.begin(), ticks.end());
    return ticks;
}

ReportTable spots_table(const std::string &path, const std::vector<Line> &lines, bool spread)
{
    ReportTable table{"", {{escaped(path)}}, {}, 0};
    for (const Line &line : lines)
        table.columns.push_back({line_name(line)});
    for (double x : ticks_of(lines)) {
        std::vector<std::string> row = {number_text(varied_value(x))};
        for (const Line &line : lines) {
            std::string cell = "-";
            for (const Spot &spot : line.spots)
                if (spot.x == x) {
                    cell = number_text(four_digits(spot.median));
                    if (spread)
                        cell += " (" + number_text(four_digits(spot.least)) + " to " +
                                number_text(four_digits(spot.most)) + ")";
                }
            row.push_back(cell);
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

std::vector<std::string> names_of(const std::vector<Line> &lines)
{
    std::vector<std::string> names;
    for (const Line &line : lines)
        names.push_back(line_name(line));
    return names;
}

void say_left_out(Figure &figure, const std::vector<Line> &lines)
{
    if (lines.size() > series_max)
        figure.words += " Of " + std::to_string(lines.size()) + " curves the first " + std::to_string(series_max) +
                        " are drawn; the table has them all.";
}

void add_scaling(Report &report, const SweepView &view, const SweepView::Axis &axis)
{
    Section section{"scaling", "Throughput over CPUs", {}, {}};
    for (const std::string &metric : rates(view)) {
        std::vector<Line> lines = view.lines(axis.path, metric);
        if (lines.empty())
            continue;
        Figure figure{escaped(figure_name(metric)), "", nullptr, {}, "", {}, true};
        ReportTable verdicts{"", {{"curve", Table::left}, {"scaling", Table::left}}, {}, 0};
        for (const Line &line : lines) {
            std::vector<double> cpus, values;
            for (const Spot &spot : line.spots)
                if (spot.median > 0 && spot.x > 0) {
                    cpus.push_back(spot.x);
                    values.push_back(spot.median);
                }
            if (cpus.size() < 2)
                continue;
            ScalingFit fit = fit_scaling(cpus, values);
            verdicts.rows.push_back({line_name(line), scaling_words(fit)});
            figure.words += (figure.words.empty() ? "" : " ") + line_name(line) + ": most at " +
                            digits_text(fit.peak_cpus, 1) + " CPUs, " + number_text(four_digits(fit.peak_rate)) +
                            " a second" +
                            (fit.peak_cpus < cpus.back() ? ", then " + percent_text(values.back(), fit.peak_rate) +
                                                               " of that at " + digits_text(cpus.back(), 1) + "."
                                                         : ".");
        }
        say_left_out(figure, lines);
        figure.chart =
            line_chart(figure.words, points_of(lines, names_of(lines)), {},
                       {"simulated CPUs", true, "d", ticks_of(lines)}, {escaped(figure_name(metric)), false, "~s", {}});
        figure.tables.push_back(spots_table(axis.path, lines, view.seeds() > 1));
        figure.tables.push_back(std::move(verdicts));
        section.figures.push_back(std::move(figure));
    }
    if (!section.figures.empty())
        report.sections.push_back(std::move(section));
}

// What a search costs and how long it all took: counters that a histogram is kept of, and CPU time.
std::vector<std::string> growth_metrics(const SweepView &view)
{
    std::vector<std::string> metrics = {"cpu.busy_ns"};
    const Json &last = view.results().back();
    for (const auto &[name, histogram] : member(last, "histograms").items()) {
        std::string function = name.substr(0, name.find(' ')), metric = "counters." + function;
        if (member(last, "counters").contains(function) &&
            std::find(metrics.begin(), metrics.end(), metric) == metrics.end())
            metrics.push_back(metric);
    }
    return metrics;
}

void add_growth(Report &report, const SweepView &view, const SweepView::Axis &axis)
{
    constexpr size_t spots_min = 3; // a line through two points always fits
    Section section{"growth-" + std::to_string(report.sections.size()), "Growth over " + escaped(axis.path), {}, {}};
    for (const std::string &metric : growth_metrics(view)) {
        std::vector<Line> lines = view.lines(axis.path, metric);
        for (Line &line : lines)
            std::erase_if(line.spots, [](const Spot &spot) { return spot.median <= 0 || spot.x <= 0; });
        std::erase_if(lines, [](const Line &line) { return line.spots.size() < spots_min; });
        if (lines.empty())
            continue;
        Figure figure{escaped(metric), "", nullptr, {}, "", {}, false};
        ReportTable verdicts{"", {{"curve", Table::left}, {"growth", Table::left}}, {}, 0};
        std::vector<std::string> names;
        std::vector<ChartTrend> trends;
        for (const Line &line : lines) {
            std::vector<double> x, y;
            double log_x = 0, log_y = 0;
            for (const Spot &spot : line.spots) {
                x.push_back(spot.x);
                y.push_back(spot.median);
                log_x += std::log(spot.x);
                log_y += std::log(spot.median);
            }
            GrowthFit fit = fit_growth(x, y);
            auto count = static_cast<double>(x.size());
            auto at = [&](double where) {
                return std::exp(log_y / count + fit.exponent * (std::log(where) - log_x / count));
            };
            names.push_back(line_name(line) + ": slope " + digits_text(fit.exponent, 3) + ", " +
                            growth_class(fit.tendency));
            if (trends.size() < series_max)
                trends.push_back({names.back(), x.front(), at(x.front()), x.back(), at(x.back())});
            verdicts.rows.push_back({line_name(line), growth_words(fit)});
            figure.words += (figure.words.empty() ? "" : " ") + line_name(line) + ": " + growth_class(fit.tendency) +
                            ", fitted slope " + digits_text(fit.exponent, 4) +
                            (line.spots.size() > 2 ? " +- " + digits_text(fit.error, 2) : "") + ".";
        }
        say_left_out(figure, lines);
        figure.chart = line_chart(figure.words, points_of(lines, names), trends,
                                  {escaped(axis.path), true, "~s", ticks_of(lines)}, {escaped(metric), true, "~s", {}});
        figure.tables.push_back(spots_table(axis.path, lines, view.seeds() > 1));
        figure.tables.push_back(std::move(verdicts));
        section.figures.push_back(std::move(figure));
    }
    if (section.figures.empty())
        return;
    section.paragraphs.push_back(
        "Both axes are logarithmic; points are measured, lines are the fitted slope: 1 is O(n), 2 is O(n^2).");
    report.sections.push_back(std::move(section));
}

void add_sensitivity(Report &report, const SweepView &view, const SweepView::Axis &axis)
{
    Section section{
        "sensitivity-" + std::to_string(report.sections.size()), "Sensitivity to " + escaped(axis.path), {}, {}};
    ReportTable still{"", {{"figure", Table::left}, {"value"}}, {}, 0};
    for (const std::string &metric : sensitivity_metrics(view.results().back())) {
        std::vector<Line> lines = view.lines(axis.path, metric);
        std::erase_if(lines, [](const Line &line) { return line.spots.size() < 2; });
        bool moves =
            std::any_of(lines.begin(), lines.end(), [](const Line &line) { return sensitivity(line.spots).moves; });
        if (lines.empty())
            continue;
        if (!moves) {
            still.rows.push_back(
                {escaped(figure_name(metric)), number_text(four_digits(lines[0].spots.back().median))});
            continue;
        }
        Figure figure{escaped(figure_name(metric)), "", nullptr, {}, "", {}, false};
        for (const Line &line : lines)
            figure.words += (figure.words.empty() ? "" : " ") + (lines.size() > 1 ? line_name(line) + " " : "It ") +
                            sensitivity_words(line.spots) + ".";
        say_left_out(figure, lines);
        figure.chart = line_chart(figure.words, points_of(lines, names_of(lines)), {},
                                  {escaped(axis.path), true, "~s", ticks_of(lines)},
                                  {escaped(figure_name(metric)), false, "~s", {}});
        figure.tables.push_back(spots_table(axis.path, lines, view.seeds() > 1));
        section.figures.push_back(std::move(figure));
    }
    if (!still.rows.empty()) {
        Figure figure{"What does not depend on it", "", nullptr, {}, "", {}, false};
        figure.words = "These figures stay within 1 % while " + escaped(axis.path) + " is varied.";
        figure.tables.push_back(std::move(still));
        section.figures.push_back(std::move(figure));
    }
    if (!section.figures.empty())
        report.sections.push_back(std::move(section));
}

void add_spread(Report &report, const SweepView &view)
{
    Section section{"spread", "Spread over " + std::to_string(view.seeds()) + " seeds", {}, {}};
    for (const std::string &metric : rates(view)) {
        ReportTable table{"", {{"point", Table::left}, {"least"}, {"median"}, {"most"}, {"spread"}}, {}, 0};
        std::vector<StripPoint> strip;
        struct Group {
            Json point;
            std::vector<double> values;
        };
        std::vector<Group> groups;
        for (const Json &result : view.results()) {
            Json point = result.value("point", Json::object());
            point.erase("seed");
            MetricValue found = metric_value(result, metric);
            if (!found.value.is_number())
                continue;
            auto group =
                std::find_if(groups.begin(), groups.end(), [&](const Group &one) { return one.point == point; });
            if (group == groups.end())
                group = groups.insert(groups.end(), {point, {}});
            group->values.push_back(found.value.get<double>());
        }
        double widest = 0;
        for (Group &group : groups) {
            std::sort(group.values.begin(), group.values.end());
            double least = group.values.front(), most = group.values.back();
            double median = (group.values[(group.values.size() - 1) / 2] + group.values[group.values.size() / 2]) / 2;
            widest = std::max(widest, median > 0 ? (most - least) / median : 0);
            std::string name = group.point.empty() ? "all" : point_text(group.point);
            table.rows.push_back({name, number_text(four_digits(least)), number_text(four_digits(median)),
                                  number_text(four_digits(most)), percent_text(most - least, median)});
            if (groups.size() <= 30)
                for (double value : group.values)
                    strip.push_back({name, value});
        }
        if (groups.empty())
            continue;
        Figure figure{escaped(figure_name(metric)),
                      "Each mark is one seed's run; the widest spread is " + percent_text(widest, 1) +
                          " of its median.",
                      nullptr,
                      {},
                      "",
                      {},
                      true};
        if (!strip.empty())
            figure.chart = strip_chart(figure.words, strip, {escaped(figure_name(metric)), false, "~s", {}});
        figure.tables.push_back(std::move(table));
        section.figures.push_back(std::move(figure));
    }
    if (!section.figures.empty())
        report.sections.push_back(std::move(section));
}

void add_points(Report &report, const SweepView &view)
{
    Section section{"points", "Points of the sweep", {}, {}};
    Figure figure{"Every point", "", nullptr, {}, "", {}, true};
    ReportTable table{"", {{"point", Table::left}}, {}, 0};
    std::vector<std::string> metrics = rates(view);
    for (const std::string &metric : metrics)
        table.columns.push_back({escaped(figure_name(metric))});
    table.columns.push_back({"expectations", Table::left});
    for (const Json &result : view.results()) {
        if (table.rows.size() == points_shown) {
            ++table.rows_left_out;
            continue;
        }
        std::vector<std::string> row = {point_text(result.value("point", Json::object()))};
        for (const std::string &metric : metrics)
            row.push_back(number_text(metric_value(result, metric).value));
        size_t held = 0;
        for (const Json &one : member(result, "expect"))
            held += member(one, "held") == true ? 1 : 0;
        row.push_back(member(result, "expect").empty()
                          ? ""
                          : std::to_string(held) + " of " + std::to_string(member(result, "expect").size()) + " held");
        table.rows.push_back(std::move(row));
    }
    figure.words = grouped(view.results().size()) + " runs.";
    figure.tables.push_back(std::move(table));
    section.figures.push_back(std::move(figure));
    report.sections.push_back(std::move(section));
}

} // namespace

void add_sweep_sections(Report &report, const std::vector<Json> &results)
{
    SweepView view(results);
    for (const SweepView::Axis &axis : view.axes()) {
        if (!axis.numeric || axis.values.size() < 2)
            continue;
        if (axis.path == "machine.cpus")
            add_scaling(report, view, axis);
        else if (axis.path.starts_with("params.") || axis.path.starts_with("workload."))
            add_growth(report, view, axis);
        else
            add_sensitivity(report, view, axis);
    }
    if (view.seeds() > 1)
        add_spread(report, view);
    add_points(report, view);
}

} // namespace analysis
