// Operations on ZAPs: their names, fields and sentences. What they do is in zap_verbs.cpp.
#include "scenarios/operation.h"
#include "scenarios/zap_verbs.h"

namespace scenarios {

namespace {

constexpr size_t name_length_max = 2000; // longer than any ZAP takes: ENAMETOOLONG is an answer
constexpr size_t values_max = 2000;
constexpr Bounds value_bounds{Unit::plain, 0, UINT64_MAX};

Field zap_field()
{
    return required(
        template_text("zap", &Step::zap, 255, "The ZAP, by the name that zap_create gave it in the script."));
}

Field name_field()
{
    return required(template_text("name", &Step::name, name_length_max, "The entry's name."));
}

Field integer_size_field()
{
    return custom<Step>(
        "integer_size", number_schema({Unit::plain, 1, 8}), "1 | 2 | 4 | 8", "Bytes of one integer.",
        [](Step &step, const Value &value) {
            step.integer_size = read_number(value, {Unit::plain, 1, 8, true});
        },
        [](const Step &step) { return json(step.integer_size); });
}

std::vector<Field> value_fields()
{
    json one = number_schema(value_bounds);
    one["anyOf"][1]["pattern"] = "^[0-9A-Za-z_$+*/(){}:. -]+$";
    return {
        custom<Step>(
            "value", one, "0 to " + std::to_string(UINT64_MAX), "The one integer stored.",
            [](Step &step, const Value &value) { step.values = {read_quantity(value, value_bounds)}; },
            [](const Step &step) { return step.values.size() == 1 ? quantity_json(step.values[0]) : json(nullptr); }),
        custom<Step>(
            "values", {{"type", "array"}, {"minItems", 1}, {"maxItems", values_max}, {"items", one}},
            "a list of integers", "The integers stored, instead of one value.",
            [](Step &step, const Value &value) {
                if (!value.value.is_array() || value.value.empty() || value.value.size() > values_max)
                    value.wrong_type("a list of 1 to " + std::to_string(values_max) + " integers");
                step.values.clear();
                for (size_t i = 0; i < value.value.size(); ++i)
                    step.values.push_back(read_quantity(value.at(i), value_bounds));
            },
            [](const Step &step) {
                if (step.values.size() == 1)
                    return json(nullptr);
                json list = json::array();
                for (const Quantity &quantity : step.values)
                    list.push_back(quantity_json(quantity));
                return list;
            }),
        integer_size_field()};
}

// Each integer fits its size; of the two ways to give them, one.
void check_values(const Step &step, const Value &item)
{
    if (item.value.contains("value") && item.value.contains("values"))
        item.at("value").fail("is given beside \"values\"; it is one or the other");
    const uint64_t max = zap_integer_max(step.integer_size);
    for (size_t i = 0; i < step.values.size(); ++i)
        if (step.values[i].expression.text().empty() && step.values[i].value > max)
            (item.value.contains("values") ? item.at("values").at(i) : item.at("value"))
                .fail("is " + std::to_string(step.values[i].value) + "; an integer of integer_size " +
                      std::to_string(step.integer_size) + " is at most " + std::to_string(max));
}

Field room_field()
{
    return custom<Step>(
        "count", number_schema({Unit::plain, 1, values_max}), "1 to " + std::to_string(values_max),
        "How many integers there is room for: EOVERFLOW if there are more.",
        [](Step &step, const Value &value) {
            step.values.resize(read_number(value, {Unit::plain, 1, values_max}));
        },
        [](const Step &step) { return json(step.values.size()); });
}

Field add_field()
{
    return flag("add", &Step::add, "For adding an entry; otherwise for removing one.");
}

Operation operation(const char *name, const char *sentence, std::vector<Field> fields,
                    void (*perform)(Worker &, const Step &), void (*check)(const Step &, const Value &) = nullptr)
{
    fields.insert(fields.begin(), zap_field());
    return {name,    sentence, Table(std::string("an op ") + name, with_common(name, std::move(fields))),
            perform, check,    Needs::nothing};
}

std::vector<Field> with_name(std::vector<Field> fields)
{
    fields.insert(fields.begin(), name_field());
    return fields;
}

} // namespace

std::vector<Operation> zap_operations()
{
    using namespace zap_verbs;
    std::vector<Operation> list;
    list.push_back(
        operation("zap_create", "Makes an empty ZAP; EEXIST where the script has one of that name.", {}, zap_create));
    list.push_back(operation("zap_add", "Adds an entry; EEXIST, ENAMETOOLONG, E2BIG.", with_name(value_fields()),
                             zap_add, check_values));
    list.push_back(operation("zap_update", "Adds an entry or replaces its value.", with_name(value_fields()),
                             zap_update, check_values));
    list.push_back(operation("zap_lookup", "Reads an entry; ENOENT, EINVAL, EOVERFLOW.",
                             with_name({integer_size_field(), room_field()}), zap_lookup));
    list.push_back(operation("zap_remove", "Removes an entry; ENOENT.", with_name({}), zap_remove));
    list.push_back(
        operation("zap_count_write", "Estimates what a change may write.", with_name({add_field()}), zap_count_write));
    list.push_back(operation("tx_hold_zap", "Holds the ZAP for a change, in a transaction that is given up.",
                             with_name({add_field()}), tx_hold_zap));
    list.push_back(operation("zap_cursor", "Walks over all entries.", {}, zap_cursor));
    list.push_back(operation("zap_stats", "Reads the ZAP's statistics, leaf by leaf.", {}, zap_stats));
    return list;
}

} // namespace scenarios
