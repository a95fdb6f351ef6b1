// Groups of threads, expectations, stop and warmup: the objects of a scenario that are not configuration.
#include "scenarios/counters.h"
#include "scenarios/operation.h"
#include "scenarios/sections.h"
#include "sim/limits.h"

#include <algorithm>

namespace scenarios {

namespace {

uint32_t cpu_number(const Value &value)
{
    return static_cast<uint32_t>(read_number(value, {Unit::plain, 0, sim::limits::cpus - 1}));
}

void read_cpus(Group &group, const Value &value)
{
    group.cpus.clear();
    const auto range = [&group](const Value &one) {
        const std::string &text = one.value.get_ref<const std::string &>();
        const size_t dots = text.find("..");
        if (dots == std::string::npos) {
            group.cpus.push_back(cpu_number(one));
            return;
        }
        const json low = text.substr(0, dots), high = text.substr(dots + 2);
        const uint32_t first = cpu_number({low, one.reading, one.path}),
                       last = cpu_number({high, one.reading, one.path});
        if (first > last)
            one.fail("is a range whose lower end is above the upper");
        for (uint32_t cpu = first; cpu <= last; ++cpu)
            group.cpus.push_back(cpu);
    };
    if (value.value.is_string()) {
        range(value);
    } else if (value.value.is_array()) {
        for (size_t i = 0; i < value.value.size(); ++i) {
            if (value.value[i].is_string())
                range(value.at(i));
            else
                group.cpus.push_back(cpu_number(value.at(i)));
        }
        if (group.cpus.empty())
            value.fail("is empty; leave it out to let the threads run anywhere");
    } else {
        value.wrong_type("a list of CPUs, such as [0, 2], or a range, such as \"0..7\"");
    }
    std::vector<uint32_t> sorted = group.cpus;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
        value.fail("names a CPU twice");
}

// Any JSON number, or an expression that comes to a whole one.
json read_bound(const Value &value)
{
    if (value.value.is_number())
        return value.value;
    return read_number(value, {Unit::plain, 0, UINT64_MAX});
}

Field bound(std::string name, json Expectation::*member, std::string sentence)
{
    json schema = number_schema({});
    schema["anyOf"][0] = {{"type", "number"}};
    return custom<Expectation>(
        std::move(name), std::move(schema), "a number", std::move(sentence),
        [member](Expectation &expectation, const Value &value) { expectation.*member = read_bound(value); },
        [member](const Expectation &expectation) { return expectation.*member; });
}

} // namespace

const Table &group_table()
{
    const json cpu = number_schema({Unit::plain, 0, sim::limits::cpus - 1});
    const json cpu_text = {{"type", "string"}, {"pattern", "^[0-9A-Za-z_$+*/(). -]+$"}, {"maxLength", 400}};
    static const Table table(
        "a group of threads",
        {text("name", &Group::name, name_length_max, "What reports call it; \"group\" and its number otherwise."),
         number("threads", &Group::threads, {Unit::plain, 1, sim::limits::threads}, "How many threads run the steps."),
         custom<Group>(
             "cpus",
             {{"anyOf",
               json::array(
                   {cpu_text,
                    {{"type", "array"}, {"minItems", 1}, {"items", {{"anyOf", json::array({cpu, cpu_text})}}}}})}},
             "a list or a range", "CPUs its threads stay on: a list, or a range such as \"0..7\"; any CPU otherwise.",
             read_cpus, [](const Group &group) { return group.cpus.empty() ? json(nullptr) : json(group.cpus); }),
         number("start", &Group::start_ns, {Unit::duration, 0, longest_ns},
                "Simulated time at which its threads begin."),
         required(custom<Group>(
             "steps", steps_schema(), "a list of steps", "What each thread does.",
             [](Group &group, const Value &value) { group.steps = read_steps(value); },
             [](const Group &group) { return steps_json(group.steps); }))});
    return table;
}

const Table &suppose_table()
{
    static const Table table(
        "a supposition",
        {custom<Supposition>(
             "lock", {{"type", "string"}, {"maxLength", name_length_max}}, "a class of locks",
             "Its locks are cheaper: entering, leaving and handing them over, and waiting for them.",
             [](Supposition &one, const Value &value) {
                 one.lock = read_choice(value, "class of locks", lock_class_names());
             },
             [](const Supposition &one) { return one.lock.empty() ? json(nullptr) : json(one.lock); }),
         custom<Supposition>(
             "function", {{"type", "string"}, {"maxLength", name_length_max}}, "a function",
             "Its own instructions take less time; what it calls, locks and memory take what they take.",
             [](Supposition &one, const Value &value) {
                 one.function = read_choice(value, "function", function_names());
             },
             [](const Supposition &one) { return one.function.empty() ? json(nullptr) : json(one.function); }),
         number("factor", &Supposition::factor, {Unit::plain, 0, 1'000'000},
                "How many times cheaper; 0: free. A fraction of a picosecond is dropped.")});
    return table;
}

const Table &within_table()
{
    static const Table table("a range", {required(bound("of", &Expectation::of, "The middle.")),
                                         required(bound("percent", &Expectation::percent, "How far it may be off."))});
    return table;
}

const Table &expectation_table()
{
    static const Table table(
        "an expectation",
        {required(text("metric", &Expectation::metric, 400, "Path into the result, such as ops.alloc.per_s.")),
         bound("at_least", &Expectation::at_least, "The smallest value that is right."),
         bound("at_most", &Expectation::at_most, "The largest."),
         bound("equals", &Expectation::equals, "The only one."),
         custom<Expectation>(
             "within", within_table().schema(nullptr), "of and percent", "A middle and how far from it is right.",
             [](Expectation &expectation, const Value &value) { within_table().read(&expectation, value); },
             [](const Expectation &expectation) {
                 return expectation.of.is_null() ? json(nullptr) : within_table().write(&expectation);
             }),
         text("because", &Expectation::because, text_length_max, "Why: a published figure, a report, a derivation.")});
    return table;
}

const Table &stop_table()
{
    static const Table table(
        "a stop",
        {custom<Stop>(
             "simulated", number_schema({Unit::duration, 1, longest_ns}), "1ns to " + duration_text(longest_ns),
             "Simulated time after which no thread begins another step.",
             [](Stop &stop, const Value &value) {
                 stop.simulated_ns = read_number(value, {Unit::duration, 1, longest_ns});
             },
             [](const Stop &stop) {
                 return stop.simulated_ns == 0 ? json(nullptr) : number_json(stop.simulated_ns, Unit::duration);
             }),
         number("patience", &Stop::patience_ns, {Unit::duration, 1, longest_ns},
                "Simulated time without a completed step after which the run is a livelock.")});
    return table;
}

const Table &warmup_table()
{
    static const Table table(
        "a warmup",
        {required(custom<Warmup>(
             "op", {{"enum", operation_names()}}, "an operation", "The operation that is counted.",
             [](Warmup &warmup, const Value &value) { warmup.op = read_choice(value, "op", operation_names()); },
             [](const Warmup &warmup) { return json(warmup.op); })),
         required(number("count", &Warmup::count, {Unit::plain, 1, INT64_MAX}, "How often it is done."))});
    return table;
}

} // namespace scenarios
