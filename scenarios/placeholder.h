// Text with placeholders, filled in by the thread that runs the step: "f{n:08}", "{thread}/{rand:1..100}".
//
//   {thread}        the thread's number in its group, from 0
//   {i}             the round of the innermost repeat, from 0
//   {n}             a number that the group hands out, from 0: each round that asks gets the next, and keeps it
//   {group}         the group's name
//   {rand:LO..HI}   a number from the thread's own stream, both ends included
//
// A width pads with zeros: {i:08}, {rand:1..100:03}. "{{" and "}}" stand for single braces.
#pragma once

#include "scenarios/field.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace scenarios {

// Where a placeholder's value comes from; the interpreter's thread implements it.
class Placeholders {
public:
    virtual ~Placeholders() = default;
    virtual uint64_t thread() = 0;
    virtual uint64_t round() = 0;
    virtual uint64_t group_number() = 0;
    virtual std::string_view group() = 0;
    virtual uint64_t random(uint64_t low, uint64_t high) = 0;
};

class Template {
public:
    Template() = default;
    // Throws NumberError (what is wrong with the text; the caller knows the place).
    explicit Template(std::string text);

    const std::string &text() const { return text_; }
    bool constant() const;
    std::string fill(Placeholders &values) const;

private:
    enum class Kind { literal, thread, round, group_number, group, random };
    struct Part {
        Kind kind;
        std::string literal;
        uint32_t width = 0;
        uint64_t low = 0, high = 0;
    };
    Part placeholder(std::string_view inside) const;

    std::string text_;
    std::vector<Part> parts_;
};

// A number that may differ from round to round: with placeholders it is evaluated each time, otherwise once.
struct Quantity {
    uint64_t value = 0;
    Bounds bounds;
    Template expression; // empty text: constant

    // Throws NumberError when this round's value is out of bounds.
    uint64_t get(Placeholders &values, const Params &params) const;
};

Quantity read_quantity(const Value &value, const Bounds &bounds);
json quantity_json(const Quantity &quantity);

template <class S>
Field quantity(std::string name, Quantity S::*member, Bounds bounds, std::string sentence)
{
    json schema = number_schema(bounds);
    (schema.contains("anyOf") ? schema["anyOf"][1] : schema)["pattern"] = "^[0-9A-Za-z_$+*/(){}:. -]+$";
    Field field = custom<S>(
        std::move(name), std::move(schema), {}, std::move(sentence),
        [member, bounds](S &object, const Value &value) { object.*member = read_quantity(value, bounds); },
        [member](const S &object) { return quantity_json(object.*member); });
    field.bound = number(field.name, &Quantity::value, bounds, "").bound;
    return field;
}

Template read_template(const Value &value, size_t length_max);

template <class S>
Field template_text(std::string name, Template S::*member, size_t length_max, std::string sentence)
{
    return custom<S>(
        std::move(name), {{"type", "string"}, {"maxLength", length_max}},
        "text, at most " + std::to_string(length_max) + " bytes, placeholders", std::move(sentence),
        [member, length_max](S &object, const Value &value) { object.*member = read_template(value, length_max); },
        [member](const S &object) {
            return (object.*member).text().empty() ? json(nullptr) : json((object.*member).text());
        });
}

} // namespace scenarios
