#include "scenarios/number.h"

#include "scenarios/input_error.h"

#include <array>

namespace scenarios {

namespace {

constexpr size_t expression_length_max = 400; // also bounds the recursion of the parser

// Far above 64 bits, and far from where a sign or a quotient could overflow.
constexpr int128 value_max = int128{1} << 100;

struct Suffix {
    std::string_view text;
    uint64_t factor;
    bool time;
};

constexpr std::array suffixes = {
    Suffix{"ns", 1, true},          Suffix{"us", 1'000, true},
    Suffix{"ms", 1'000'000, true},  Suffix{"s", 1'000'000'000, true},
    Suffix{"K", 1ull << 10, false}, Suffix{"M", 1ull << 20, false},
    Suffix{"G", 1ull << 30, false}, Suffix{"T", 1ull << 40, false},
};

const char *allowed_suffixes(Unit unit)
{
    switch (unit) {
    case Unit::plain:
        return "this number takes no unit";
    case Unit::size:
        return "units of size are K, M, G and T";
    case Unit::duration:
        return "units of time are ns, us, ms and s";
    case Unit::any:
        return "units are K, M, G, T, ns, us, ms and s";
    }
    return "";
}

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool is_name(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Recursive descent: sum = product {+|- product}; product = atom {*|/ atom}; atom = number | $name | -atom | (sum).
class Parser {
public:
    Parser(std::string_view text, Unit unit, const Params &params)
        : whole_(text), rest_(text), unit_(unit), params_(params)
    {
    }

    Amount parse()
    {
        const Amount result = sum();
        if (!rest_.empty())
            wrong();
        return result;
    }

private:
    [[noreturn]] void wrong() const
    {
        throw NumberError(in_quotes(whole_) + " is not a number; a number is digits, \"$name\" of a parameter, or both "
                                              "joined by + - * / and parentheses");
    }

    void skip()
    {
        while (!rest_.empty() && rest_.front() == ' ')
            rest_.remove_prefix(1);
    }

    bool take(char c)
    {
        skip();
        if (rest_.empty() || rest_.front() != c)
            return false;
        rest_.remove_prefix(1);
        skip();
        return true;
    }

    Amount sum()
    {
        Amount left = product();
        while (true) {
            const bool plus = take('+');
            if (!plus && !take('-'))
                return left;
            const Amount right = product();
            const bool overflow = plus ? __builtin_add_overflow(left.value, right.value, &left.value)
                                       : __builtin_sub_overflow(left.value, right.value, &left.value);
            check(overflow, left.value);
            left.time = left.time || right.time;
        }
    }

    Amount product()
    {
        Amount left = atom();
        while (true) {
            const bool times = take('*');
            if (!times && !take('/'))
                return left;
            const Amount right = atom();
            if (times) {
                check(__builtin_mul_overflow(left.value, right.value, &left.value), left.value);
                left.time = left.time || right.time;
                continue;
            }
            if (right.value == 0)
                throw DivisionError(in_quotes(whole_) + " divides by zero");
            if (left.value % right.value != 0)
                throw DivisionError(in_quotes(whole_) + ": " + decimal(left.value) + " / " + decimal(right.value) +
                                    " does not come out whole");
            left.value /= right.value;
            left.time = left.time != right.time;
        }
    }

    Amount atom()
    {
        skip();
        if (take('(')) {
            const Amount inner = sum();
            if (!take(')'))
                wrong();
            return inner;
        }
        if (take('-')) {
            Amount inner = atom();
            inner.value = -inner.value;
            return inner;
        }
        if (!rest_.empty() && rest_.front() == '$')
            return parameter();
        return literal();
    }

    Amount parameter()
    {
        rest_.remove_prefix(1);
        size_t length = 0;
        while (length < rest_.size() && is_name(rest_[length]))
            ++length;
        const std::string_view name = rest_.substr(0, length);
        rest_.remove_prefix(length);
        skip();
        std::vector<std::string> names;
        for (const Param &param : params_) {
            if (param.name == name)
                return param.amount;
            names.push_back(param.name);
        }
        throw NumberError(in_quotes(whole_) + ": " + unknown("parameter", name, names));
    }

    Amount literal()
    {
        if (rest_.empty() || !is_digit(rest_.front()))
            wrong();
        Amount amount;
        while (!rest_.empty() && is_digit(rest_.front())) {
            check(__builtin_mul_overflow(amount.value, int128{10}, &amount.value), amount.value);
            check(__builtin_add_overflow(amount.value, int128{rest_.front() - '0'}, &amount.value), amount.value);
            rest_.remove_prefix(1);
        }
        size_t length = 0;
        while (length < rest_.size() && is_name(rest_[length]))
            ++length;
        if (length != 0) {
            const std::string_view given = rest_.substr(0, length);
            const Suffix *suffix = nullptr;
            for (const Suffix &candidate : suffixes)
                if (candidate.text == given)
                    suffix = &candidate;
            const bool fits =
                suffix != nullptr && (unit_ == Unit::any || unit_ == (suffix->time ? Unit::duration : Unit::size));
            if (!fits)
                throw NumberError(in_quotes(whole_) + " has the unit " + in_quotes(given) + "; " +
                                  allowed_suffixes(unit_));
            check(__builtin_mul_overflow(amount.value, int128{suffix->factor}, &amount.value), amount.value);
            amount.time = suffix->time;
            rest_.remove_prefix(length);
        } else if (rest_.starts_with('.')) {
            throw NumberError(in_quotes(whole_) + " has a fraction; numbers are whole, take a smaller unit");
        }
        skip();
        return amount;
    }

    void check(bool overflow, int128 value) const
    {
        if (overflow || value > value_max || value < -value_max)
            throw NumberError(in_quotes(whole_) + " is too large");
    }

    std::string_view whole_;
    std::string_view rest_;
    Unit unit_;
    const Params &params_;
};

} // namespace

Amount evaluate(std::string_view expression, Unit unit, const Params &params)
{
    if (expression.size() > expression_length_max)
        throw NumberError("an expression of " + std::to_string(expression.size()) + " characters; at most " +
                          std::to_string(expression_length_max) + " are read");
    return Parser(expression, unit, params).parse();
}

std::string duration_text(uint64_t ns)
{
    if (ns % 1'000'000'000 == 0)
        return std::to_string(ns / 1'000'000'000) + "s";
    if (ns % 1'000'000 == 0)
        return std::to_string(ns / 1'000'000) + "ms";
    if (ns % 1'000 == 0)
        return std::to_string(ns / 1'000) + "us";
    return std::to_string(ns) + "ns";
}

std::string size_text(uint64_t bytes)
{
    for (const auto &[shift, suffix] : {std::pair{40, 'T'}, std::pair{30, 'G'}, std::pair{20, 'M'}, std::pair{10, 'K'}})
        if (bytes != 0 && bytes % (1ull << shift) == 0)
            return std::to_string(bytes >> shift) + suffix;
    return std::to_string(bytes);
}

std::string decimal(int128 value)
{
    if (value == 0)
        return "0";
    const bool negative = value < 0;
    std::string text;
    for (; value != 0; value /= 10)
        text.insert(text.begin(), static_cast<char>('0' + (negative ? -(value % 10) : value % 10)));
    return negative ? "-" + text : text;
}

} // namespace scenarios
