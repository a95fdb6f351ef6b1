// One declaration a field: its name, unit, bounds and sentence. From it come the reader with its error messages, the
// JSON schema, the effective scenario that a result carries, and the help.
//
// A Table lists the fields of one struct, by pointer to member; the default of a field is what a default-constructed
// struct (or, for the code base, the era) holds. Reading never guesses: unknown keys, wrong types and values out of
// bounds are InputErrors at their place.
#pragma once

#include "scenarios/number.h"
#include "scenarios/strict_json.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace scenarios {

// What reading a value needs besides the value.
struct Reading {
    const Document &document;
    const Params &params;
};

// A value in its document.
struct Value {
    const json &value;
    const Reading &reading;
    std::string path;

    [[noreturn]] void fail(std::string problem) const { throw reading.document.error(path, std::move(problem)); }
    [[noreturn]] void wrong_type(std::string_view wanted) const;
    Value at(std::string_view key) const { return {value[std::string(key)], reading, join(path, key)}; }
    Value at(size_t index) const { return {value[index], reading, join(path, index)}; }
};

// The longest time a scenario can name. The kernel's clock ends after two and a half hours.
constexpr uint64_t longest_ns = 4'000'000'000'000;

struct Bounds {
    Unit unit = Unit::plain;
    uint64_t min = 0;
    uint64_t max = INT64_MAX;
    bool power_of_two = false;
};

uint64_t read_number(const Value &value, const Bounds &bounds);
std::string read_text(const Value &value, size_t length_max);
bool read_flag(const Value &value);
std::string read_choice(const Value &value, std::string_view what, const std::vector<std::string> &names);
json number_schema(const Bounds &bounds);
json number_json(uint64_t value, Unit unit); // as the effective scenario writes it

struct Field {
    std::string name;
    std::string sentence;
    json schema;       // without description and default
    std::string bound; // for help: "1 to 1024", "4K to 1T", the choices
    bool required = false;
    bool from_era = false; // the default depends on another field
    std::function<void(void *object, const Value &value)> read;
    std::function<json(const void *object)> write; // null: the field is not there
};

class Table {
public:
    Table(std::string name, std::vector<Field> fields) : name_(std::move(name)), fields_(std::move(fields)) {}

    const std::string &name() const { return name_; }
    const std::vector<Field> &fields() const { return fields_; }

    // Reads what is given into the object, which holds the defaults. REQUIRES: object is of the table's struct.
    void read(void *object, const Value &value) const;
    json write(const void *object) const;
    // A closed object schema; `defaults` may be null.
    json schema(const void *defaults) const;

private:
    std::string name_; // for messages: "a pool", "a group of threads"
    std::vector<Field> fields_;
};

template <class T>
void read_into(const Table &table, T &object, const Value &value)
{
    table.read(&object, value);
}

// Fields, by member.

template <class S, class T>
Field number(std::string name, T S::*member, Bounds bounds, std::string sentence)
{
    Field field{std::move(name), std::move(sentence), number_schema(bounds), {}, false, false, {}, {}};
    field.bound = (bounds.unit == Unit::duration ? duration_text(bounds.min) : std::to_string(bounds.min)) + " to " +
                  (bounds.unit == Unit::duration ? duration_text(bounds.max)
                   : bounds.unit == Unit::size   ? size_text(bounds.max)
                                                 : std::to_string(bounds.max));
    field.read = [member, bounds](void *object, const Value &value) {
        static_cast<S *>(object)->*member = static_cast<T>(read_number(value, bounds));
    };
    field.write = [member, bounds](const void *object) {
        return number_json(static_cast<uint64_t>(static_cast<const S *>(object)->*member), bounds.unit);
    };
    return field;
}

template <class S>
Field flag(std::string name, bool S::*member, std::string sentence)
{
    Field field{std::move(name), std::move(sentence), {{"type", "boolean"}}, "true or false", false, false, {}, {}};
    field.read = [member](void *object, const Value &value) { static_cast<S *>(object)->*member = read_flag(value); };
    field.write = [member](const void *object) { return json(static_cast<const S *>(object)->*member); };
    return field;
}

template <class S>
Field text(std::string name, std::string S::*member, size_t length_max, std::string sentence)
{
    Field field{std::move(name),
                std::move(sentence),
                {{"type", "string"}, {"maxLength", length_max}},
                "text, at most " + std::to_string(length_max) + " bytes",
                false,
                false,
                {},
                {}};
    field.read = [member, length_max](void *object, const Value &value) {
        static_cast<S *>(object)->*member = read_text(value, length_max);
    };
    field.write = [member](const void *object) { return json(static_cast<const S *>(object)->*member); };
    return field;
}

template <class S>
Field choice(std::string name, std::string S::*member, std::vector<std::string> names, std::string sentence)
{
    std::string bound;
    for (const std::string &one : names)
        bound += (bound.empty() ? "" : " | ") + one;
    Field field{std::move(name), std::move(sentence), {{"enum", names}}, bound, false, false, {}, {}};
    field.read = [member, names, what = field.name](void *object, const Value &value) {
        static_cast<S *>(object)->*member = read_choice(value, what, names);
    };
    field.write = [member](const void *object) {
        const std::string &chosen = static_cast<const S *>(object)->*member;
        return chosen.empty() ? json(nullptr) : json(chosen);
    };
    return field;
}

template <class S, class T>
Field object(std::string name, T S::*member, const Table &table, std::string sentence)
{
    const T defaults{};
    Field field{std::move(name), std::move(sentence), table.schema(&defaults), "an object", false, false, {}, {}};
    field.read = [member, &table](void *object, const Value &value) {
        table.read(&(static_cast<S *>(object)->*member), value);
    };
    field.write = [member, &table](const void *object) {
        return table.write(&(static_cast<const S *>(object)->*member));
    };
    return field;
}

// A field whose form is its own.
template <class S>
Field custom(std::string name, json schema, std::string bound, std::string sentence,
             std::function<void(S &, const Value &)> read, std::function<json(const S &)> write)
{
    Field field{std::move(name), std::move(sentence), std::move(schema), std::move(bound), false, false, {}, {}};
    field.read = [read = std::move(read)](void *object, const Value &value) { read(*static_cast<S *>(object), value); };
    field.write = [write = std::move(write)](const void *object) { return write(*static_cast<const S *>(object)); };
    return field;
}

inline Field required(Field field)
{
    field.required = true;
    return field;
}

inline Field from_era(Field field)
{
    field.from_era = true;
    return field;
}

} // namespace scenarios
