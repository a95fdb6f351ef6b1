#include "analysis/compare.h"

#include <algorithm>

namespace analysis {

namespace {

struct Section {
    const char *key;
    const char *title;
    const char *unit;
    size_t shown; // rows, by size of effect
};
const Section sections[] = {{"throughput", "Throughput", "per second", 20},
                            {"latency", "Latency", "ns", 20},
                            {"functions", "CPU by function", "ns of own time an operation", 12},
                            {"locks", "Waiting by lock", "ns waited an operation", 12},
                            {"counters", "Counters", "an operation", 16},
                            {"histograms", "Histograms", "count in the bucket", 16}};

std::string point_text(const Json &point)
{
    std::string text;
    for (const auto &[path, value] : point.items())
        text += (text.empty() ? "" : ", ") + escaped(path) + " = " +
                (value.is_string() ? escaped(value.get<std::string>()) : dump(value));
    return text;
}

std::string ratio_text(const Json &ratio)
{
    return ratio.is_number() ? digits_text(ratio.get<double>(), 4) + "x" : "new";
}

std::string spread_text(const Json &row)
{
    if (!row.contains("within_spread"))
        return "";
    auto both = [](const Json &pair) { return number_text(pair[0]) + ".." + number_text(pair[1]); };
    return both(row["before_spread"]) + " | " + both(row["after_spread"]) +
           (row["within_spread"].get<bool>() ? "  (within the spread)" : "");
}

} // namespace

std::string compare_text(const Json &comparison, Style style)
{
    std::string out = style.heading("Inputs") + "\n";
    Table inputs({{"path", Table::left}, {"before", Table::left}, {"after", Table::left}});
    for (const Json &change : comparison["inputs"])
        inputs.row({escaped(change["path"].get<std::string>()), escaped(dump(change["before"])),
                    escaped(dump(change["after"]))});
    out += inputs.empty() ? "  nothing changed\n" : inputs.text();
    for (const Json &point : comparison["points"]) {
        if (!point["point"].empty())
            out += "\n" + style.heading("At " + point_text(point["point"])) + "\n";
        bool anything = false;
        for (const Section &section : sections) {
            const Json &rows = point[section.key];
            if (rows.empty())
                continue;
            anything = true;
            Table table({{"before"}, {"after"}, {"ratio"}, {section.unit, Table::left}, {"", Table::left}});
            for (size_t i = 0; i < std::min(rows.size(), section.shown); ++i)
                table.row({number_text(rows[i]["before"]), number_text(rows[i]["after"]), ratio_text(rows[i]["ratio"]),
                           escaped(rows[i]["name"].get<std::string>()), spread_text(rows[i])});
            out += "\n" + style.heading(section.title) + "\n" + table.text();
            if (rows.size() > section.shown)
                out += "  and " + std::to_string(rows.size() - section.shown) + " smaller changes\n";
        }
        if (!anything)
            out += "\n  nothing changed in the results\n";
    }
    for (const Json &one : comparison["unmatched"])
        out += "  only " + one["side"].get<std::string>() + ": " + point_text(one["point"]) + "\n";
    return out;
}

namespace {

// What could be markup in a Markdown cell.
std::string cell(const std::string &text)
{
    std::string safe;
    for (char c : escaped(text)) {
        if (std::string_view("\\`*_{}[]<>()#+!|&~").find(c) != std::string_view::npos)
            safe += '\\';
        safe += c;
    }
    return safe;
}

} // namespace

std::string compare_markdown(const Json &comparison)
{
    std::string out = "### Inputs\n\n";
    if (comparison["inputs"].empty())
        out += "Nothing changed.\n";
    else
        out += "| path | before | after |\n|---|---|---|\n";
    for (const Json &change : comparison["inputs"])
        out += "| " + cell(change["path"].get<std::string>()) + " | " + cell(dump(change["before"])) + " | " +
               cell(dump(change["after"])) + " |\n";
    for (const Json &point : comparison["points"]) {
        if (!point["point"].empty())
            out += "\n### " + cell(point_text(point["point"])) + "\n";
        for (const Section &section : sections) {
            const Json &rows = point[section.key];
            if (rows.empty())
                continue;
            out += std::string("\n#### ") + section.title + "\n\n| " + section.unit +
                   " | before | after | ratio | spread |\n|---|---:|---:|---:|---|\n";
            for (size_t i = 0; i < std::min(rows.size(), section.shown); ++i)
                out += "| " + cell(rows[i]["name"].get<std::string>()) + " | " + number_text(rows[i]["before"]) +
                       " | " + number_text(rows[i]["after"]) + " | " + ratio_text(rows[i]["ratio"]) + " | " +
                       cell(spread_text(rows[i])) + " |\n";
        }
    }
    for (const Json &one : comparison["unmatched"])
        out += "\nOnly " + one["side"].get<std::string>() + ": " + cell(point_text(one["point"])) + "\n";
    return out;
}

} // namespace analysis
