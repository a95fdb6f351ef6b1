#include "analysis/report_charts.h"

#include "analysis/sweep_view.h"
#include "analysis/text.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace analysis {

namespace {

constexpr int row_height = 24; // of a bar

Json base(const std::string &words)
{
    return {
        {"$schema", "https://vega.github.io/schema/vega-lite/v6.json"}, {"description", words}, {"width", "container"}};
}

Json axis_of(const ChartAxis &axis, const char *field)
{
    Json spec = {{"field", field}, {"type", "quantitative"}, {"title", axis.title}};
    spec["axis"] = Json::object({{"format", axis.format}});
    if (!axis.ticks.empty()) {
        spec["axis"]["values"] = axis.ticks;
        // Each varied value as it was given: an axis of its own choosing would tell 256 in thousands.
        if (axis.format == "~s")
            spec["axis"]["labelExpr"] = "format(datum.value, ',')";
    }
    spec["axis"]["labelOverlap"] = "greedy";
    const auto least = std::min_element(axis.ticks.begin(), axis.ticks.end());
    if (axis.logarithmic && least != axis.ticks.end() && *least <= 0) {
        // No logarithm has a place for 0: a scale that is straight up to the least of the other values.
        double unit = 0;
        for (double tick : axis.ticks)
            unit = tick > 0 && (unit == 0 || tick < unit) ? tick : unit;
        spec["scale"] = {{"type", "symlog"}, {"constant", unit > 0 ? unit : 1}, {"nice", false}};
    } else if (axis.logarithmic) {
        spec["scale"] = {{"type", "log"}, {"base", axis.ticks.empty() ? 10 : 2}, {"nice", false}};
    }
    return spec;
}

Json field(const char *name)
{
    Json one = Json::object();
    one["field"] = name;
    return one;
}

Json filter(const char *expression)
{
    Json one = Json::object();
    one["filter"] = expression;
    return Json::array({std::move(one)});
}

// Colour, and with it a dash or a mark, so that a series is known without its colour. The legend is one for all three.
void tell_series(Json &encoding, const char *channel, const std::vector<std::string> &series)
{
    static const Json dashes = {{1, 0}, {7, 3}, {2, 3}, {9, 3, 2, 3}, {4, 2, 1, 2}, {12, 4}};
    Json by = {{"field", "series"}, {"type", "nominal"}, {"title", nullptr}, {"sort", series}};
    if (series.size() < 2)
        by["legend"] = nullptr;
    encoding["color"] = by;
    if (std::string(channel) == "strokeDash") {
        by["scale"] = {{"domain", series}, {"range", Json::array()}};
        for (size_t i = 0; i < series.size(); ++i)
            by["scale"]["range"].push_back(dashes[i % dashes.size()]);
    }
    encoding[channel] = by;
}

std::vector<std::string> series_of(const std::vector<ChartPoint> &points)
{
    std::vector<std::string> series;
    for (const ChartPoint &point : points)
        if (std::find(series.begin(), series.end(), point.series) == series.end())
            series.push_back(point.series);
    return series;
}

} // namespace

Json line_chart(const std::string &words, const std::vector<ChartPoint> &points, const std::vector<ChartTrend> &trends,
                const ChartAxis &x, const ChartAxis &y)
{
    std::vector<std::string> series = series_of(points);
    Json rows = Json::array(), lines = Json::array(), layers = Json::array();
    bool spread = false;
    for (const ChartPoint &point : points) {
        Json row = {{"series", point.series}, {"x", varied_value(point.x)}, {"y", four_digits(point.y)}};
        if (point.most > point.least) {
            spread = true;
            row["least"] = four_digits(point.least);
            row["most"] = four_digits(point.most);
        }
        rows.push_back(std::move(row));
    }
    Json spec = base(words);
    spec["height"] = 260;
    spec["data"] = Json::object({{"values", rows}});
    Json x_axis = axis_of(x, "x"), y_axis = axis_of(y, "y");
    if (y.logarithmic)
        y_axis["scale"] = {{"type", "log"}, {"nice", true}};
    if (trends.empty()) {
        Json encoding = {{"x", x_axis}, {"y", y_axis}};
        tell_series(encoding, "strokeDash", series);
        layers.push_back({{"mark", {{"type", "line"}, {"strokeWidth", 2}}}, {"encoding", encoding}});
    } else {
        for (const ChartTrend &trend : trends) {
            lines.push_back({{"series", trend.series}, {"x", varied_value(trend.x1)}, {"y", four_digits(trend.y1)}});
            lines.push_back({{"series", trend.series}, {"x", varied_value(trend.x2)}, {"y", four_digits(trend.y2)}});
        }
        Json encoding = {{"x", x_axis}, {"y", y_axis}};
        tell_series(encoding, "strokeDash", series);
        layers.push_back({{"data", Json::object({{"values", lines}})},
                          {"mark", {{"type", "line"}, {"strokeWidth", 1.5}}},
                          {"encoding", encoding}});
    }
    if (spread) {
        Json encoding = {{"x", x_axis}, {"y", y_axis}, {"y2", field("most")}};
        encoding["y"]["field"] = "least";
        encoding["y"]["title"] = y.title;
        layers.push_back({{"transform", filter("isValid(datum.least)")},
                          {"mark", {{"type", "rule"}, {"strokeWidth", 1.5}}},
                          {"encoding", encoding}});
    }
    Json encoding = {{"x", x_axis}, {"y", y_axis}};
    tell_series(encoding, "shape", series);
    encoding["tooltip"] = {{{"field", "series"}, {"title", "series"}},
                           {{"field", "x"}, {"title", x.title}, {"type", "quantitative"}, {"format", ","}},
                           {{"field", "y"}, {"title", y.title}, {"type", "quantitative"}, {"format", ",.4~r"}}};
    layers.push_back(
        {{"mark", {{"type", "point"}, {"filled", true}, {"size", 60}, {"opacity", 1}}}, {"encoding", encoding}});
    spec["layer"] = std::move(layers);
    return spec;
}

