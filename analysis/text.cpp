#include "analysis/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace analysis {

namespace {

// Length of the UTF-8 sequence at `at`, or 0 where it is not one; the code point goes to `point`.
size_t utf8_length(std::string_view text, size_t at, uint32_t &point)
{
    auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    unsigned first = byte(at);
    size_t length = first < 0x80                    ? 1
                    : first >= 0xc2 && first < 0xe0 ? 2
                    : (first & 0xf0) == 0xe0        ? 3
                    : first >= 0xf0 && first < 0xf5 ? 4
                                                    : 0;
    if (length <= 1) {
        point = first;
        return length;
    }
    point = first & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; ++i) {
        if ((byte(at + i) & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (byte(at + i) & 0x3f);
    }
    return length;
}

bool harmless(uint32_t point)
{
    bool control = point < 0x20 || (point >= 0x7f && point < 0xa0);
    bool direction = (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069) || point == 0x2028 ||
                     point == 0x2029;
    return !control && !direction;
}

std::string format(const char *pattern, double value)
{
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, pattern, value);
    return buffer;
}

// Width on screen: code points. East Asian wide forms are not counted twice; names here are ASCII.
size_t width(std::string_view text)
{
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string padded(std::string_view text, size_t columns, Table::Align align)
{
    std::string space(columns > width(text) ? columns - width(text) : 0, ' ');
    return align == Table::right ? space + std::string(text) : std::string(text) + space;
}

} // namespace

std::string escaped(std::string_view text)
{
    std::string safe;
    for (size_t at = 0; at < text.size();) {
        uint32_t point = 0;
        size_t length = utf8_length(text, at, point);
        if (length > 0 && harmless(point)) {
            safe += text.substr(at, length);
            at += length;
            continue;
        }
        for (size_t end = at + std::max<size_t>(length, 1); at < end; ++at) {
            char code[8];
            std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned char>(text[at]));
            safe += text[at] == '\n' ? "\\n" : text[at] == '\t' ? "\\t" : code;
        }
    }
    return safe;
}

std::string wrapped(const std::string &text, const std::string &indent)
{
    constexpr size_t columns = 100;
    std::string out, line;
    for (size_t from = 0; from < text.size();) {
        size_t end = std::min(text.find(' ', from), text.size());
        std::string word = text.substr(from, end - from);
        if (!line.empty() && indent.size() + width(line) + 1 + width(word) > columns) {
            out += indent + line + "\n";
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
        from = end + 1;
    }
    return out + indent + line + "\n";
}

std::string grouped(uint64_t number)
{
    std::string digits = std::to_string(number);
    for (size_t at = digits.size(); at > 3;) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

std::string digits_text(double value, int digits)
{
    if (!std::isfinite(value))
        return "-";
    if (value == 0)
        return "0";
    // Rounded once in scientific form, whose exponent then says how many decimals that leaves: 0.99996 is 1.000.
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.*e", digits - 1, value);
    int exponent = std::atoi(std::strchr(buffer, 'e') + 1);
    int decimals = std::clamp(digits - 1 - exponent, 0, digits + 6);
    std::snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
    return buffer;
}

Json four_digits(double value)
{
    if (!std::isfinite(value))
        return nullptr;
    char text[40];
    std::snprintf(text, sizeof text, "%.4g", value);
    double rounded = 0;
    std::from_chars(text, text + std::char_traits<char>::length(text), rounded);
    if (rounded == std::floor(rounded) && std::fabs(rounded) < 9e15)
        return static_cast<int64_t>(rounded);
    return rounded;
}

std::string number_text(const Json &number)
{
    if (number.is_number_integer() && number >= 0)
        return grouped(number.get<uint64_t>());
    if (number.is_number_integer())
        return std::to_string(number.get<int64_t>());
    if (!number.is_number())
        return "-";
    double value = number.get<double>();
    if (value >= 1000 && value < 1e15)
        return grouped(static_cast<uint64_t>(std::llround(value)));
    return digits_text(value, 4);
}

std::string duration_text(const Json &ns)
{
    if (!ns.is_number())
        return "-";
    double value = ns.get<double>();
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    for (const auto &[size, unit] : units)
        if (value >= size)
            return digits_text(value / size, 4) + " " + unit;
    return value == 0 ? "0" : digits_text(value, 4) + " ns";
}

std::string bytes_text(uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    uint64_t whole = bytes, rest = 0;
    while (whole >= 1024 && unit + 1 < std::size(units)) {
        rest = whole % 1024;
        whole /= 1024;
        ++unit;
    }
    std::string text = std::to_string(whole);
    if (rest != 0)
        text += "." + std::to_string(rest * 10 / 1024);
    return text + " " + units[unit];
}

std::string percent_text(const Json &part, const Json &whole)
{
    if (!part.is_number() || !whole.is_number() || whole.get<double>() == 0)
        return "-";
    return format("%.1f %%", part.get<double>() * 100 / whole.get<double>());
}

std::string Table::text(const std::string &indent) const
{
    std::vector<size_t> widths;
    for (size_t i = 0; i < columns_.size(); ++i) {
        size_t widest = width(columns_[i].title);
        for (const auto &cells : rows_)
            if (i < cells.size())
                widest = std::max(widest, width(cells[i]));
        widths.push_back(widest);
    }
    auto line = [&](auto cell) {
        std::string out = indent;
        for (size_t i = 0; i < columns_.size(); ++i)
            out += (i > 0 ? "  " : "") + padded(cell(i), widths[i], columns_[i].align);
        out.erase(out.find_last_not_of(' ') + 1);
        return out + "\n";
    };
    std::string out = line([&](size_t i) { return columns_[i].title; });
    for (const auto &cells : rows_)
        out += line([&](size_t i) { return i < cells.size() ? cells[i] : std::string(); });
    return out;
}

std::string histogram_text(const Json &histogram)
{
    constexpr uint64_t bar_width = 40;
    constexpr uint64_t gap_shown = 16; // more empty buckets than this in a row become one line
    bool quantize = histogram.value("scale", "") == "quantize";
    const Json &rows = histogram["rows"];
    uint64_t total = 0;
    for (const Json &row : rows)
        total += row[1].get<uint64_t>();
    auto next = [&](uint64_t bucket) { return quantize ? (bucket == 0 ? 1 : bucket * 2) : bucket + 1; };

    char line[160];
    std::string out = "           value  ------------- Distribution ------------- count\n";
    auto print = [&](const std::string &value, uint64_t count) {
        uint64_t length = total == 0 ? 0 : (count * bar_width + total / 2) / total;
        std::snprintf(line, sizeof line, "%16s |%-40s %llu\n", value.c_str(), std::string(length, '@').c_str(),
                      static_cast<unsigned long long>(count));
        out += line;
    };
    if (rows.empty()) {
        print("0", 0);
        return out;
    }
    uint64_t bucket = rows[0][0].get<uint64_t>();
    print(bucket == 0 ? "-1" : std::to_string(quantize ? bucket / 2 : bucket - 1),
          0); // as DTrace: one empty bucket on each side
    for (const Json &row : rows) {
        uint64_t here = row[0].get<uint64_t>();
        uint64_t gap = 0;
        for (uint64_t empty = bucket; empty < here && gap <= gap_shown; empty = next(empty))
            ++gap;
        if (gap > gap_shown)
            print("...", 0);
        else
            for (; bucket < here; bucket = next(bucket))
                print(std::to_string(bucket), 0);
        print(std::to_string(here), row[1].get<uint64_t>());
        bucket = next(here);
    }
    print(std::to_string(bucket), 0);
    return out;
}

} // namespace analysis
