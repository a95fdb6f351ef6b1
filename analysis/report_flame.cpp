// Flame graphs: the calling-context tree of a result as frames for the page, and as a table.
//
// Frames under a 4,000th of the whole cannot be seen and are taken together, so that a page stays small whatever the
// number of call paths. In the table recursion counts once.
#include "analysis/report_model.h"
#include "analysis/report_parts.h"

#include <algorithm>
#include <map>

namespace analysis {

namespace {

constexpr size_t functions_shown = 24;
constexpr double smallest_frame = 1.0 / 4000;

} // namespace

Figure flame_figure(const Json &result, bool wait, const std::string &side)
{
    const Json &rows = member(member(member(result, "cpu"), "call_tree"), "rows");
    Figure figure{(wait ? "Waiting, by call path" : "CPU time, by call path") + (side.empty() ? "" : ": " + side),
                  "",
                  nullptr,
                  {},
                  "",
                  {},
                  true};
    std::vector<double> own(rows.size()), total(rows.size());
    std::map<std::string, std::pair<double, double>> by_name; // own, total
    for (size_t i = rows.size(); i-- > 0;) {
        own[i] = wait ? number_of(rows[i][4]) + number_of(rows[i][5]) : number_of(rows[i][3]);
        total[i] += own[i];
        if (i > 0)
            total[rows[i][0].get<size_t>()] += total[i];
    }
    if (rows.empty() || total[0] <= 0) {
        figure.words = wait ? "Nobody waited." : "No CPU time.";
        return figure;
    }
    Json names = Json::array(), frames = Json::array();
    std::map<std::string, size_t> index;
    auto add = [&](size_t parent, const std::string &name, double ns) {
        auto [found, fresh] = index.emplace(name, names.size());
        if (fresh)
            names.push_back(name);
        frames.push_back({parent, found->second, four_digits(ns)});
        return frames.size() - 1;
    };
    std::vector<size_t> kept(rows.size(), SIZE_MAX);
    std::map<size_t, double> small; // by kept parent
    for (size_t i = 0; i < rows.size(); ++i) {
        size_t parent = rows[i][0].get<size_t>();
        std::string name = shown(rows[i][1]);
        if (i == 0)
            name = wait ? "all waiting" : "all CPU time";
        else if (name.empty())
            name = "(thread)";
        by_name[name].first += own[i];
        bool inside = false; // recursion counts once
        for (size_t up = parent; i > 0 && up != 0 && !inside; up = rows[up][0].get<size_t>())
            inside = rows[up][1] == rows[i][1];
        if (!inside)
            by_name[name].second += total[i];
        if (i > 0 && kept[parent] == SIZE_MAX)
            continue;
        if (total[i] >= total[0] * smallest_frame)
            kept[i] = add(i == 0 ? 0 : kept[parent], name, own[i]);
        else if (total[i] > 0)
            small[kept[parent]] += total[i];
    }
    for (const auto &[parent, ns] : small)
        add(parent, "(smaller)", ns);
    figure.flame = {Json{{"names", names}, {"rows", frames}}, wait};

    std::vector<std::pair<std::string, std::pair<double, double>>> sorted;
    for (const auto &entry : by_name)
        if (entry.second.second > 0 && entry.first != "all waiting" && entry.first != "all CPU time")
            sorted.push_back(entry);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto &a, const auto &b) { return a.second.first > b.second.first; });
    ReportTable table{"", {{"function", Table::left}, {"own"}, {"own time"}, {"with callees"}, {"time"}}, {}, 0};
    for (const auto &[name, times] : sorted) {
        if (table.rows.size() == functions_shown) {
            ++table.rows_left_out;
            continue;
        }
        table.rows.push_back({name, percent_text(times.first, total[0]), duration_text(times.first),
                              percent_text(times.second, total[0]), duration_text(times.second)});
    }
    if (!table.rows.empty())
        figure.words = duration_text(total[0]) + (wait ? " waited in all" : " of CPU time in all") +
                       "; most of it in " + table.rows[0][0] + " itself (" + table.rows[0][1] + ").";
    figure.tables.push_back(std::move(table));
    return figure;
}

} // namespace analysis
