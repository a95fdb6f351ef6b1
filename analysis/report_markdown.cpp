// The report as Markdown, for a pull request: verdict, words and tables, no pictures.
//
// Every text is escaped, so that what a scenario's author wrote stays text.
#include "analysis/report_model.h"

namespace analysis {

namespace {

constexpr size_t rows_max = 30; // of a table; the page has the rest

std::string safe_text(const std::string &text)
{
    std::string safe;
    for (char c : escaped(text)) {
        if (c == '<')
            safe += "&lt;";
        else if (c == '>')
            safe += "&gt;";
        else if (c == '&')
            safe += "&amp;";
        else if (std::string_view("\\`*_{}[]#|~@").find(c) != std::string_view::npos)
            safe += std::string("\\") + c;
        else
            safe += c;
    }
    return safe;
}

std::string table_markdown(const ReportTable &table)
{
    std::string head = "|", rule = "|", out;
    for (const Table::Column &column : table.columns) {
        head += " " + safe_text(column.title) + " |";
        rule += column.align == Table::left ? "---|" : "---:|";
    }
    out = head + "\n" + rule + "\n";
    size_t shown = 0;
    for (const auto &row : table.rows) {
        if (shown == rows_max)
            break;
        ++shown;
        out += "|";
        for (size_t i = 0; i < table.columns.size(); ++i)
            out += " " + safe_text(i < row.size() ? row[i] : "") + " |";
        out += "\n";
    }
    if (size_t left = table.rows.size() - shown + table.rows_left_out; left > 0)
        out += "\nand " + grouped(left) + " more\n";
    return out + "\n";
}

} // namespace

std::string report_markdown(const Report &report)
{
    std::string out = "## " + safe_text(report.title) + "\n\n";
    if (report.verdict.any)
        out += "**" + safe_text(report.verdict.words) + "**\n\n";
    out += safe_text(report.lead) + "\n\n";
    for (const Section &section : report.sections) {
        bool folded = section.id.starts_with("constants") || section.id.starts_with("state");
        out += folded ? "<details><summary>" + section.title + "</summary>\n\n"
                      : "### " + safe_text(section.title) + "\n\n";
        for (const std::string &paragraph : section.paragraphs)
            out += safe_text(paragraph) + "\n\n";
        for (const Figure &figure : section.figures) {
            out += "#### " + safe_text(figure.title) + "\n\n";
            if (!figure.words.empty())
                out += safe_text(figure.words) + "\n\n";
            if (!figure.text.empty()) { // indented: nothing in it can end the block
                for (size_t from = 0; from < figure.text.size();) {
                    size_t end = std::min(figure.text.find('\n', from), figure.text.size());
                    out += "    " + escaped(std::string_view(figure.text).substr(from, end - from)) + "\n";
                    from = end + 1;
                }
                out += "\n";
            }
            for (const ReportTable &table : figure.tables)
                out += table_markdown(table);
        }
        if (folded)
            out += "</details>\n\n";
    }
    return out;
}

} // namespace analysis