// A height in pixels: Vega-Lite's own height by step goes with no fitted width.
static size_t rows_height(size_t rows, size_t each)
{
    return std::max<size_t>(rows, 1) * each;
}

Json bar_chart(const std::string &words, const std::vector<ChartBar> &bars, const ChartAxis &x,
               const std::string &solid, const std::string &hollow, bool counts)
{
    Json rows = Json::array(), order = Json::array();
    double longest = 0;
    for (const ChartBar &bar : bars)
        longest = std::max(longest, bar.solid + bar.hollow);
    for (const ChartBar &bar : bars) {
        order.push_back(bar.name);
        double middle = four_digits(bar.solid).get<double>();
        double end = four_digits(bar.solid + bar.hollow).get<double>();
        rows.push_back({{"name", bar.name}, {"part", solid}, {"from", 0}, {"to", middle}});
        if (!hollow.empty())
            rows.push_back({{"name", bar.name}, {"part", hollow}, {"from", middle}, {"to", end}});
        rows.push_back({{"name", bar.name}, {"label", bar.label}, {"to", end}});
    }
    Json spec = base(words);
    spec["height"] = rows_height(order.size(), row_height);
    spec["autosize"] = Json::object({{"type", "fit-x"}});
    spec["data"] = Json::object({{"values", rows}});
    Json y = {{"field", "name"},
              {"type", "nominal"},
              {"sort", order},
              {"title", nullptr},
              {"axis", {{"labelFont", "ui-monospace, DejaVu Sans Mono, monospace"}, {"labelLimit", 260}}}};
    Json x_from = axis_of(x, "from");
    if (!hollow.empty()) // a legend of fill opacity is drawn empty
        x_from["title"] = x.title + " (filled: " + solid + ", outlined: " + hollow + ")";
    // Room for the text behind the longest bar.
    x_from["scale"] = counts ? Json{{"type", "symlog"}, {"domainMin", 0}, {"domainMax", longest * 6 + 1}}
                             : Json{{"domainMin", 0}, {"domainMax", longest > 0 ? longest * 1.18 : 1}};
    x_from["axis"]["tickCount"] = 5;
    if (counts)
        x_from["axis"] = nullptr; // every bar carries its number
    Json bars_encoding = {{"y", y}, {"x", x_from}, {"x2", field("to")}};
    Json parts = Json::array();
    parts.push_back(solid);
    if (!hollow.empty()) {
        parts.push_back(hollow);
        bars_encoding["fillOpacity"] = {{"field", "part"},
                                        {"type", "ordinal"},
                                        {"title", nullptr},
                                        {"scale", {{"domain", parts}, {"range", {1, 0.12}}}},
                                        {"legend", nullptr}};
    }
    Json label_encoding = {{"y", y}, {"x", x_from}, {"text", field("label")}};
    label_encoding["x"]["field"] = "to";
    spec["layer"] = {
        {{"transform", filter("isValid(datum.part)")},
         {"mark", {{"type", "bar"}, {"stroke", "var(--mark-1)"}, {"fill", "var(--mark-1)"}, {"height", 14}}},
         {"encoding", bars_encoding}},
        {{"transform", filter("isValid(datum.label)")},
         {"mark", {{"type", "text"}, {"align", "left"}, {"dx", 5}}},
         {"encoding", label_encoding}}};
    return spec;
}

