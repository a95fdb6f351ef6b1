#include "analysis/sweep_view.h"

#include "analysis/metric.h"
#include "analysis/report_parts.h"

#include <algorithm>
#include <map>

namespace analysis {

SweepView::SweepView(const std::vector<Json> &results) : results_(results)
{
    std::vector<Json> seeds;
    for (const Json &result : results_) {
        for (const auto &[path, value] : member(result, "point").items()) {
            if (path == "seed") {
                if (std::find(seeds.begin(), seeds.end(), value) == seeds.end())
                    seeds.push_back(value);
                continue;
            }
            auto axis =
                std::find_if(axes_.begin(), axes_.end(), [&path = path](const Axis &one) { return one.path == path; });
            if (axis == axes_.end())
                axis = axes_.insert(axes_.end(), {path, {}, true});
            if (std::find(axis->values.begin(), axis->values.end(), value) == axis->values.end())
                axis->values.push_back(value);
            axis->numeric = axis->numeric && value.is_number() && value.get<double>() >= 0;
        }
    }
    seeds_ = std::max<size_t>(seeds.size(), 1);
}

std::vector<Line> SweepView::lines(const std::string &path, const std::string &metric) const
{
    struct Gathered {
        Json others;
        std::map<double, std::vector<double>> values;
    };
    std::vector<Gathered> gathered;
    std::map<std::string, size_t> index;
    for (const Json &result : results_) {
        Json others = result.value("point", Json::object());
        if (!others.contains(path) || !others[path].is_number())
            continue;
        MetricValue found = metric_value(result, metric);
        if (!found.value.is_number())
            continue;
        double x = others[path].get<double>();
        others.erase(path);
        others.erase("seed");
        auto [at, fresh] = index.emplace(dump(others), gathered.size());
        if (fresh)
            gathered.push_back({others, {}});
        gathered[at->second].values[x].push_back(found.value.get<double>());
    }
    std::vector<Line> lines;
    for (Gathered &one : gathered) {
        Line line{one.others, {}};
        for (auto &[x, values] : one.values) {
            std::sort(values.begin(), values.end());
            double median = (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
            line.spots.push_back({x, values.front(), median, values.back(), values.size()});
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

} // namespace analysis
