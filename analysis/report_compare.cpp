// Before and after: what the inputs differ in, throughput of every point, and where time and waiting moved.
#include "analysis/compare.h"
#include "analysis/report_charts.h"
#include "analysis/report_model.h"
#include "analysis/report_parts.h"

#include <algorithm>

namespace analysis {

namespace {

constexpr size_t pairs_shown = 12;
constexpr size_t rows_shown = 24;

std::string ratio_text(const Json &ratio)
{
    return ratio.is_number() ? digits_text(ratio.get<double>(), 3) + "x" : "new";
}

std::string value_text(const Json &value, bool time)
{
    return time ? duration_text(value) : number_text(value);
}

std::string spread_text(const Json &row)
{
    if (!row.contains("within_spread"))
        return "";
    return row["within_spread"] == true ? "within the spread" : "beyond the spread";
}

Figure changes(const Json &rows, const std::string &title, const std::string &unit, bool time, const std::string &axis,
               const std::string &where)
{
    Figure figure{title, "", nullptr, {}, "", {}, false};
    std::vector<ChartPair> pairs;
    ReportTable table{"",
                      {{unit, Table::left}, {"before"}, {"after"}, {"ratio"}},
                      {},
                      rows.size() > rows_shown ? rows.size() - rows_shown : 0};
    bool spread = !rows.empty() && rows[0].contains("within_spread");
    if (spread)
        table.columns.push_back({"", Table::left});
    for (size_t i = 0; i < std::min(rows.size(), rows_shown); ++i) {
        const Json &row = rows[i];
        std::string name = shown(member(row, "name")), before = value_text(member(row, "before"), time),
                    after = value_text(member(row, "after"), time);
        table.rows.push_back({name, before, after, ratio_text(member(row, "ratio")), spread_text(row)});
        double unit_ns = time ? 1e3 : 1;
        if (i < pairs_shown)
            pairs.push_back({name, number_of(member(row, "before")) / unit_ns,
                             number_of(member(row, "after")) / unit_ns, before, after});
    }
    const Json &first = rows[0];
    figure.words = "The largest change: " + shown(member(first, "name")) + ", " +
                   value_text(member(first, "before"), time) + " before, " + value_text(member(first, "after"), time) +
                   " after" + (where.empty() ? "" : " (" + where + ")") + ".";
    figure.chart = pair_chart(figure.words, pairs, {axis, false, ",~f", {}});
    figure.tables.push_back(std::move(table));
    return figure;
}

// Every point and operation in one figure, in grid order.
Figure throughput(const Json &points)
{
    Figure figure{"Throughput before and after", "", nullptr, {}, "", {}, true};
    std::vector<ChartPair> pairs;
    ReportTable table{"", {{"point, operation", Table::left}, {"before, 1/s"}, {"after, 1/s"}, {"ratio"}}, {}, 0};
    double least = 0, most = 0;
    for (const Json &point : points)
        for (const Json &row : member(point, "throughput")) {
            std::string where = point_text(member(point, "point"));
            // What tells one point from the next comes first: a narrow screen cuts the end off.
            std::string name = (where.empty() ? "" : where + ": ") + shown(member(row, "name"));
            table.rows.push_back({name, number_text(member(row, "before")), number_text(member(row, "after")),
                                  ratio_text(member(row, "ratio"))});
            double ratio = number_of(member(row, "ratio"));
            least = least == 0 ? ratio : std::min(least, ratio);
            most = std::max(most, ratio);
            if (pairs.size() < 2 * pairs_shown)
                pairs.push_back({name, number_of(member(row, "before")), number_of(member(row, "after")),
                                 number_text(member(row, "before")),
                                 number_text(member(row, "after")) + " (" + ratio_text(member(row, "ratio")) + ")"});
        }
    if (pairs.empty()) {
        figure.words = "Throughput did not change.";
        return figure;
    }
    figure.words =
        pairs.size() == 1
            ? pairs[0].name + ": " + pairs[0].before_label + " a second before, " + pairs[0].after_label + " after."
            : "After by before lies between " + digits_text(least, 3) + " and " + digits_text(most, 3) + ".";
    figure.chart = pair_chart(figure.words, pairs, {"operations a simulated second", false, "~s", {}});
    figure.tables.push_back(std::move(table));
    return figure;
}

} // namespace

void add_comparison(Report &report, const std::vector<Json> &before, const std::vector<Json> &after)
{
    Json comparison = compare_results(before, after);
    Section section{"before-after", "Before and after", {}, {}};
    Figure inputs{"What was changed", "", nullptr, {}, "", {}, true};
    ReportTable table{"", {{"path", Table::left}, {"before", Table::left}, {"after", Table::left}}, {}, 0};
    for (const Json &change : comparison["inputs"])
        table.rows.push_back(
            {shown(member(change, "path")), shown(member(change, "before")), shown(member(change, "after"))});
    inputs.words = table.rows.empty() ? "The inputs are the same." : "Paths of the effective scenario that differ.";
    if (!table.rows.empty())
        inputs.tables.push_back(std::move(table));
    section.figures.push_back(std::move(inputs));
    const Json &points = comparison["points"];
    if (points.empty()) {
        section.paragraphs.push_back("No point of the one is in the other.");
    } else {
        section.figures.push_back(throughput(points));
        const Json &last = points.back();
        std::string where = point_text(member(last, "point"));
        static const struct {
            const char *key, *title, *unit, *axis;
            bool time;
        } parts[] = {{"functions", "CPU by function, one operation", "function", "microseconds an operation", true},
                     {"locks", "Waiting by lock, one operation", "lock", "microseconds an operation", true},
                     {"latency", "Latency", "operation", "microseconds", true},
                     {"counters", "Calls and counts, one operation", "counter", "an operation", false}};
        for (const auto &part : parts)
            if (const Json &rows = member(last, part.key); !rows.empty())
                section.figures.push_back(changes(rows, part.title, part.unit, part.time, part.axis, where));
    }
    for (const Json &one : comparison["unmatched"])
        section.paragraphs.push_back("Only " + shown(member(one, "side")) + ": " + point_text(member(one, "point")));
    report.sections.push_back(std::move(section));
}

} // namespace analysis
