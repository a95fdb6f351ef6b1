#include "analysis/sweep_summary.h"

#include "analysis/growth_fit.h"
#include "analysis/metric.h"
#include "analysis/scaling_fit.h"
#include "analysis/sensitivity.h"

#include <algorithm>
#include <map>

namespace analysis {

namespace {

constexpr size_t rows_shown = 200; // of the table; every point is in the JSON Lines

std::string value_text(const Json &value)
{
    return value.is_string() ? escaped(value.get<std::string>()) : value.is_number() ? number_text(value) : dump(value);
}

// The metrics that a sweep's table shows when none were asked for: how fast, and what a histogram counts.
std::vector<std::string> usual_metrics(const Json &result)
{
    std::vector<std::string> metrics;
    for (const auto &[name, op] : result["ops"].items())
        metrics.push_back("ops." + name + ".per_s");
    for (const auto &[name, histogram] : result["histograms"].items()) {
        std::string function = name.substr(0, name.find(' '));
        std::string metric = "counters." + function;
        if (result["counters"].contains(function) && std::find(metrics.begin(), metrics.end(), metric) == metrics.end())
            metrics.push_back(metric);
    }
    return metrics;
}

class Summary {
public:
    Summary(const Grid &grid, const std::vector<SweepPoint> &points, const std::vector<std::string> &metrics,
            Style style)
        : grid_(grid), points_(points), metrics_(metrics), style_(style)
    {
        for (const SweepPoint &point : points_)
            if (metrics_.empty() && point.values.is_object())
                metrics_ = point.values["usual"].get<std::vector<std::string>>();
    }

    std::string text()
    {
        table();
        for (const Axis &axis : grid_.axes())
            if (axis.path == "seed")
                spread();
            else if (axis.path == "machine.cpus")
                scaling(axis);
            else if (axis.path.starts_with("params.") || axis.path.starts_with("workload."))
                growth(axis);
            else
                sensitivity(axis);
        return std::move(out_);
    }

private:
    void table()
    {
        std::vector<Table::Column> columns;
        for (const Axis &axis : grid_.axes())
            columns.push_back({escaped(axis.path)});
        for (const std::string &metric : metrics_)
            columns.push_back({escaped(metric)});
        Table table(columns);
        for (size_t i = 0; i < std::min(points_.size(), rows_shown); ++i) {
            std::vector<std::string> cells;
            for (const Axis &axis : grid_.axes())
                cells.push_back(value_text(points_[i].point[axis.path]));
            for (const std::string &metric : metrics_)
                cells.push_back(points_[i].values.is_object() ? number_text(points_[i].values.value(metric, Json()))
                                                              : "failed");
            table.row(std::move(cells));
        }
        out_ += style_.heading("Sweep, " + grouped(points_.size()) + " points") + "\n" + table.text();
        if (points_.size() > rows_shown)
            out_ += "  and " + grouped(points_.size() - rows_shown) + " more\n";
    }

    // Points that differ in the axis alone, in the order of first appearance.
    std::vector<std::pair<Json, std::vector<const SweepPoint *>>> lines_along(const std::string &path) const
    {
        std::vector<std::pair<Json, std::vector<const SweepPoint *>>> lines;
        std::map<std::string, size_t> index;
        for (const SweepPoint &point : points_) {
            if (!point.values.is_object())
                continue;
            Json others = point.point;
            others.erase(path);
            auto [found, fresh] = index.emplace(dump(others), lines.size());
            if (fresh)
                lines.push_back({others, {}});
            lines[found->second].second.push_back(&point);
        }
        return lines;
    }

    static std::string others_text(const Json &others)
    {
        std::string text;
        for (const auto &[path, value] : others.items())
            text += ", " + escaped(path) + " = " + value_text(value);
        return text;
    }

