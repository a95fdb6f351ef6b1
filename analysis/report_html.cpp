// The report as one HTML file that needs nothing else.
//
// Everything a reader's browser runs is in the file and named by its hash in the content security policy; data stand in
// blocks that are not scripts, with every '<' escaped, so that no text of a scenario can end one. Nothing is loaded
// from anywhere.
#include "analysis/page_files.h"
#include "analysis/report_model.h"
#include "analysis/sha256.h"
#include "analysis/version.h"
#include "sim/verify.h"

namespace analysis {

namespace {

std::string html(std::string_view text)
{
    std::string safe;
    for (char c : escaped(text))
        switch (c) {
        case '&':
            safe += "&amp;";
            break;
        case '<':
            safe += "&lt;";
            break;
        case '>':
            safe += "&gt;";
            break;
        case '"':
            safe += "&quot;";
            break;
        case '\'':
            safe += "&#39;";
            break;
        default:
            safe += c;
        }
    return safe;
}

// Several lines, kept.
std::string html_lines(const std::string &text)
{
    std::string safe;
    for (size_t from = 0; from < text.size();) {
        size_t end = std::min(text.find('\n', from), text.size());
        safe += html(std::string_view(text).substr(from, end - from)) + "\n";
        from = end + 1;
    }
    return safe;
}

std::string data_block(const std::string &id, const Json &data)
{
    std::string safe;
    for (char c : dump(data))
        if (c == '<')
            safe += "\\u003c";
        else
            safe += c;
    return "<script type=\"application/json\" id=\"" + id + "-data\">" + safe + "</script>\n";
}

std::string cell(const std::string &tag, const Table::Column &column, const std::string &text, bool name)
{
    std::string classes = column.align == Table::left ? (name ? "text name" : "text") : "";
    std::string mark;
    if (text == "held" || text == "NOT HELD")
        mark = text == "held" ? "held" : "not-held";
    std::string inner = mark.empty() ? html(text) : "<span class=\"" + mark + "\">" + html(text) + "</span>";
    return "<" + tag + (tag == "th" ? " scope=\"col\"" : "") + (classes.empty() ? "" : " class=\"" + classes + "\"") +
           ">" + inner + "</" + tag + ">";
}

std::string table_html(const ReportTable &table)
{
    std::string out = "<div class=\"scroll\"><table>";
    if (!table.title.empty())
        out += "<caption>" + html(table.title) + "</caption>";
    out += "<thead><tr>";
    for (const Table::Column &column : table.columns)
        out += cell("th", column, column.title, false);
    out += "</tr></thead><tbody>\n";
    for (const auto &row : table.rows) {
        out += "<tr>";
        for (size_t i = 0; i < table.columns.size(); ++i)
            out += cell("td", table.columns[i], i < row.size() ? row[i] : "", true);
        out += "</tr>\n";
    }
    out += "</tbody></table></div>\n";
    if (table.rows_left_out > 0)
        out += "<p>and " + grouped(table.rows_left_out) + " more</p>\n";
    return out;
}

std::string figure_html(const Figure &figure, const std::string &id)
{
    bool drawn = !figure.chart.is_null() || !figure.flame.frames.is_null();
    std::string out = std::string("<figure class=\"") + (figure.wide ? "wide" : "") + (drawn ? "" : " long") +
                      "\" aria-labelledby=\"" + id + "-title\"><figcaption><h3 id=\"" + id + "-title\">" +
                      html(figure.title) + "</h3>";
    if (!figure.words.empty())
        out += "<p class=\"words\">" + html(figure.words) + "</p>";
    out += "</figcaption>\n";
    if (!figure.chart.is_null()) {
        out += "<div class=\"chart\" id=\"" + id + "\"></div>\n" + data_block(id, figure.chart);
    } else if (!figure.flame.frames.is_null()) {
        out +=
            "<div class=\"flame-bar\" id=\"" + id +
            "-bar\"><button type=\"button\">Whole graph</button><output></output>"
            "</div>\n<div class=\"flame" +
            std::string(figure.flame.wait ? " wait" : "") + "\" id=\"" + id + "\" role=\"tree\" aria-label=\"" +
            html(figure.title) +
            "\"></div>\n<p class=\"words keys\">Click a frame, or walk with the arrow keys and press Enter, to widen "
            "it; Escape goes back one step.</p>\n" +
            data_block(id, figure.flame.frames);
    }
    std::string tables;
    if (!figure.text.empty())
        tables += "<pre>" + html_lines(figure.text) + "</pre>\n";
    for (const ReportTable &table : figure.tables)
        tables += table_html(table);
    if (drawn && !tables.empty())
        tables = "<details><summary>The same as a table</summary>\n" + tables + "</details>\n";
    return out + tables + "</figure>\n";
}

void no_end_of_script(std::string_view script)
{
    VERIFY(script.find("</script") == std::string_view::npos);
}

} // namespace

std::string report_html(const Report &report)
{
    const PageFiles &files = page_files();
    VERIFY(files.complete);
    std::string allowed;
    for (const PageLibrary &library : files.libraries) {
        no_end_of_script(library.script);
        allowed += " 'sha256-" + sha256_base64(library.script) + "'";
    }
    no_end_of_script(files.script);
    allowed += " 'sha256-" + sha256_base64(files.script) + "'";

    std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src" +
                      allowed +
                      "; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
                      html(report.title) + "</title>\n<style>\n" + std::string(files.style) +
                      "</style>\n</head>\n<body>\n";
    out += "<a class=\"skip\" href=\"#content\">Skip to the content</a>\n<header><h1>" + html(report.title) +
           "</h1>\n<p>" + html(report.lead) + "</p>\n";
    if (report.verdict.any)
        out += std::string("<div class=\"verdict") + (report.verdict.good ? "" : " failed") + "\"><strong>" +
               html(report.verdict.words) + "</strong></div>\n";
    out += "<nav aria-label=\"Sections\"><ul>";
    for (const Section &section : report.sections)
        out += "<li><a href=\"#" + section.id + "\">" + html(section.title) + "</a></li>";
    out += "</ul></nav></header>\n<main id=\"content\">\n";
    size_t number = 0;
    for (const Section &section : report.sections) {
        out += "<section aria-labelledby=\"" + section.id + "\"><h2 id=\"" + section.id + "\">" + html(section.title) +
               "</h2>\n";
        for (const std::string &paragraph : section.paragraphs)
            out += "<p>" + html(paragraph) + "</p>\n";
        out += "<div class=\"figures\">\n";
        for (const Figure &figure : section.figures)
            out += figure_html(figure, "figure-" + std::to_string(++number));
        out += "</div></section>\n";
    }
    out += "</main>\n<footer><p>dmusim " + std::string(version) +
           ". Times are simulated; the same inputs give the same report, byte for byte.</p>\n"
           "<details><summary>Licences of the charting library in this file</summary>\n";
    for (const PageLibrary &library : files.libraries)
        out += "<h3>" + html(library.name) + "</h3><pre>" + html_lines(std::string(library.license)) + "</pre>\n";
    out += "</details></footer>\n";
    for (const PageLibrary &library : files.libraries)
        out += "<script>" + std::string(library.script) + "</script>\n";
    out += "<script>" + std::string(files.script) + "</script>\n</body>\n</html>\n";
    return out;
}

} // namespace analysis
