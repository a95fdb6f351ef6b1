// Small parts that every report for people is made of: units, tables, bars, and texts that cannot harm a terminal.
#pragma once

#include "analysis/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace analysis {

// Control characters, escape sequences and invalid UTF-8 as \xNN, \n, \t: what a scenario's author wrote is shown as
// text, never executed by a terminal. Direction overrides (U+202A..E, U+2066..9) are shown too: they can forge a line.
std::string escaped(std::string_view text);

// In lines of at most 100 columns, each behind the indent.
std::string wrapped(const std::string &text, const std::string &indent);

// 974135 -> "974,135"
std::string grouped(uint64_t number);

// A metric's number: integers grouped, others to four significant digits; null as "-".
std::string number_text(const Json &number);

// Nanoseconds with the unit that leaves one to three digits before the point: "1.234 ms".
std::string duration_text(const Json &ns);

// "4096" -> "4 KiB"; whole units only, otherwise one decimal.
std::string bytes_text(uint64_t bytes);

// part / whole as "12.3 %"; "-" where the whole is 0.
std::string percent_text(const Json &part, const Json &whole);

// `value` to `digits` significant digits, the same on both compilers: "1.996", "0.0312".
std::string digits_text(double value, int digits);

// The same as a number in JSON; null where it is not finite. What two compilers' rounding can differ in does not show.
Json four_digits(double value);

// Emphasis that is nothing at all where colour is off.
struct Style {
    bool color = false;
    std::string heading(std::string_view text) const { return wrap("1", text); }
    std::string good(std::string_view text) const { return wrap("32", text); }
    std::string bad(std::string_view text) const { return wrap("1;31", text); }
    std::string faint(std::string_view text) const { return wrap("2", text); }

private:
    std::string wrap(const char *code, std::string_view text) const
    {
        return color ? "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m" : std::string(text);
    }
};

// Columns as wide as their widest cell; numbers to the right, names to the left.
class Table {
public:
    enum Align { left, right };
    struct Column {
        std::string title;
        Align align = right;
    };
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
    void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    bool empty() const { return rows_.empty(); }
    std::string text(const std::string &indent = "  ") const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

// A histogram as DTrace prints an aggregation: value, a bar of 40 @ for the whole, count.
std::string histogram_text(const Json &histogram);

} // namespace analysis
