// A report as data: sections of words, tables and figures, from which the HTML page and the Markdown text are written.
//
// The same sections serve both forms, so that neither says what the other does not. Every string here is plain text
// with control characters already shown (escaped()); markup is the writers' business. A figure has words that say what
// is to be seen in it (they are also what a screen reader reads), a chart as a Vega-Lite specification or a flame graph
// as frames, and a table of the same data.
#pragma once

#include "analysis/text.h"

#include <string>
#include <vector>

namespace analysis {

struct ReportTable {
    std::string title;
    std::vector<Table::Column> columns;
    std::vector<std::vector<std::string>> rows;
    size_t rows_left_out = 0;
};

struct Flame {
    Json frames; // {"names", "rows": [[parent, name, own ns], ...]}; null: no flame graph
    bool wait = false;
};

struct Figure {
    std::string title;
    std::string words;
    Json chart; // Vega-Lite; null: none
    Flame flame;
    std::string text;                // shown as it is, in a fixed pitch
    std::vector<ReportTable> tables; // under the chart, folded away where there is one
    bool wide = false;
};

struct Section {
    std::string id; // letters and hyphens
    std::string title;
    std::vector<std::string> paragraphs;
    std::vector<Figure> figures;
};

struct Verdict {
    bool any = false; // there was something to judge
    bool good = true;
    std::string words;
};

struct Report {
    std::string title;
    std::string lead;
    Verdict verdict;
    std::vector<Section> sections;
};

struct ReportOptions {
    size_t detailed = 0; // which of the results is shown in detail, from 1; 0: chosen by itself
};

// One entry a file: its results, one or a sweep's. Two files are before and after. REQUIRES: no entry is empty.
Report make_report(const std::vector<std::vector<Json>> &inputs, const ReportOptions &options);

std::string report_html(const Report &report); // REQUIRES: page_files().complete
std::string report_markdown(const Report &report);

// Of one result: CPU time or waiting by call path; `side` is added to the title.
Figure flame_figure(const Json &result, bool wait, const std::string &side);

// The parts, one file each.
void add_verdict(Report &report, const std::vector<const Json *> &results);
void add_run_sections(Report &report, const Json &result);
void add_sweep_sections(Report &report, const std::vector<Json> &results);
void add_comparison(Report &report, const std::vector<Json> &before, const std::vector<Json> &after);

} // namespace analysis