    void spread()
    {
        for (auto &[others, line] : lines_along("seed")) {
            Table table({{"metric", Table::left}, {"least"}, {"median"}, {"most"}, {"spread"}});
            for (const std::string &metric : metrics_) {
                std::vector<double> values;
                for (const SweepPoint *point : line)
                    if (Json value = point->values.value(metric, Json()); value.is_number())
                        values.push_back(value.get<double>());
                if (values.empty())
                    continue;
                std::sort(values.begin(), values.end());
                double median = (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
                table.row({escaped(metric), number_text(values.front()), number_text(median),
                           number_text(values.back()), percent_text(values.back() - values.front(), median)});
            }
            out_ += "\n" + style_.heading("Spread over " + grouped(line.size()) + " seeds" + others_text(others)) +
                    "\n" + table.text();
        }
    }

    void growth(const Axis &axis)
    {
        constexpr size_t values_min = 3; // a line through two points always fits
        if (axis.values.size() < values_min)
            return;
        for (const Json &value : axis.values)
            if (!value.is_number() || value.get<double>() <= 0)
                return;
        for (auto &[others, line] : lines_along(axis.path)) {
            line = sorted(axis.path, std::move(line));
            out_ += "\n" + style_.heading("Growth over n = " + escaped(axis.path) + others_text(others)) + "\n";
            Table table({{"metric", Table::left}, {"growth", Table::left}});
            std::map<std::string, std::string> classes;
            for (const std::string &metric : metrics_)
                if (std::string words = words_for(axis.path, line, metric, nullptr); !words.empty())
                    table.row({escaped(metric), words});
            for (const auto &[metric, value] : line.back()->values.items()) {
                std::string verdict;
                if (std::find(metrics_.begin(), metrics_.end(), metric) != metrics_.end() ||
                    words_for(axis.path, line, metric, &verdict).empty())
                    continue;
                std::string &list = classes[verdict];
                list +=
                    (list.empty() ? "" : ", ") + escaped(metric.starts_with("counters.") ? metric.substr(9) : metric);
            }
            out_ += table.text();
            for (const auto &[verdict, list] : classes)
                out_ += "  " + verdict + ": " + list + "\n";
        }
    }

    // A tunable is no size: how far each figure moves, and where it settles.
    void sensitivity(const Axis &axis)
    {
        for (const Json &value : axis.values)
            if (!value.is_number() || axis.values.size() < 2)
                return;
        for (auto &[others, line] : lines_along(axis.path)) {
            line = sorted(axis.path, std::move(line));
            Table table({{"figure", Table::left}, {"as it is varied", Table::left}});
            std::vector<std::string> metrics = metrics_;
            for (const auto &[metric, value] : line.back()->values.items())
                if ((metric.starts_with("allocator.") || metric == "counters.visits") &&
                    std::find(metrics.begin(), metrics.end(), metric) == metrics.end())
                    metrics.push_back(metric);
            for (const std::string &metric : metrics) {
                std::map<double, std::vector<double>> by_value; // several: seeds
                for (const SweepPoint *point : line)
                    if (Json value = point->values.value(metric, Json()); value.is_number())
                        by_value[point->point[axis.path].get<double>()].push_back(value.get<double>());
                std::vector<Spot> spots;
                for (auto &[x, values] : by_value) {
                    std::sort(values.begin(), values.end());
                    spots.push_back({x, values.front(),
                                     (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2, values.back(),
                                     values.size()});
                }
                if (spots.size() >= 2)
                    table.row({escaped(metric), sensitivity_words(spots)});
            }
            out_ += "\n" + style_.heading("Sensitivity to " + escaped(axis.path) + others_text(others)) + "\n" +
                    table.text();
        }
    }

    void scaling(const Axis &axis)
    {
        if (axis.values.size() < 2)
            return;
        for (auto &[others, line] : lines_along(axis.path)) {
            Table table({{"metric", Table::left}, {"scaling", Table::left}});
            for (const std::string &metric : metrics_) {
                std::vector<double> cpus, rates;
                for (const SweepPoint *point : sorted(axis.path, line))
                    if (Json rate = point->values.value(metric, Json()); rate.is_number() && rate > 0) {
                        cpus.push_back(point->point[axis.path].get<double>());
                        rates.push_back(rate.get<double>());
                    }
                if (metric.ends_with(".per_s") && cpus.size() >= 2)
                    table.row({escaped(metric), scaling_words(fit_scaling(cpus, rates))});
            }
            if (!table.empty())
                out_ += "\n" + style_.heading("Throughput over CPUs" + others_text(others)) + "\n" + table.text();
        }
    }

    static std::vector<const SweepPoint *> sorted(const std::string &path, std::vector<const SweepPoint *> line)
    {
        std::stable_sort(line.begin(), line.end(), [&](const SweepPoint *left, const SweepPoint *right) {
            return left->point[path].get<double>() < right->point[path].get<double>();
        });
        return line;
    }

    static std::string words_for(const std::string &path, const std::vector<const SweepPoint *> &line,
                                 const std::string &metric, std::string *verdict)
    {
        std::vector<double> x, y;
        for (const SweepPoint *point : line) {
            Json value = point->values.value(metric, Json());
            double here = point->point[path].get<double>();
            if (!value.is_number() || value.get<double>() <= 0 || (!x.empty() && x.back() == here))
                continue;
            x.push_back(here);
            y.push_back(value.get<double>());
        }
        if (x.size() < 2)
            return {};
        GrowthFit fit = fit_growth(x, y);
        if (verdict != nullptr)
            *verdict = growth_class(fit.tendency);
        return growth_words(fit);
    }

    const Grid &grid_;
    const std::vector<SweepPoint> &points_;
    std::vector<std::string> metrics_;
    Style style_;
    std::string out_;
};

} // namespace

Json sweep_values(const Json &result, const std::vector<std::string> &metrics)
{
    Json values = {{"usual", usual_metrics(result)},
                   {"simulated_ns", result["simulated_ns"]},
                   {"cpu.busy_ns", result["cpu"]["busy_ns"]}};
    for (const auto &[name, op] : result["ops"].items()) {
        values["ops." + name + ".count"] = op["count"];
        values["ops." + name + ".per_s"] = op["per_s"];
    }
    for (const auto &[name, value] : result["counters"].items())
        if (value != 0)
            values["counters." + name] = value;
    for (const std::string &metric : sensitivity_metrics(result))
        if (!values.contains(metric))
            values[metric] = metric_value(result, metric).value;
    for (const std::string &metric : metrics)
        values[metric] = metric_value(result, metric).value;
    return values;
}

std::string sweep_text(const Grid &grid, const std::vector<SweepPoint> &points, const std::vector<std::string> &metrics,
                       Style style)
{
    return Summary(grid, points, metrics, style).text();
}

} // namespace analysis
