#include "scenarios/placeholder.h"

namespace scenarios {

namespace {

constexpr uint32_t width_max = 100;

uint64_t digits(std::string_view text, std::string_view whole)
{
    uint64_t value = 0;
    bool wrong = text.empty();
    for (const char c : text) {
        wrong = wrong || c < '0' || c > '9' || __builtin_mul_overflow(value, uint64_t{10}, &value) ||
                __builtin_add_overflow(value, static_cast<uint64_t>(c - '0'), &value);
    }
    if (wrong)
        throw NumberError(in_quotes(whole) + ": " + in_quotes(text) + " is not a number");
    return value;
}

void append_padded(std::string &out, uint64_t value, uint32_t width)
{
    const std::string text = std::to_string(value);
    if (text.size() < width)
        out.append(width - text.size(), '0');
    out += text;
}

} // namespace

Template::Template(std::string text) : text_(std::move(text))
{
    std::string literal;
    const std::string_view all = text_;
    for (size_t i = 0; i < all.size(); ++i) {
        const bool doubled = i + 1 < all.size() && all[i + 1] == all[i];
        if ((all[i] == '{' || all[i] == '}') && doubled) {
            literal += all[i++];
            continue;
        }
        if (all[i] == '}')
            throw NumberError(in_quotes(text_) +
                              " has a \"}\" without its \"{\"; write \"}}\" for the character itself");
        if (all[i] != '{') {
            literal += all[i];
            continue;
        }
        const size_t end = all.find('}', i);
        if (end == std::string_view::npos)
            throw NumberError(in_quotes(text_) +
                              " has a \"{\" without its \"}\"; write \"{{\" for the character itself");
        if (!literal.empty())
            parts_.push_back({Kind::literal, std::move(literal)});
        literal.clear();
        parts_.push_back(placeholder(all.substr(i + 1, end - i - 1)));
        i = end;
    }
    if (!literal.empty())
        parts_.push_back({Kind::literal, std::move(literal)});
}

Template::Part Template::placeholder(std::string_view inside) const
{
    static constexpr std::pair<std::string_view, Kind> names[] = {{"thread", Kind::thread},
                                                                  {"i", Kind::round},
                                                                  {"n", Kind::group_number},
                                                                  {"group", Kind::group},
                                                                  {"rand", Kind::random}};
    const size_t colon = inside.find(':');
    const std::string_view name = inside.substr(0, colon);
    std::string_view rest = colon == std::string_view::npos ? std::string_view() : inside.substr(colon + 1);
    Part part{Kind::literal, {}};
    std::vector<std::string> known;
    for (const auto &[candidate, kind] : names) {
        if (candidate == name)
            part.kind = kind;
        known.emplace_back(candidate);
    }
    if (part.kind == Kind::literal)
        throw NumberError(in_quotes(text_) + ": " + unknown("placeholder", name, known));
    if (part.kind == Kind::random) {
        const size_t dots = rest.find("..");
        if (dots == std::string_view::npos)
            throw NumberError(in_quotes(text_) + ": a random number is written {rand:LO..HI}");
        const size_t width = rest.find(':', dots);
        part.low = digits(rest.substr(0, dots), text_);
        part.high = digits(rest.substr(dots + 2, width == std::string_view::npos ? width : width - dots - 2), text_);
        if (part.low > part.high)
            throw NumberError(in_quotes(text_) + ": the lower end of {rand:LO..HI} is above the upper");
        rest = width == std::string_view::npos ? std::string_view() : rest.substr(width + 1);
    }
    if (!rest.empty()) {
        const uint64_t width = digits(rest, text_);
        if (width > width_max)
            throw NumberError(in_quotes(text_) + ": a width is at most " + std::to_string(width_max));
        part.width = static_cast<uint32_t>(width);
    }
    return part;
}

bool Template::constant() const
{
    for (const Part &part : parts_)
        if (part.kind != Kind::literal)
            return false;
    return true;
}

std::string Template::fill(Placeholders &values) const
{
    std::string out;
    for (const Part &part : parts_) {
        switch (part.kind) {
        case Kind::literal:
            out += part.literal;
            break;
        case Kind::thread:
            append_padded(out, values.thread(), part.width);
            break;
        case Kind::round:
            append_padded(out, values.round(), part.width);
            break;
        case Kind::group_number:
            append_padded(out, values.group_number(), part.width);
            break;
        case Kind::group:
            out += values.group();
            break;
        case Kind::random:
            append_padded(out, values.random(part.low, part.high), part.width);
            break;
        }
    }
    return out;
}

uint64_t Quantity::get(Placeholders &values, const Params &params) const
{
    if (expression.text().empty())
        return value;
    const std::string text = expression.fill(values);
    const Amount amount = evaluate(text, bounds.unit, params);
    if (amount.value < int128{bounds.min} || amount.value > int128{bounds.max})
        throw NumberError(in_quotes(expression.text()) + " is " + decimal(amount.value) + " here; allowed is " +
                          std::to_string(bounds.min) + " to " + std::to_string(bounds.max));
    if (bounds.unit == Unit::duration && !amount.time && amount.value != 0)
        throw NumberError(in_quotes(expression.text()) + " has no unit of time");
    return static_cast<uint64_t>(amount.value);
}

namespace {

// Every placeholder is 1: enough to see whether an expression is well formed.
class Ones : public Placeholders {
public:
    uint64_t thread() override { return 1; }
    uint64_t round() override { return 1; }
    uint64_t group_number() override { return 1; }
    std::string_view group() override { return "1"; }
    uint64_t random(uint64_t low, uint64_t) override { return low; }
};

} // namespace

Quantity read_quantity(const Value &value, const Bounds &bounds)
{
    Quantity quantity;
    quantity.bounds = bounds;
    if (!value.value.is_string() || value.value.get_ref<const std::string &>().find('{') == std::string::npos) {
        quantity.value = read_number(value, bounds);
        return quantity;
    }
    try {
        quantity.expression = Template(value.value.get<std::string>());
        Ones ones;
        evaluate(quantity.expression.fill(ones), bounds.unit, value.reading.params);
    } catch (const DivisionError &) {
        // depends on the round
    } catch (const NumberError &error) {
        value.fail(error.what());
    }
    return quantity;
}

json quantity_json(const Quantity &quantity)
{
    if (!quantity.expression.text().empty())
        return quantity.expression.text();
    return number_json(quantity.value, quantity.bounds.unit);
}

Template read_template(const Value &value, size_t length_max)
{
    try {
        return Template(read_text(value, length_max));
    } catch (const NumberError &error) {
        value.fail(error.what());
    }
}

} // namespace scenarios
