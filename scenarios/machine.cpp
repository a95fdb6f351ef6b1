#include "scenarios/machine.h"

#include "sim/limits.h"
#include "sim/lock_policy.h"

#include <filesystem>

namespace scenarios {

namespace {

constexpr int64_t ps_per_ns = 1000;

// "12.5" for 12,500 ps.
std::string ns_text(int64_t ps)
{
    std::string text = std::to_string(ps / ps_per_ns);
    int64_t rest = ps % ps_per_ns;
    if (rest == 0)
        return text;
    text += '.';
    for (int64_t digit = ps_per_ns / 10; rest != 0; digit /= 10) {
        text += static_cast<char>('0' + rest / digit);
        rest %= digit;
    }
    return text;
}

// Nanoseconds with decimals, as picoseconds; taken from the shortest text of the number, so that nothing is rounded.
int64_t read_ns(const Value &value, const sim::MachineParameter &parameter)
{
    const auto out_of_range = [&] {
        value.fail("is " + value.value.dump() + "; allowed is " + ns_text(parameter.least) + " to " +
                   ns_text(parameter.most) + " ns");
    };
    if (value.value.is_string())
        return static_cast<int64_t>(read_number(
                   value, {Unit::plain, static_cast<uint64_t>((parameter.least + ps_per_ns - 1) / ps_per_ns),
                           static_cast<uint64_t>(parameter.most / ps_per_ns)})) *
               ps_per_ns;
    if (!value.value.is_number())
        value.wrong_type("a number of nanoseconds");
    const std::string text = value.value.dump();
    int64_t ps = 0;
    int decimals = -1;
    for (const char c : text) {
        if (c == '.' && decimals < 0) {
            decimals = 0;
            continue;
        }
        if (c < '0' || c > '9' || ps > INT64_MAX / 100'000)
            out_of_range();
        ps = ps * 10 + (c - '0');
        if (decimals >= 0)
            ++decimals;
    }
    if (decimals > 3 && !(decimals == 1 && text.ends_with(".0")))
        value.fail("is " + text + "; a picosecond, 0.001, is the smallest step");
    for (int i = decimals < 0 ? 0 : decimals; i < 3; ++i)
        ps *= 10;
    if (ps < parameter.least || ps > parameter.most)
        out_of_range();
    return ps;
}

// A number of JSON from its text.
json decimal_json(const std::string &text)
{
    return json::parse(text);
}

Field parameter_field(const sim::MachineParameter &parameter)
{
    const bool time = std::string_view(parameter.unit) == "ps";
    const std::string sentence = std::string(parameter.meaning) + " (" + parameter.source + ")";
    if (!time) {
        Field field = number(
            parameter.name, parameter.field,
            {Unit::plain, static_cast<uint64_t>(parameter.least), static_cast<uint64_t>(parameter.most)}, sentence);
        return field;
    }
    json schema = number_schema({});
    schema["anyOf"][0] = {{"type", "number"},
                          {"minimum", decimal_json(ns_text(parameter.least))},
                          {"maximum", decimal_json(ns_text(parameter.most))}};
    return custom<sim::Machine>(
        parameter.name, std::move(schema), ns_text(parameter.least) + " to " + ns_text(parameter.most) + " ns",
        sentence,
        [&parameter](sim::Machine &machine, const Value &value) {
            machine.*parameter.field = read_ns(value, parameter);
        },
        [&parameter](const sim::Machine &machine) { return decimal_json(ns_text(machine.*parameter.field)); });
}

std::vector<std::string> profile_names()
{
    std::vector<std::string> names;
    for (const sim::MachineProfile &profile : sim::machine_profiles())
        names.emplace_back(profile.name);
    return names;
}

std::vector<std::string> policy_names()
{
    std::vector<std::string> names;
    for (const sim::LockPolicy *policy : sim::lock_policies())
        names.emplace_back(policy->name);
    return names;
}

} // namespace

const Table &machine_table()
{
    using sim::Machine;
    static const Table table = [] {
        std::vector<Field> fields;
        // What a result carries is the built-in profile that this one comes from; all its numbers follow.
        fields.push_back(custom<Machine>(
            "profile", {{"type", "string"}, {"minLength", 1}, {"maxLength", 1000}}, "a built-in profile, or a file",
            "What things cost on this machine; everything below is its to set, and can be set alone.",
            [](Machine &, const Value &) {}, [](const Machine &machine) { return json(machine.profile); }));
        const auto from_profile = [](Field field) { return from_era(std::move(field)); };
        fields.push_back(from_profile(
            number("cpus", &Machine::cpus, {Unit::plain, 1, sim::limits::cpus}, "CPUs; they fill sockets in order.")));
        fields.push_back(from_profile(number("cpus_per_socket", &Machine::cpus_per_socket,
                                             {Unit::plain, 1, sim::limits::cpus}, "CPUs of a socket.")));
        fields.push_back(from_profile(choice("lock_policy", &Machine::lock_policy, policy_names(),
                                             "What a thread does that finds a mutex taken.")));
        fields.push_back(from_profile(
            flag("line_model", &Machine::line_model,
                 "Cache lines have an owner and take time to move; otherwise every access costs the same.")));
        for (const sim::MachineParameter &parameter : sim::machine_parameters())
            fields.push_back(from_profile(parameter_field(parameter)));
        return Table("a machine", std::move(fields));
    }();
    return table;
}

int64_t read_machine_parameter(const Value &value, const sim::MachineParameter &parameter)
{
    if (std::string_view(parameter.unit) == "ps")
        return read_ns(value, parameter);
    return static_cast<int64_t>(read_number(
        value, {Unit::plain, static_cast<uint64_t>(parameter.least), static_cast<uint64_t>(parameter.most)}));
}

json machine_parameter_json(const sim::MachineParameter &parameter, int64_t value)
{
    return std::string_view(parameter.unit) == "ps" ? decimal_json(ns_text(value)) : json(value);
}

void read_machine_profile(sim::Machine &machine, const Value &value)
{
    const std::string name = read_text(value, 1000);
    std::error_code error;
    if (const sim::MachineProfile *built_in = sim::find_machine_profile(name); built_in != nullptr)
        machine = built_in->machine;
    else if (std::filesystem::exists(name, error))
        machine = read_profile(name);
    else
        value.fail(unknown("machine profile", name, profile_names()) + "; it may also be a file");
}

void read_machine(sim::Machine &machine, const Value &value)
{
    if (value.value.is_object() && value.value.contains("profile"))
        read_machine_profile(machine, value.at("profile"));
    machine_table().read(&machine, value);
}

sim::Machine read_profile(const std::string &file)
{
    const Document document = read_json(file);
    const Params none;
    const Reading reading{document, none};
    const Value root{document.root, reading, ""};
    sim::Machine machine;
    if (root.value.is_object() && root.value.contains("profile"))
        machine =
            sim::find_machine_profile(read_choice(root.at("profile"), "machine profile", profile_names()))->machine;
    else
        machine = sim::machine_profiles()[0].machine;
    machine_table().read(&machine, root);
    return machine;
}

} // namespace scenarios
