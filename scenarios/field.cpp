#include "scenarios/field.h"

namespace scenarios {

namespace {

const char *unit_name(Unit unit)
{
    switch (unit) {
    case Unit::plain:
        return "a whole number";
    case Unit::size:
        return "a size: bytes, or text such as \"64K\"";
    case Unit::duration:
        return "a time: text such as \"5ms\"";
    case Unit::any:
        return "a number, a size or a time";
    }
    return "";
}

std::string in_unit(uint64_t value, Unit unit)
{
    return unit == Unit::duration ? duration_text(value)
           : unit == Unit::size   ? size_text(value)
                                  : std::to_string(value);
}

// What a string that stands for a number may look like; what it evaluates to is the reader's business.
constexpr const char *expression_pattern = "^[0-9A-Za-z_$+*/() -]+$";

} // namespace

void Value::wrong_type(std::string_view wanted) const
{
    fail("is " + std::string(type_name(value)) + ", not " + std::string(wanted));
}

uint64_t read_number(const Value &value, const Bounds &bounds)
{
    Amount amount;
    if (value.value.is_string()) {
        try {
            amount = evaluate(value.value.get_ref<const std::string &>(), bounds.unit, value.reading.params);
        } catch (const NumberError &error) {
            value.fail(std::string(error.what()) + "; expected is " + unit_name(bounds.unit));
        }
    } else if (value.value.is_number_unsigned()) {
        amount.value = value.value.get<uint64_t>();
    } else if (value.value.is_number_integer()) {
        amount.value = value.value.get<int64_t>();
    } else if (value.value.is_number_float()) {
        value.fail(std::string("is a number with a fraction or an exponent, not ") + unit_name(bounds.unit));
    } else {
        value.wrong_type(unit_name(bounds.unit));
    }
    if (bounds.unit == Unit::duration && !amount.time && amount.value != 0)
        value.fail("is " + decimal(amount.value) + " without a unit; a time is text such as \"" +
                   decimal(amount.value) + "us\"");
    if (amount.value < int128{bounds.min} || amount.value > int128{bounds.max})
        value.fail("is " + decimal(amount.value) + (bounds.unit == Unit::duration ? " ns" : "") + "; allowed is " +
                   in_unit(bounds.min, bounds.unit) + " to " + in_unit(bounds.max, bounds.unit));
    if (bounds.power_of_two && (amount.value & (amount.value - 1)) != 0)
        value.fail("is " + decimal(amount.value) + ", which is not a power of two");
    if (bounds.unit != Unit::duration && amount.time)
        value.fail(std::string("is a time, not ") + unit_name(bounds.unit));
    return static_cast<uint64_t>(amount.value);
}

std::string read_text(const Value &value, size_t length_max)
{
    if (!value.value.is_string())
        value.wrong_type("text");
    std::string text = value.value.get<std::string>();
    if (text.size() > length_max)
        value.fail("is " + std::to_string(text.size()) + " bytes long; allowed are " + std::to_string(length_max));
    return text;
}

bool read_flag(const Value &value)
{
    if (!value.value.is_boolean())
        value.wrong_type("true or false");
    return value.value.get<bool>();
}

std::string read_choice(const Value &value, std::string_view what, const std::vector<std::string> &names)
{
    if (!value.value.is_string())
        value.wrong_type("one of " + json(names).dump());
    const std::string given = value.value.get<std::string>();
    for (const std::string &name : names)
        if (name == given)
            return given;
    value.fail(unknown(what, given, names));
}

json number_schema(const Bounds &bounds)
{
    const json expression = {{"type", "string"}, {"pattern", expression_pattern}, {"maxLength", 400}};
    json number = {{"type", "integer"}, {"minimum", bounds.min}};
    if (bounds.max <= INT64_MAX) // validators keep bounds in signed or floating numbers
        number["maximum"] = bounds.max;
    if (bounds.unit == Unit::duration) {
        if (bounds.min > 0)
            return expression;
        number = {{"const", 0}};
    }
    return {{"anyOf", json::array({number, expression})}};
}

json number_json(uint64_t value, Unit unit)
{
    return unit == Unit::duration ? json(duration_text(value)) : json(value);
}

void Table::read(void *object, const Value &value) const
{
    if (!value.value.is_object())
        value.wrong_type(name_);
    for (const auto &[key, item] : value.value.items()) {
        const Field *found = nullptr;
        for (const Field &field : fields_)
            if (field.name == key)
                found = &field;
        if (found != nullptr)
            continue;
        std::vector<std::string> names;
        for (const Field &field : fields_)
            names.push_back(field.name);
        throw value.reading.document.key_error(join(value.path, key), unknown("key", key, names));
    }
    for (const Field &field : fields_) {
        if (value.value.contains(field.name))
            field.read(object, value.at(field.name));
        else if (field.required)
            value.fail("lacks " + in_quotes(field.name) + ": " + field.sentence);
    }
}

json Table::write(const void *object) const
{
    json written = json::object();
    for (const Field &field : fields_)
        if (json value = field.write(object); !value.is_null())
            written[field.name] = std::move(value);
    return written;
}

json Table::schema(const void *defaults) const
{
    json properties = json::object();
    json names = json::array();
    for (const Field &field : fields_) {
        json property = {{"description", field.sentence}};
        property.update(field.schema);
        if (!field.required && !field.from_era && defaults != nullptr)
            if (json value = field.write(defaults); !value.is_null() && !value.is_structured())
                property["default"] = std::move(value);
        properties[field.name] = std::move(property);
        if (field.required)
            names.push_back(field.name);
    }
    json schema = {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
    if (!names.empty())
        schema["required"] = std::move(names);
    return schema;
}

} // namespace scenarios