Json pair_chart(const std::string &words, const std::vector<ChartPair> &pairs, const ChartAxis &x)
{
    Json rows = Json::array(), order = Json::array();
    double longest = 0;
    for (const ChartPair &pair : pairs) {
        order.push_back(pair.name);
        longest = std::max({longest, pair.before, pair.after});
        rows.push_back({{"name", pair.name},
                        {"side", "before"},
                        {"value", four_digits(pair.before)},
                        {"label", pair.before_label}});
        rows.push_back(
            {{"name", pair.name}, {"side", "after"}, {"value", four_digits(pair.after)}, {"label", pair.after_label}});
    }
    Json sides = {"before", "after"};
    Json spec = base(words);
    spec["height"] = rows_height(order.size(), 40);
    spec["autosize"] = Json::object({{"type", "fit-x"}});
    spec["data"] = Json::object({{"values", rows}});
    Json opacity = {{"field", "side"},
                    {"type", "ordinal"},
                    {"title", nullptr},
                    {"scale", {{"domain", sides}, {"range", {0.12, 1}}}},
                    {"legend", nullptr}};
    Json value = axis_of(x, "value");
    value["title"] = x.title + " (outlined: before, filled: after)";
    value["scale"] = {{"domainMin", 0}, {"domainMax", longest > 0 ? longest * 1.2 : 1}};
    value["axis"]["tickCount"] = 5;
    spec["encoding"] = {{"y",
                         {{"field", "name"},
                          {"type", "nominal"},
                          {"sort", order},
                          {"title", nullptr},
                          {"axis", {{"labelFont", "ui-monospace, DejaVu Sans Mono, monospace"}, {"labelLimit", 260}}}}},
                        {"yOffset", {{"field", "side"}, {"type", "nominal"}, {"sort", sides}}},
                        {"x", value}};
    spec["layer"] = {
        {{"mark", {{"type", "bar"}, {"stroke", "var(--mark-1)"}, {"fill", "var(--mark-1)"}, {"height", 12}}},
         {"encoding", Json::object({{"fillOpacity", opacity}})}},
        {{"mark", {{"type", "text"}, {"align", "left"}, {"dx", 5}, {"fontSize", 10}}},
         {"encoding", {{"text", field("label")}}}}};
    return spec;
}

Json span_chart(const std::string &words, const std::vector<ChartSpan> &spans, const ChartAxis &x)
{
    Json rows = Json::array(), lanes = Json::array();
    for (const ChartSpan &span : spans) {
        if (std::find(lanes.begin(), lanes.end(), span.lane) == lanes.end())
            lanes.push_back(span.lane);
        rows.push_back({{"lane", span.lane},
                        {"name", span.name},
                        {"from", four_digits(span.from)},
                        {"until", four_digits(span.until)}});
    }
    Json spec = base(words);
    spec["height"] = rows_height(lanes.size(), 30);
    spec["autosize"] = Json::object({{"type", "fit-x"}});
    spec["data"] = Json::object({{"values", rows}});
    Json from = axis_of(x, "from");
    Json y = {{"field", "lane"}, {"type", "nominal"}, {"sort", lanes}, {"title", nullptr}};
    spec["mark"] = {{"type", "bar"}, {"height", 20}, {"stroke", "var(--page)"}, {"fill", "var(--mark-5)"}};
    spec["encoding"] = {{"y", y},
                        {"x", from},
                        {"x2", field("until")},
                        {"tooltip",
                         {{{"field", "name"}, {"title", "span"}},
                          {{"field", "from"}, {"title", "from"}, {"type", "quantitative"}, {"format", ",.4~r"}},
                          {{"field", "until"}, {"title", "until"}, {"type", "quantitative"}, {"format", ",.4~r"}}}}};
    return spec;
}

Json strip_chart(const std::string &words, const std::vector<StripPoint> &points, const ChartAxis &x)
{
    Json rows = Json::array(), names = Json::array();
    for (const StripPoint &point : points) {
        if (std::find(names.begin(), names.end(), point.name) == names.end())
            names.push_back(point.name);
        rows.push_back({{"name", point.name}, {"value", four_digits(point.value)}});
    }
    Json spec = base(words);
    spec["height"] = rows_height(names.size(), row_height);
    spec["autosize"] = Json::object({{"type", "fit-x"}});
    spec["data"] = Json::object({{"values", rows}});
    spec["mark"] = {{"type", "point"}, {"size", 70}, {"strokeWidth", 1.5}, {"stroke", "var(--mark-1)"}};
    spec["encoding"] = {{"y",
                         {{"field", "name"},
                          {"type", "nominal"},
                          {"sort", names},
                          {"title", nullptr},
                          {"axis", {{"labelLimit", 320}, {"grid", true}}}}},
                        {"x", axis_of(x, "value")}};
    spec["encoding"]["x"]["scale"] = Json::object({{"zero", false}});
    return spec;
}

Json series_chart(const std::string &words, const std::vector<ChartPoint> &points, const ChartAxis &x,
                  const ChartAxis &y)
{
    std::vector<std::string> series = series_of(points);
    Json rows = Json::array();
    for (const ChartPoint &point : points)
        rows.push_back({{"series", point.series}, {"x", varied_value(point.x)}, {"y", four_digits(point.y)}});
    Json spec = base(words);
    spec["height"] = 180;
    spec["data"] = Json::object({{"values", rows}});
    spec["mark"] = {{"type", "line"}, {"interpolate", "step-before"}, {"strokeWidth", 1.5}};
    spec["encoding"] = {{"x", axis_of(x, "x")}, {"y", axis_of(y, "y")}};
    tell_series(spec["encoding"], "strokeDash", series);
    return spec;
}

} // namespace analysis
