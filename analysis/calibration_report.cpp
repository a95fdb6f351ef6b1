#include "analysis/calibration_report.h"

#include "scenarios/machine.h"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

constexpr double pinned_least =
    0.02; // a figure that moves by less than this share of a parameter's change says nothing
constexpr size_t pins_told = 3;

double percent(double figure, double target)
{
    return (figure / target - 1) * 100;
}

// Which targets hold a parameter in place: by the square of their slopes, as the fit weighs them.
Json pins(const CalibrationFile &file, const std::vector<double> &slopes)
{
    std::vector<std::pair<double, size_t>> pulls;
    double sum = 0;
    for (size_t t = 0; t < slopes.size(); ++t) {
        const double pull = file.targets[t].weight * slopes[t] * slopes[t];
        sum += pull;
        if (file.targets[t].weight > 0 && std::abs(slopes[t]) >= pinned_least)
            pulls.emplace_back(pull, t);
    }
    std::stable_sort(pulls.begin(), pulls.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
    Json list = Json::array();
    for (size_t i = 0; i < std::min(pins_told, pulls.size()); ++i)
        list.push_back({{"target", file.targets[pulls[i].second].name}, {"share", four_digits(pulls[i].first / sum)}});
    return list;
}

std::string percent_cell(const Json &value)
{
    if (!value.is_number())
        return "-";
    const double number = value.get<double>();
    std::string text = digits_text(std::abs(number), std::abs(number) >= 10 ? 3 : 2);
    return (number < 0 ? "-" : "+") + text + " %";
}

} // namespace

Json calibration_json(const CalibrationFile &file, const CalibrationResult &result)
{
    Json report = {{"format", "dmusim-calibration-1"}, {"profile", file.profile}};
    Json parameters = Json::array();
    for (size_t i = 0; i < file.free.size(); ++i) {
        const CalibrationFile::Free &free = file.free[i];
        const auto value = [&](int64_t number) { return scenarios::machine_parameter_json(*free.parameter, number); };
        Json slopes = Json::object();
        for (size_t t = 0; t < file.targets.size(); ++t)
            slopes[file.targets[t].name] = four_digits(result.slopes[i][t]);
        Json held = pins(file, result.slopes[i]);
        const char *bound = result.fitted[i] == free.least ? "from" : result.fitted[i] == free.most ? "to" : nullptr;
        parameters.push_back({{"parameter", free.parameter->name},
                              {"from", value(free.least)},
                              {"to", value(free.most)},
                              {"start", value(result.start[i])},
                              {"fitted", value(result.fitted[i])},
                              {"at_bound", bound == nullptr ? Json(nullptr) : Json(bound)},
                              {"pinned_by", std::move(held)},
                              {"slopes", std::move(slopes)}});
    }
    report["parameters"] = std::move(parameters);
    Json targets = Json::array();
    for (size_t t = 0; t < file.targets.size(); ++t) {
        const CalibrationFile::Target &target = file.targets[t];
        Json row = {{"target", target.name},
                    {"metric", target.metric},
                    {"weight", target.weight},
                    {"measured", target.value},
                    {"at_start", four_digits(result.at_start[t])},
                    {"fitted", four_digits(result.at_fitted[t])},
                    {"residual_percent", four_digits(percent(result.at_fitted[t], target.value))},
                    {"because", target.because}};
        if (!result.predicted.empty()) {
            row["left_out"] = four_digits(result.predicted[t]);
            row["left_out_percent"] = four_digits(percent(result.predicted[t], target.value));
        }
        targets.push_back(std::move(row));
    }
    report["targets"] = std::move(targets);
    Json ratios = Json::array();
    for (const CalibrationFile::Ratio &ratio : file.ratios) {
        const double fitted = result.at_fitted[ratio.of] / result.at_fitted[ratio.to];
        ratios.push_back({{"ratio", ratio.name},
                          {"measured", ratio.value},
                          {"fitted", four_digits(fitted)},
                          {"residual_percent", four_digits(percent(fitted, ratio.value))},
                          {"because", ratio.because}});
    }
    report["ratios"] = std::move(ratios);
    report["cost_at_start"] = four_digits(result.start_cost);
    report["cost"] = four_digits(result.cost);
    report["points"] = result.points;
    return report;
}

