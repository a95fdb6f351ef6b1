#include "scenarios/scenario.h"

#include "model/eras.h"
#include "scenarios/counters.h"
#include "scenarios/operation.h"
#include "scenarios/sections.h"
#include "sim/limits.h"

#include <algorithm>

namespace scenarios {

namespace {

void read_expectations(Scenario &scenario, const Value &value)
{
    if (!value.value.is_array())
        value.wrong_type("a list of expectations");
    scenario.expect = json::array();
    for (size_t i = 0; i < value.value.size(); ++i) {
        Expectation expectation;
        const Value item = value.at(i);
        expectation_table().read(&expectation, item);
        if (expectation.at_least.is_null() && expectation.at_most.is_null() && expectation.equals.is_null() &&
            expectation.of.is_null())
            item.fail("expects nothing; give at_least, at_most, equals or within");
        if (!expectation.percent.is_null() && expectation.percent < 0)
            item.at("within").at("percent").fail("is below 0, so that no value is right");
        if (!expectation.at_least.is_null() && !expectation.at_most.is_null() &&
            expectation.at_least > expectation.at_most)
            item.at("at_least").fail("is above \"at_most\", so that no value is right");
        scenario.expect.push_back(expectation_table().write(&expectation));
    }
}

void read_warmup(Scenario &scenario, const Value &value)
{
    scenario.warmup = {};
    if (value.value.is_object())
        warmup_table().read(&scenario.warmup, value);
    else
        scenario.warmup.for_ns = read_number(value, {Unit::duration, 0, longest_ns});
}

json warmup_json(const Scenario &scenario)
{
    if (!scenario.warmup.op.empty())
        return warmup_table().write(&scenario.warmup);
    return number_json(scenario.warmup.for_ns, Unit::duration);
}

// ---- parameters ----

bool is_identifier(std::string_view name)
{
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    if (name.empty() || !letter(name[0]))
        return false;
    return std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

Params read_params(const Document &document)
{
    Params params;
    if (!document.root.contains("params"))
        return params;
    const Reading reading{document, params};
    const Value all{document.root["params"], reading, "params"};
    if (!all.value.is_object())
        all.wrong_type("an object of numbers by name");
    for (const auto &[name, value] : all.value.items()) {
        const Value one = all.at(name);
        if (!is_identifier(name))
            throw document.key_error(one.path, "is no name for a parameter; names are letters, digits and _");
        Param param{name, {}};
        if (value.is_string()) {
            try {
                param.amount = evaluate(value.get<std::string>(), Unit::any, params);
            } catch (const NumberError &error) {
                one.fail(error.what());
            }
        } else {
            param.amount.value = read_number(one, {Unit::plain, 0, UINT64_MAX});
        }
        if (param.amount.value < 0 || param.amount.value > int128{UINT64_MAX})
            one.fail("is " + decimal(param.amount.value) + "; allowed is 0 to " + std::to_string(UINT64_MAX));
        params.push_back(std::move(param));
    }
    return params;
}

json params_json(const Scenario &scenario)
{
    json params = json::object();
    for (const Param &param : scenario.params)
        params[param.name] =
            number_json(static_cast<uint64_t>(param.amount.value), param.amount.time ? Unit::duration : Unit::plain);
    return params;
}

// ---- the whole ----

void read_workload(Scenario &scenario, const Value &value)
{
    if (!value.value.is_array())
        value.wrong_type("a list of groups of threads");
    if (value.value.empty())
        value.fail("is empty; a scenario needs a group of threads");
    scenario.workload.clear();
    for (size_t i = 0; i < value.value.size(); ++i) {
        Group group;
        group_table().read(&group, value.at(i));
        if (group.name.empty())
            group.name = "group" + std::to_string(i);
        for (const Group &other : scenario.workload)
            if (other.name == group.name)
                throw value.reading.document.error(join(join(value.path, i), "name"),
                                                   "is the name of another group too: " + in_quotes(group.name));
        scenario.workload.push_back(std::move(group));
    }
}

json workload_json(const Scenario &scenario)
{
    json groups = json::array();
    for (const Group &group : scenario.workload)
        groups.push_back(group_table().write(&group));
    return groups;
}

const std::vector<std::string> &recordable()
{
    static const std::vector<std::string> names = {"objects", "txgs", "series", "lock_order", "dmu_zfetch"};
    return names;
}

void read_suppositions(Scenario &scenario, const Value &value)
{
    if (!value.value.is_array())
        value.wrong_type("a list of suppositions");
    scenario.suppose.clear();
    for (size_t i = 0; i < value.value.size(); ++i) {
        Supposition one;
        suppose_table().read(&one, value.at(i));
        if (one.lock.empty() == one.function.empty())
            value.at(i).fail("names " + std::string(one.lock.empty() ? "nothing" : "both") + "; give lock or function");
        for (const Supposition &other : scenario.suppose)
            if (other.lock == one.lock && other.function == one.function)
                value.at(i).fail("supposes something about " + in_quotes(one.lock + one.function) + " a second time");
        scenario.suppose.push_back(std::move(one));
    }
}

json suppositions_json(const Scenario &scenario)
{
    json list = json::array();
    for (const Supposition &one : scenario.suppose)
        list.push_back(suppose_table().write(&one));
    return list;
}

void read_record(Scenario &scenario, const Value &value)
{
    if (!value.value.is_array())
        value.wrong_type("a list of what to record");
    scenario.record.clear();
    for (size_t i = 0; i < value.value.size(); ++i)
        scenario.record.push_back(read_choice(value.at(i), "record", recordable()));
}

// A field that is an object with a table of its own, somewhere inside the scenario.
template <class Get>
Field section(std::string name, const Table &table, std::string sentence, Get get)
{
    static const Scenario defaults = default_scenario();
    json schema = table.schema(&get(const_cast<Scenario &>(defaults)));
    return custom<Scenario>(
        std::move(name), std::move(schema), "an object", std::move(sentence),
        [&table, get](Scenario &scenario, const Value &value) { table.read(&get(scenario), value); },
        [&table, get](const Scenario &scenario) { return table.write(&get(const_cast<Scenario &>(scenario))); });
}

Field machine_field()
{
    Field field =
        section("machine", machine_table(), "The machine.", [](Scenario &s) -> sim::Machine & { return s.machine; });
    field.read = [](void *scenario, const Value &value) {
        read_machine(static_cast<Scenario *>(scenario)->machine, value);
    };
    return field;
}

json list_of(json items)
{
    return {{"type", "array"}, {"items", std::move(items)}};
}

const Table &scenario_table()
{
    json warmup = number_schema({Unit::duration, 0, longest_ns});
    warmup["anyOf"].push_back(warmup_table().schema(nullptr));
    json groups = list_of(group_table().schema(nullptr));
    groups["minItems"] = 1;
    json params = {{"type", "object"}, {"propertyNames", {{"pattern", "^[A-Za-z_][A-Za-z0-9_]*$"}}}};
    params["additionalProperties"] = number_schema({Unit::any, 0, UINT64_MAX});

    static const Table table(
        "a scenario",
        {custom<Scenario>(
             "$schema", {{"type", "string"}, {"maxLength", text_length_max}}, "text", "For editors; ignored.",
             [](Scenario &scenario, const Value &value) { scenario.schema = read_text(value, text_length_max); },
             [](const Scenario &scenario) { return scenario.schema.empty() ? json(nullptr) : json(scenario.schema); }),
         text("name", &Scenario::name, name_length_max, "What reports call it."),
         text("description", &Scenario::description, text_length_max, "What it shows and what to look for."),
         number("seed", &Scenario::seed, {Unit::plain, 0, UINT64_MAX}, "Of every random choice."),
         custom<Scenario>(
             "params", std::move(params), "numbers by name",
             "The numbers that the scenario is meant to be varied by: \"$name\" stands for them.",
             [](Scenario &, const Value &) {}, params_json), // read before everything else
         machine_field(),
         section("code", code_table(), "The code base and its variants.",
                 [](Scenario &s) -> dmu::code_config & { return s.config.code; }),
         section("pool", pool_table(), "The pool.", [](Scenario &s) -> dmu::pool_config & { return s.config.pool; }),
         section("dataset", dataset_table(), "The dataset.",
                 [](Scenario &s) -> dmu::dataset_config & { return s.config.dataset; }),
         custom<Scenario>(
             "setup", steps_schema(), "a list of steps", "Done first, by one thread, in no simulated time, and synced.",
             [](Scenario &scenario, const Value &value) { scenario.setup = read_steps(value); },
             [](const Scenario &scenario) { return steps_json(scenario.setup); }),
         required(custom<Scenario>("workload", std::move(groups), "a list of groups", "The groups of threads.",
                                   read_workload, workload_json)),
         custom<Scenario>("warmup", std::move(warmup), "a time, or op and count",
                          "Run but not counted: a time, or until an operation has been done so often.", read_warmup,
                          warmup_json),
         section("stop", stop_table(), "When it ends.", [](Scenario &s) -> Stop & { return s.stop; }),
         custom<Scenario>("suppose", list_of(suppose_table().schema(nullptr)), "a list of suppositions",
                          "What would happen were a lock or a function cheaper, or free (dmusim whatif makes these).",
                          read_suppositions, suppositions_json),
         number("schedule", &Scenario::schedule, {Unit::plain, 0, UINT64_MAX},
                "Threads are held up at random moments, which this number decides; 0: nobody is."),
         custom<Scenario>("record", list_of({{"enum", recordable()}}), "objects, txgs, series, lock_order",
                          "What is kept beside sums: every object number, a row a txg, samples over time; warnings of "
                          "locks taken in both orders.",
                          read_record, [](const Scenario &scenario) { return json(scenario.record); }),
         custom<Scenario>("expect", list_of(expectation_table().schema(nullptr)), "a list of expectations",
                          "What must come out.", read_expectations,
                          [](const Scenario &scenario) { return scenario.expect; })});
    return table;
}

// False: surely not.
bool takes_time(const Steps &steps)
{
    return std::any_of(steps.begin(), steps.end(), [](const Step &step) {
        switch (step.kind) {
        case StepKind::repeat:
            return step.every_ns != 0 || takes_time(step.steps);
        case StepKind::choose:
            return std::any_of(step.alternatives.begin(), step.alternatives.end(),
                               [](const Alternative &one) { return one.weight != 0 && takes_time(one.steps); });
        case StepKind::sleep:
        case StepKind::think:
            return step.pause.value != 0 || !step.pause.expression.text().empty();
        default:
            return true;
        }
    });
}

// What goes wrong only between fields.
void check(const Scenario &scenario, const Document &document)
{
    uint64_t threads = 0;
    for (size_t i = 0; i < scenario.workload.size(); ++i) {
        const Group &group = scenario.workload[i];
        const std::string path = join("workload", i);
        threads += group.threads;
        if (threads > sim::limits::threads)
            throw document.error(join(path, "threads"), "makes " + std::to_string(threads) +
                                                            " threads in all; at most " +
                                                            std::to_string(sim::limits::threads) + " can be simulated");
        for (const uint32_t cpu : group.cpus)
            if (cpu >= scenario.machine.cpus)
                throw document.error(join(path, "cpus"), "names CPU " + std::to_string(cpu) +
                                                             "; the machine has 0 to " +
                                                             std::to_string(scenario.machine.cpus - 1));
    }
    const std::vector<std::string> counters = counter_names();
    const bool large_dnodes = dmu::knows_large_dnodes(scenario.config.code);
    const auto check_step = [&](const Step &step) {
        if (step.kind == StepKind::repeat && !step.counted && step.every_ns == 0 && !takes_time(step.steps))
            throw document.error(join(step.path, "for"),
                                 "never comes to an end: none of the steps takes any simulated time");
        if (step.kind == StepKind::op && step.slots > 1 && !large_dnodes)
            throw document.error(join(step.path, "slots"),
                                 "is " + std::to_string(step.slots) + "; code.era " +
                                     in_quotes(scenario.config.code.era) +
                                     (scenario.config.code.walk_earlier_slots ? " with walk_earlier_slots" : "") +
                                     " has dnodes of one slot only (simulated are larger ones in eras since 2019)");
        if (step.kind == StepKind::op && step.operation->name == "create" && scenario.config.code.create_path == "dmu")
            for (const auto &[field, owner] : {std::pair{"owner", &step.owner}, std::pair{"group", &step.group}})
                if (owner->value != 0 || !owner->expression.text().empty())
                    throw document.error(join(step.path, field), "is given, but with code.create_path \"dmu\" files "
                                                                 "belong to user and group 0");
        if (step.kind == StepKind::wait_until &&
            std::find(counters.begin(), counters.end(), step.counter) == counters.end())
            throw document.error(join(step.path, "wait_until.counter"), unknown("counter", step.counter, counters));
    };
    for_each_step(scenario.setup, check_step);
    for (const Group &group : scenario.workload)
        for_each_step(group.steps, check_step);
    if (!scenario.warmup.op.empty()) {
        bool done = false;
        for (const Group &group : scenario.workload)
            for_each_step(group.steps, [&](const Step &step) {
                done = done || (step.kind == StepKind::op && step.operation->name == scenario.warmup.op);
            });
        if (!done)
            throw document.error("warmup.op",
                                 "is " + in_quotes(scenario.warmup.op) + ", which the workload never does");
    }
}

} // namespace

Scenario default_scenario()
{
    Scenario scenario;
    scenario.machine = sim::machine_profiles()[0].machine;
    dmu::apply_era(scenario.config);
    return scenario;
}

bool Scenario::records(std::string_view what) const
{
    return std::find(record.begin(), record.end(), what) != record.end();
}

Override parse_override(const std::string &argument)
{
    const size_t equals = argument.find('=');
    if (equals == std::string::npos || equals == 0)
        throw InputError("--set " + argument, {}, "", "is not PATH=VALUE, such as machine.cpus=8");
    return {argument.substr(0, equals), argument.substr(equals + 1), "--set " + argument};
}

namespace {

void apply(Document &document, const Override &change)
{
    json value;
    try {
        value = parse_json(change.option, change.value).root;
    } catch (const InputError &error) {
        if (change.value.starts_with('{') || change.value.starts_with('['))
            throw InputError(change.option, {}, change.path, error.problem);
        value = change.value; // a bare string
    }
    constexpr std::string_view params = "params.";
    if (change.path == "params") // all at once would say nothing of those that it leaves out
        throw InputError(change.option, {}, change.path, "is set number by number, such as params.NAME=8");
    if (std::string_view(change.path).starts_with(params)) {
        std::vector<std::string> names;
        const std::string name = change.path.substr(params.size());
        if (document.root.is_object() && document.root.contains("params"))
            for (const auto &[known, unused] : document.root["params"].items())
                names.push_back(known);
        if (std::find(names.begin(), names.end(), name) == names.end())
            throw InputError(change.option, {}, change.path, unknown("parameter", name, names));
    }
    document.set(change.path, std::move(value), change.option);
}

} // namespace

Scenario read_scenario(Document document, const std::vector<Override> &overrides)
{
    for (const Override &change : overrides)
        apply(document, change);
    if (!document.root.is_object())
        throw document.error("",
                             std::string("is ") + type_name(document.root) + ", not a scenario, which is an object");
    Scenario scenario = default_scenario();
    scenario.params = read_params(document);
    const Reading reading{document, scenario.params};
    const Value root{document.root, reading, ""};
    // The era decides the defaults of everything else.
    if (root.value.contains("code") && root.value["code"].is_object() && root.value["code"].contains("era")) {
        scenario.config.code.era = read_choice(root.at("code").at("era"), "era", era_names());
        dmu::apply_era(scenario.config);
    }
    scenario_table().read(&scenario, root);
    uint32_t next_id = number_steps(scenario.setup, 0);
    for (Group &group : scenario.workload)
        next_id = number_steps(group.steps, next_id);
    check(scenario, document);
    return scenario;
}

json scenario_json(const Scenario &scenario)
{
    return scenario_table().write(&scenario);
}

json scenario_schema()
{
    const Scenario defaults = default_scenario();
    json schema = {
        {"$schema", "http://json-schema.org/draft-07/schema#"},
        {"title", "dmusim scenario"},
        {"description", "Generated from the fields' declarations (dmusim list schema); not written by hand."}};
    schema.update(scenario_table().schema(&defaults));
    schema["definitions"] = {{"step", step_definition()}};
    return schema;
}

std::vector<Section> scenario_sections()
{
    const Scenario defaults = default_scenario();
    return {{"", &scenario_table(), {}},
            {"machine", &machine_table(), machine_table().write(&defaults.machine)},
            {"code", &code_table(), code_table().write(&defaults.config.code)},
            {"pool", &pool_table(), pool_table().write(&defaults.config.pool)},
            {"pool.disk", &disk_table(), disk_table().write(&defaults.config.pool.disk)},
            {"dataset", &dataset_table(), dataset_table().write(&defaults.config.dataset)},
            {"workload", &group_table(), {}},
            {"expect", &expectation_table(), {}},
            {"expect.within", &within_table(), {}},
            {"stop", &stop_table(), {}},
            {"warmup", &warmup_table(), {}},
            {"suppose", &suppose_table(), {}}};
}

} // namespace scenarios
