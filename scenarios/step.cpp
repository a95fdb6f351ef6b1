#include "scenarios/step.h"

#include "scenarios/operation.h"
#include "sim/verify.h"

namespace scenarios {

namespace {

constexpr size_t name_length_max = 255;
constexpr uint64_t weight_max = 1'000'000;
constexpr uint64_t rounds_max = 1'000'000'000'000;

Field steps_field(std::string sentence)
{
    return required(custom<Step>(
        "steps", steps_schema(), "a list of steps", std::move(sentence),
        [](Step &step, const Value &value) { step.steps = read_steps(value); },
        [](const Step &step) { return steps_json(step.steps); }));
}

Bounds at_most(uint64_t max, Unit unit = Unit::plain, uint64_t min = 0)
{
    return {unit, min, max};
}

const Table &repeat_table()
{
    static const Table table(
        "a repeat", {custom<Step>(
                         "repeat", quantity("", &Step::rounds, at_most(rounds_max), "").schema,
                         "0 to " + std::to_string(rounds_max), "How many rounds; without it, \"for\" says how long.",
                         [](Step &step, const Value &value) {
                             step.rounds = read_quantity(value, at_most(rounds_max));
                             step.counted = true;
                         },
                         [](const Step &step) { return step.counted ? quantity_json(step.rounds) : json(nullptr); }),
                     custom<Step>(
                         "for", number_schema(at_most(longest_ns, Unit::duration, 1)),
                         "1ns to " + duration_text(longest_ns), "Simulated time after which no new round begins.",
                         [](Step &step, const Value &value) {
                             step.for_ns = read_number(value, at_most(longest_ns, Unit::duration, 1));
                         },
                         [](const Step &step) {
                             return step.for_ns == 0 ? json(nullptr) : number_json(step.for_ns, Unit::duration);
                         }),
                     flag("shared", &Step::shared,
                          "The group's threads share the rounds, first come; otherwise each does them all."),
                     number("every", &Step::every_ns, at_most(longest_ns, Unit::duration),
                            "Rounds begin this far apart, whether the last has ended or not (a late one begins at "
                            "once); 0s: back to back."),
                     steps_field("What a round consists of.")});
    return table;
}

const Table &alternative_table()
{
    static const Table table(
        "an alternative",
        {number("weight", &Alternative::weight, at_most(weight_max),
                "How often it is taken, in proportion to the others."),
         required(custom<Alternative>(
             "steps", steps_schema(), "a list of steps", "What to do.",
             [](Alternative &alternative, const Value &value) { alternative.steps = read_steps(value); },
             [](const Alternative &alternative) { return steps_json(alternative.steps); }))});
    return table;
}

void read_alternatives(Step &step, const Value &value)
{
    if (!value.value.is_array() || value.value.empty())
        value.wrong_type("a list of alternatives, {\"weight\": 1, \"steps\": [...]}");
    uint64_t sum = 0;
    for (size_t i = 0; i < value.value.size(); ++i) {
        Alternative alternative;
        alternative_table().read(&alternative, value.at(i));
        sum += alternative.weight;
        step.alternatives.push_back(std::move(alternative));
    }
    if (sum == 0)
        value.fail("has no alternative with a weight above 0");
}

const Table &choose_table()
{
    static const Table table(
        "a choose", {required(custom<Step>(
                        "choose", {{"type", "array"}, {"minItems", 1}, {"items", alternative_table().schema(nullptr)}},
                        "a list of alternatives", "One of these, drawn by weight from the thread's own stream.",
                        read_alternatives, [](const Step &step) {
                            json list = json::array();
                            for (const Alternative &alternative : step.alternatives)
                                list.push_back(alternative_table().write(&alternative));
                            return list;
                        }))});
    return table;
}

const Table &barrier_table()
{
    static const Table table(
        "a barrier",
        {required(text("barrier", &Step::barrier, name_length_max,
                       "Name; waits until every living thread of the groups that have this barrier has come to it."))});
    return table;
}

Field pause(const char *key, const char *sentence)
{
    return required(quantity(key, &Step::pause, at_most(longest_ns, Unit::duration), sentence));
}

const Table &sleep_table()
{
    static const Table table("a sleep", {pause("sleep", "How long the thread sleeps, off the CPU.")});
    return table;
}

const Table &think_table()
{
    static const Table table("a think", {pause("think", "How long the thread computes, on the CPU.")});
    return table;
}

struct Condition {
    std::string counter;
    Quantity at_least;
    uint64_t poll_ns = 100'000;
};

const Table &condition_table()
{
    static const Table table(
        "a condition",
        {required(text("counter", &Condition::counter, name_length_max,
                       "ops.NAME (operations done so far), txg.open, txg.synced, or a counter by its OpenZFS name.")),
         required(quantity("at_least", &Condition::at_least, at_most(INT64_MAX), "The value to wait for.")),
         number("poll", &Condition::poll_ns, at_most(longest_ns, Unit::duration, 1),
                "Simulated time between two looks.")});
    return table;
}

const Table &wait_until_table()
{
    static const Table table("a wait_until",
                             {required(custom<Step>(
                                 "wait_until", condition_table().schema(nullptr), "a condition",
                                 "Sleeps until a counter has reached a value.",
                                 [](Step &step, const Value &value) {
                                     Condition condition;
                                     condition_table().read(&condition, value);
                                     step.counter = condition.counter;
                                     step.at_least = condition.at_least;
                                     step.poll_ns = condition.poll_ns;
                                 },
                                 [](const Step &step) {
                                     const Condition condition{step.counter, step.at_least, step.poll_ns};
                                     return condition_table().write(&condition);
                                 }))});
    return table;
}

const Table &table_of(const Step &step)
{
    if (step.kind == StepKind::op)
        return step.operation->fields;
    for (const StepForm &form : step_forms())
        if (form.kind == step.kind)
            return *form.table;
    PANIC("a step of no kind");
}

// Which kind of step an object is, by the key that names it.
Step recognize(const Value &value)
{
    if (!value.value.is_object())
        value.wrong_type("a step, such as {\"op\": \"alloc\"}");
    Step step;
    std::string key;
    const auto is = [&](const std::string &candidate, StepKind kind) {
        if (!value.value.contains(candidate))
            return;
        if (!key.empty())
            throw value.reading.document.key_error(join(value.path, candidate), "is a second kind of step beside " +
                                                                                    in_quotes(key) +
                                                                                    "; a step is one thing");
        key = candidate;
        step.kind = kind;
    };
    is("op", StepKind::op);
    for (const StepForm &form : step_forms())
        is(form.key, form.kind);
    if (key.empty() && value.value.contains("for"))
        is("for", StepKind::repeat);
    if (!key.empty())
        return step;
    std::vector<std::string> keys = {"op"};
    for (const StepForm &form : step_forms())
        keys.push_back(form.key);
    if (value.value.empty())
        value.fail("is empty; a step has one of the keys op, repeat, choose, barrier, sleep, think, wait_until");
    const std::string first = value.value.begin().key();
    throw value.reading.document.key_error(join(value.path, first), unknown("kind of step", first, keys));
}

} // namespace

const std::vector<StepForm> &step_forms()
{
    static const std::vector<StepForm> forms = {
        {"repeat", StepKind::repeat, "Does its steps again and again: a number of rounds, or for a time.",
         &repeat_table()},
        {"choose", StepKind::choose, "Does one of several lists of steps, by weight.", &choose_table()},
        {"barrier", StepKind::barrier, "Waits for the other threads.", &barrier_table()},
        {"sleep", StepKind::sleep, "Sleeps.", &sleep_table()},
        {"think", StepKind::think, "Computes.", &think_table()},
        {"wait_until", StepKind::wait_until, "Sleeps until a counter has reached a value.", &wait_until_table()},
    };
    return forms;
}

Steps read_steps(const Value &value)
{
    if (!value.value.is_array())
        value.wrong_type("a list of steps");
    Steps steps;
    for (size_t i = 0; i < value.value.size(); ++i) {
        const Value item = value.at(i);
        Step step = recognize(item);
        step.path = item.path;
        if (step.kind == StepKind::op) {
            const std::string name = read_choice(item.at("op"), "op", operation_names());
            step.operation = find_operation(name);
        }
        table_of(step).read(&step, item);
        if (step.operation != nullptr && step.operation->check != nullptr)
            step.operation->check(step, item);
        if (step.kind == StepKind::repeat && !step.counted && step.for_ns == 0)
            item.fail("needs \"repeat\" (a number of rounds) or \"for\" (a time)");
        steps.push_back(std::move(step));
    }
    return steps;
}

uint32_t number_steps(Steps &steps, uint32_t next_id)
{
    for (Step &step : steps) {
        step.id = next_id++;
        next_id = number_steps(step.steps, next_id);
        for (Alternative &alternative : step.alternatives)
            next_id = number_steps(alternative.steps, next_id);
    }
    return next_id;
}

json steps_json(const Steps &steps)
{
    json list = json::array();
    for (const Step &step : steps)
        list.push_back(table_of(step).write(&step));
    return list;
}

json steps_schema()
{
    return {{"type", "array"}, {"items", {{"$ref", "#/definitions/step"}}}};
}

json step_definition()
{
    const Step defaults;
    json forms = json::array();
    for (const Operation &operation : operations()) {
        Step step;
        step.operation = &operation;
        json form = operation.fields.schema(&step);
        form["description"] = operation.sentence;
        forms.push_back(std::move(form));
    }
    for (const StepForm &form : step_forms()) {
        json schema = form.table->schema(&defaults);
        schema["description"] = form.sentence;
        if (form.kind == StepKind::repeat)
            schema["anyOf"] = json::array({{{"required", {"repeat"}}}, {{"required", {"for"}}}});
        forms.push_back(std::move(schema));
    }
    return {{"description", "An operation on the simulated system, or a step that steers the script."},
            {"anyOf", std::move(forms)}};
}

} // namespace scenarios