std::string calibration_text(const Json &report, const Style &style)
{
    std::string text = style.heading("Targets") + "\n";
    const bool left_out = !report["targets"].empty() && report["targets"][0].contains("left_out");
    std::vector<Table::Column> columns = {{"target", Table::left}, {"measured"}, {"at start"}, {"fitted"}, {"off by"}};
    if (left_out)
        columns.insert(columns.end(), {{"left out, predicted"}, {"off by"}});
    columns.push_back({"weight"});
    Table targets(columns);
    for (const Json &row : report["targets"]) {
        std::vector<std::string> cells = {escaped(row["target"].get<std::string>()), number_text(row["measured"]),
                                          number_text(row["at_start"]), number_text(row["fitted"]),
                                          percent_cell(row["residual_percent"])};
        if (left_out)
            cells.insert(cells.end(), {number_text(row["left_out"]), percent_cell(row["left_out_percent"])});
        cells.push_back(number_text(row["weight"]));
        targets.row(std::move(cells));
    }
    text += targets.text();
    if (!report["ratios"].empty()) {
        text += "\n" + style.heading("Ratios (not fitted)") + "\n";
        Table ratios({{"ratio", Table::left}, {"measured"}, {"fitted"}, {"off by"}});
        for (const Json &row : report["ratios"])
            ratios.row({escaped(row["ratio"].get<std::string>()), number_text(row["measured"]),
                        number_text(row["fitted"]), percent_cell(row["residual_percent"])});
        text += ratios.text();
    }
    text += "\n" + style.heading("Parameters") + "\n";
    Table parameters({{"parameter", Table::left}, {"from"}, {"to"}, {"start"}, {"fitted"}, {"pinned by", Table::left}});
    for (const Json &row : report["parameters"]) {
        std::string held;
        for (const Json &pin : row["pinned_by"])
            held += (held.empty() ? "" : ", ") + escaped(pin["target"].get<std::string>()) + " " +
                    digits_text(pin["share"].get<double>() * 100, 2) + " %";
        if (held.empty())
            held = "nothing: any value does";
        if (!row["at_bound"].is_null())
            held += "; it stands at its bound";
        parameters.row({row["parameter"].get<std::string>(), number_text(row["from"]), number_text(row["to"]),
                        number_text(row["start"]), number_text(row["fitted"]), held});
    }
    text += parameters.text();
    text += "\n" + style.heading("One per cent more of a parameter changes a figure by so many per cent") + "\n";
    std::vector<Table::Column> names = {{"target", Table::left}};
    for (const Json &row : report["parameters"])
        names.push_back({row["parameter"].get<std::string>()});
    Table slopes(names);
    for (const Json &target : report["targets"]) {
        std::vector<std::string> cells = {escaped(target["target"].get<std::string>())};
        for (const Json &row : report["parameters"]) {
            const double slope = row["slopes"][target["target"].get<std::string>()].get<double>();
            char cell[32];
            std::snprintf(cell, sizeof cell, "%+.2f", slope);
            cells.emplace_back(cell);
        }
        slopes.row(std::move(cells));
    }
    text += slopes.text();
    return text + "\n" + grouped(report["points"].get<uint64_t>()) +
           " points were tried; the sum of squares went from " + number_text(report["cost_at_start"]) + " to " +
           number_text(report["cost"]) + ".\n";
}

Json fitted_profile(const CalibrationFile &file, const CalibrationResult &result)
{
    sim::Machine machine = file.machine;
    for (size_t i = 0; i < file.free.size(); ++i)
        machine.*file.free[i].parameter->field = result.fitted[i];
    return scenarios::machine_table().write(&machine);
}

} // namespace analysis
