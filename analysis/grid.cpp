#include "analysis/grid.h"

#include "analysis/text.h"

#include <charconv>
#include <optional>
#include <set>

namespace analysis {

namespace {

std::optional<uint64_t> whole(std::string_view text)
{
    uint64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

// At commas that stand outside of brackets and quotes.
std::vector<std::string> split(const std::string &list)
{
    std::vector<std::string> items(1);
    int depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < list.size(); ++i) {
        char c = list[i];
        if (quoted && c == '\\' && i + 1 < list.size()) {
            items.back() += c;
            c = list[++i];
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted) {
            depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
            if (c == ',' && depth == 0) {
                items.emplace_back();
                continue;
            }
        }
        items.back() += c;
    }
    return items;
}

void add_range(Axis &axis, const std::string &item, uint64_t from, uint64_t to, uint64_t step)
{
    if (from > to || step == 0)
        throw GridError(axis.path + ": the range " + escaped(item) + " is empty");
    if ((to - from) / step >= Grid::points_max)
        throw GridError(axis.path + ": the range " + escaped(item) + " has more than " +
                        std::to_string(Grid::points_max) + " values");
    for (uint64_t value = from;; value += step) {
        axis.values.push_back(value);
        if (to - value < step)
            return;
    }
}

// BASE^LOW..BASE^HIGH. False: not of that form.
bool add_powers(Axis &axis, const std::string &item, std::string_view left, std::string_view right)
{
    size_t left_hat = left.find('^'), right_hat = right.find('^');
    if (left_hat == std::string_view::npos || right_hat == std::string_view::npos)
        return false;
    auto base = whole(left.substr(0, left_hat)), same = whole(right.substr(0, right_hat));
    auto low = whole(left.substr(left_hat + 1)), high = whole(right.substr(right_hat + 1));
    if (!base || !same || !low || !high)
        return false;
    if (*base != *same || *base < 2 || *low > *high || *high > 63)
        throw GridError(axis.path + ": " + escaped(item) + " is not a range of powers such as 2^0..2^20");
    for (uint64_t exponent = 0, value = 1; exponent <= *high; ++exponent, value *= *base) {
        if (exponent >= *low)
            axis.values.push_back(value);
        if (exponent < *high && value > UINT64_MAX / *base)
            throw GridError(axis.path + ": " + escaped(item) + " goes beyond 2^64");
    }
    return true;
}

bool add_range(Axis &axis, const std::string &item)
{
    size_t dots = item.find("..");
    if (dots == std::string::npos)
        return false;
    std::string_view left = std::string_view(item).substr(0, dots), right = std::string_view(item).substr(dots + 2);
    if (add_powers(axis, item, left, right))
        return true;
    uint64_t step = 1;
    if (size_t colon = right.find(':'); colon != std::string_view::npos) {
        auto given = whole(right.substr(colon + 1));
        if (!given)
            return false;
        step = *given;
        right = right.substr(0, colon);
    }
    auto from = whole(left), to = whole(right);
    if (!from || !to)
        return false;
    add_range(axis, item, *from, *to, step);
    return true;
}

} // namespace

Axis parse_axis(const std::string &text)
{
    size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw GridError(escaped(text) + " is not PATH=VALUE,VALUE,...");
    Axis axis{text.substr(0, equals), {}};
    for (const std::string &item : split(text.substr(equals + 1))) {
        if (item.empty())
            throw GridError(escaped(axis.path) + ": a value is missing");
        if (add_range(axis, item))
            continue;
        Json value = Json::parse(item, nullptr, false);
        axis.values.push_back(value.is_discarded() ? Json(item) : value);
    }
    return axis;
}

Grid::Grid(std::vector<Axis> axes) : axes_(std::move(axes))
{
    std::set<std::string> paths;
    for (const Axis &axis : axes_) {
        if (!paths.insert(axis.path).second)
            throw GridError(escaped(axis.path) + " is varied twice");
        size_ *= axis.values.size();
        if (size_ > points_max)
            throw GridError("the grid has more than " + std::to_string(points_max) + " points");
    }
}

Json Grid::point(size_t index) const
{
    std::vector<const Json *> values(axes_.size());
    for (size_t i = axes_.size(); i-- > 0;) {
        values[i] = &axes_[i].values[index % axes_[i].values.size()];
        index /= axes_[i].values.size();
    }
    Json point = Json::object();
    for (size_t i = 0; i < axes_.size(); ++i)
        point[axes_[i].path] = *values[i];
    return point;
}

} // namespace analysis
