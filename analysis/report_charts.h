// Vega-Lite specifications of the charts in the HTML report.
//
// Each function makes one kind of chart from rows of plain values. None depends on colour alone: lines of different
// series have dashes and marks of their own, bars carry their value as text, and parts of a bar differ in filling.
// Sizes are left to the page (width "container"); heights follow the number of rows. Colours are set by the page, so
// that dark mode and print change them without a new drawing.
#pragma once

#include "analysis/json.h"

#include <string>
#include <vector>

namespace analysis {

struct ChartAxis {
    std::string title;
    bool logarithmic = false;
    std::string format = "~s"; // d3-format
    std::vector<double> ticks; // empty: chosen by Vega
};

struct ChartPoint {
    std::string series;
    double x = 0, y = 0;
    double least = 0, most = 0; // equal: no spread
};

// A straight line in the axes' own scale, from the first point to the second.
struct ChartTrend {
    std::string series;
    double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
};

Json line_chart(const std::string &words, const std::vector<ChartPoint> &points, const std::vector<ChartTrend> &trends,
                const ChartAxis &x, const ChartAxis &y);

struct ChartBar {
    std::string name;
    std::string label; // the value as text
    double solid = 0;  // filled part
    double hollow = 0; // outlined part, after the filled one
};

// Horizontal bars in the order given. `solid` and `hollow` name the two parts; hollow empty: one part only.
// `counts`: a scale that shows 3 beside 974,135.
Json bar_chart(const std::string &words, const std::vector<ChartBar> &bars, const ChartAxis &x,
               const std::string &solid, const std::string &hollow, bool counts = false);

struct ChartPair {
    std::string name;
    double before = 0, after = 0;
    std::string before_label, after_label;
};
Json pair_chart(const std::string &words, const std::vector<ChartPair> &pairs, const ChartAxis &x);

// Spans on lanes over time.
struct ChartSpan {
    std::string lane;
    std::string name;
    double from = 0, until = 0;
};
Json span_chart(const std::string &words, const std::vector<ChartSpan> &spans, const ChartAxis &x);

// Marks on one line for each name: how far runs of the same thing lie apart.
struct StripPoint {
    std::string name;
    double value = 0;
};
Json strip_chart(const std::string &words, const std::vector<StripPoint> &points, const ChartAxis &x);

// Lines without marks, many points.
Json series_chart(const std::string &words, const std::vector<ChartPoint> &points, const ChartAxis &x,
                  const ChartAxis &y);

} // namespace analysis
