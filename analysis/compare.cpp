#include "analysis/compare.h"

#include "analysis/metric.h"
#include "analysis/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <stdexcept>

namespace analysis {

namespace {

// Results that differ in nothing but the seed.
struct Group {
    Json point; // without the seed
    std::vector<const Json *> results;
};

std::vector<Group> group(const std::vector<Json> &results)
{
    std::vector<Group> groups;
    std::map<std::string, size_t> index;
    for (const Json &result : results) {
        Json point = result.value("point", Json::object());
        point.erase("seed");
        auto [found, fresh] = index.emplace(dump(point), groups.size());
        if (fresh)
            groups.push_back({point, {}});
        groups[found->second].results.push_back(&result);
    }
    return groups;
}

struct Range {
    double least = 0, median = 0, most = 0;
};

Range range(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return {values.front(), (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2, values.back()};
}

double number(const Json &value)
{
    return value.is_number() ? value.get<double>() : 0;
}

// name -> value, for one result.
using Values = std::map<std::string, double>;
using Extract = Values (*)(const Json &result);

double operations(const Json &result)
{
    double count = 0;
    for (const auto &[name, op] : result["ops"].items())
        count += number(op["count"]);
    return count > 0 ? count : 1;
}

Values throughput(const Json &result)
{
    Values values;
    for (const auto &[name, op] : result["ops"].items())
        values[name] = number(op["per_s"]);
    return values;
}

Values latency(const Json &result)
{
    Values values;
    for (const auto &[name, op] : result["ops"].items())
        for (const char *quantile : {"p50", "p99"})
            values[name + " " + quantile] = number(op["latency_ns"][quantile]);
    return values;
}

Values functions(const Json &result)
{
    Values values;
    for (const Json &function : result["cpu"]["functions"])
        values[function["name"].get<std::string>()] = number(function["self_ns"]) / operations(result);
    return values;
}

Values locks(const Json &result)
{
    Values values;
    for (const Json &lock : result["locks"])
        values[lock["class"].get<std::string>()] = number(lock["wait_ns"]["total"]) / operations(result);
    return values;
}

Values counters(const Json &result)
{
    Values values;
    for (const auto &[name, count] : result["counters"].items())
        values[name] = number(count) / operations(result);
    return values;
}

Values histograms(const Json &result)
{
    Values values;
    for (const auto &[name, histogram] : result["histograms"].items())
        for (const Json &row : histogram["rows"])
            values[name + " [" + dump(row[0]) + "]"] = number(row[1]);
    return values;
}

struct Section {
    const char *key;
    Extract extract;
};
const Section sections[] = {{"throughput", throughput}, {"latency", latency},   {"functions", functions},
                            {"locks", locks},           {"counters", counters}, {"histograms", histograms}};

std::map<std::string, std::vector<double>> collect(const Group &group, Extract extract,
                                                   const std::map<std::string, int> &names)
{
    std::map<std::string, std::vector<double>> values;
    for (const Json *result : group.results) {
        Values one = extract(*result);
        for (const auto &[name, unused] : names) // what one run lacks counts 0 there
            values[name].push_back(one.count(name) > 0 ? one[name] : 0);
    }
    return values;
}

Json compare_section(const Section &section, const Group &before, const Group &after)
{
    std::map<std::string, int> names;
    for (const Group *side : {&before, &after})
        for (const Json *result : side->results)
            for (const auto &[name, value] : section.extract(*result))
                names[name] = 0;
    auto left = collect(before, section.extract, names), right = collect(after, section.extract, names);
    struct Row {
        std::string name;
        Range before, after;
    };
    std::vector<Row> rows;
    for (const auto &[name, unused] : names) {
        Row row{name, range(left[name]), range(right[name])};
        if (four_digits(row.before.median) != four_digits(row.after.median))
            rows.push_back(row);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) {
        return std::fabs(a.after.median - a.before.median) > std::fabs(b.after.median - b.before.median);
    });
    Json list = Json::array();
    for (const Row &row : rows) {
        Json one = {
            {"name", row.name}, {"before", four_digits(row.before.median)}, {"after", four_digits(row.after.median)}};
        one["ratio"] = row.before.median == 0 ? Json() : four_digits(row.after.median / row.before.median);
        if (before.results.size() > 1 || after.results.size() > 1) {
            one["before_spread"] = {four_digits(row.before.least), four_digits(row.before.most)};
            one["after_spread"] = {four_digits(row.after.least), four_digits(row.after.most)};
            one["within_spread"] = row.before.least <= row.after.most && row.after.least <= row.before.most;
        }
        list.push_back(std::move(one));
    }
    return list;
}

void flatten(const Json &value, const std::string &path, std::map<std::string, Json> &leaves)
{
    if (value.is_structured() && !value.empty()) {
        for (const auto &[key, inner] : value.items())
            flatten(inner, path.empty() ? key : path + "." + key, leaves);
        return;
    }
    leaves[path] = value;
}

// Varied paths are not listed here: they are in the points.
Json compare_inputs(const Json &before, const Json &after)
{
    std::map<std::string, Json> left, right;
    flatten(before["scenario"], "", left);
    flatten(after["scenario"], "", right);
    Json changes = Json::array();
    std::map<std::string, int> paths;
    for (const auto *side : {&left, &right})
        for (const auto &[path, value] : *side)
            paths[path] = 0;
    for (const auto &[path, unused] : paths) {
        if (path.starts_with("expect") || before.value("point", Json::object()).contains(path))
            continue;
        Json from = left.count(path) > 0 ? left[path] : Json(), to = right.count(path) > 0 ? right[path] : Json();
        if (from != to)
            changes.push_back({{"path", path}, {"before", from}, {"after", to}});
    }
    if (before["version"] != after["version"])
        changes.push_back(
            {{"path", "(version of dmusim)"}, {"before", before["version"]}, {"after", after["version"]}});
    return changes;
}

const Group *find(const std::vector<Group> &groups, const Json &point)
{
    for (const Group &group : groups)
        if (group.point == point)
            return &group;
    return nullptr;
}

} // namespace

Json compare_results(const std::vector<Json> &before, const std::vector<Json> &after)
{
    std::vector<Group> left = group(before), right = group(after);
    Json comparison = {{"format", "dmusim-compare-1"}, {"inputs", compare_inputs(before[0], after[0])}};
    Json points = Json::array(), unmatched = Json::array();
    // Two single runs are a pair whatever was varied; sweeps pair their points.
    bool pair = left.size() == 1 && right.size() == 1;
    for (const Group &from : left) {
        const Group *to = pair ? &right[0] : find(right, from.point);
        if (to == nullptr) {
            unmatched.push_back({{"side", "before"}, {"point", from.point}});
            continue;
        }
        Json one = {{"point", from.point}, {"runs", {from.results.size(), to->results.size()}}};
        for (const Section &section : sections)
            one[section.key] = compare_section(section, from, *to);
        points.push_back(std::move(one));
    }
    for (const Group &to : right)
        if (!pair && find(left, to.point) == nullptr)
            unmatched.push_back({{"side", "after"}, {"point", to.point}});
    comparison["points"] = std::move(points);
    comparison["unmatched"] = std::move(unmatched);
    return comparison;
}

Guard parse_guard(const std::string &text)
{
    Guard guard;
    guard.text = text;
    size_t sign = text.find_last_of("<>");
    if (sign == std::string::npos || sign == 0)
        throw std::invalid_argument(escaped(text) + " is not METRIC>LIMIT or METRIC<LIMIT, with % for a change");
    guard.metric = text.substr(0, sign);
    while (guard.metric.ends_with(' '))
        guard.metric.pop_back();
    guard.above = text[sign] == '>';
    std::string limit = text.substr(sign + 1);
    limit.erase(0, limit.find_first_not_of(' '));
    if (limit.ends_with('%')) {
        guard.percent = true;
        limit.pop_back();
    }
    auto [end, error] = std::from_chars(limit.data(), limit.data() + limit.size(), guard.limit);
    if (limit.empty() || error != std::errc() || end != limit.data() + limit.size())
        throw std::invalid_argument(escaped(text) + ": the limit is not a number");
    if (std::string problem = metric_problem(guard.metric); !problem.empty())
        throw std::invalid_argument(escaped(text) + ": " + problem);
    return guard;
}

std::vector<std::string> guard_strikes(const Guard &guard, const std::vector<Json> &before,
                                       const std::vector<Json> &after)
{
    auto median = [&](const Group &group, std::string &problem) {
        std::vector<double> values;
        for (const Json *result : group.results) {
            MetricValue found = metric_value(*result, guard.metric);
            if (!found.problem.empty())
                problem = found.problem;
            values.push_back(number(found.value));
        }
        return range(values).median;
    };
    std::vector<std::string> strikes;
    std::vector<Group> left = group(before), right = group(after);
    bool pair = left.size() == 1 && right.size() == 1;
    for (const Group &from : left) {
        const Group *to = pair ? &right[0] : find(right, from.point);
        if (to == nullptr)
            continue;
        std::string problem, where = from.point.empty() ? "" : " at " + escaped(dump(from.point));
        double old_value = median(from, problem), new_value = median(*to, problem);
        if (!problem.empty()) {
            strikes.push_back(guard.text + where + ": " + problem);
            continue;
        }
        double measured = new_value;
        if (guard.percent)
            measured = old_value != 0   ? (new_value / old_value - 1) * 100
                       : new_value == 0 ? 0
                       : new_value > 0  ? INFINITY
                                        : -INFINITY;
        if (guard.above ? measured > guard.limit : measured < guard.limit)
            strikes.push_back(guard.text + where + ": before " + number_text(four_digits(old_value)) + ", after " +
                              number_text(four_digits(new_value)));
    }
    return strikes;
}

} // namespace analysis
