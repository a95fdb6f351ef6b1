// dmusim list: what there is to choose from, each list made from the table that the program itself uses.
#include "analysis/cli/commands/commands.h"
#include "analysis/cli/errors.h"
#include "analysis/cli/exit_status.h"
#include "analysis/cli/output.h"
#include "analysis/json.h"
#include "analysis/metric.h"
#include "model/choices.h"
#include "model/costs.h"
#include "model/eras.h"
#include "scenarios/input_error.h"
#include "scenarios/library.h"
#include "scenarios/operation.h"
#include "scenarios/scenario.h"
#include "sim/machine.h"

namespace cli {

namespace {

using analysis::Json;
using analysis::Table;

Json list_scenarios()
{
    Json rows = Json::array();
    for (const std::string &name : scenarios::library_names()) {
        scenarios::Scenario scenario = scenarios::load_scenario(name);
        Json params = scenarios::scenario_json(scenario).value("params", Json::object());
        rows.push_back({{"name", name}, {"params", params}, {"description", scenario.description}});
    }
    return rows;
}

Json list_variants()
{
    Json rows = Json::array();
    for (const dmu::choice_info &choice : dmu::choices())
        rows.push_back({{"choice", std::string("code.") + choice.field}, {"name", choice.name}, {"what", choice.what}});
    return rows;
}

Json list_eras()
{
    Json rows = Json::array();
    for (const dmu::era_t &era : dmu::eras())
        rows.push_back({{"name", era.name},
                        {"object_alloc", era.object_alloc},
                        {"rescan_threshold", era.rescan_threshold},
                        {"tx_hold_zap", era.tx_hold_zap},
                        {"dbuf_hold", era.dbuf_hold},
                        {"arc_buf_access", era.arc_buf_access},
                        {"walk_earlier_slots", era.walk_earlier_slots},
                        {"rw_upgrade_can_succeed", era.rw_upgrade_can_succeed},
                        {"zap_shrink", era.zap_shrink},
                        {"dbuf_cache", era.dbuf_cache},
                        {"dbuf_evict_notify", era.dbuf_evict_notify},
                        {"read_consults_prefetch", era.read_consults_prefetch},
                        {"user_accounting", era.user_accounting},
                        {"zfetch", era.zfetch},
                        {"arc_meta_strategy", era.arc_meta_strategy},
                        {"meta_indirect_shift", era.meta_indirect_shift},
                        {"indirect_shift", era.indirect_shift},
                        {"dbuf_mutexes", era.dbuf_mutexes},
                        {"commit", era.commit},
                        {"what", era.what}});
    return rows;
}

Json list_machines()
{
    Json rows = Json::array();
    for (const sim::MachineProfile &profile : sim::machine_profiles())
        for (const sim::MachineParameter &parameter : sim::machine_parameters()) {
            auto value = static_cast<uint64_t>(profile.machine.*parameter.field);
            bool time = std::string_view(parameter.unit) == "ps";
            rows.push_back(
                {{"profile", profile.name},
                 {"parameter", parameter.name},
                 {"value", time ? analysis::nanoseconds(value) : Json(value)},
                 {"unit", time ? "ns" : parameter.unit},
                 {"from", time ? analysis::nanoseconds(static_cast<uint64_t>(parameter.least)) : Json(parameter.least)},
                 {"to", time ? analysis::nanoseconds(static_cast<uint64_t>(parameter.most)) : Json(parameter.most)},
                 {"free", parameter.fitted},
                 {"meaning", parameter.meaning},
                 {"source", parameter.source}});
        }
    return rows;
}

Json list_operations()
{
    Json rows = Json::array();
    for (const scenarios::Operation &operation : scenarios::operations()) {
        Json fields = Json::object();
        for (const scenarios::Field &field : operation.fields.fields())
            fields[field.name] = field.sentence + (field.bound.empty() ? "" : " (" + field.bound + ")");
        rows.push_back({{"op", operation.name}, {"what", operation.sentence}, {"fields", fields}});
    }
    return rows;
}

Json list_metrics()
{
    Json rows = Json::array();
    for (const analysis::MetricKind &kind : analysis::metric_kinds())
        rows.push_back({{"metric", kind.path}, {"unit", kind.unit}, {"what", kind.what}});
    return rows;
}

Json list_costs()
{
    Json rows = Json::array();
    for (const dmu::cost_t &cost : dmu::costs)
        rows.push_back({{"function", cost.name},
                        {"instructions", cost.instructions},
                        {"steps", cost.steps},
                        {"cost", cost.recorded ? "recorded" : "assumed"},
                        {"frame_bytes", cost.frame_bytes},
                        {"source", cost.source}});
    return rows;
}

Json list_schema()
{
    return scenarios::scenario_schema();
}

struct Topic {
    const char *name;
    Json (*list)();
};
constexpr Topic topics[] = {{"scenarios", list_scenarios}, {"variants", list_variants}, {"eras", list_eras},
                            {"machines", list_machines},   {"ops", list_operations},    {"metrics", list_metrics},
                            {"costs", list_costs},         {"schema", list_schema}};

std::string cell(const Json &value)
{
    return value.is_string()   ? analysis::escaped(value.get<std::string>())
           : value.is_object() ? ""
                               : analysis::dump(value);
}

// Objects become columns; what is itself an object or a long text stands below its row.
std::string text(const Json &rows, const analysis::Style &style)
{
    static const char *const long_texts[] = {"description"};
    auto below = [&](const std::string &key, const Json &value) {
        return value.is_object() ||
               std::find(std::begin(long_texts), std::end(long_texts), key) != std::end(long_texts);
    };
    bool narrow = false;
    for (const auto &[key, value] : rows[0].items())
        narrow = narrow || below(key, value);
    std::string out;
    if (!narrow) {
        std::vector<Table::Column> columns;
        for (const auto &[key, value] : rows[0].items())
            columns.push_back({key, value.is_number() ? Table::right : Table::left});
        Table table(columns);
        for (const Json &row : rows) {
            std::vector<std::string> cells;
            for (const auto &[key, value] : row.items())
                cells.push_back(cell(value));
            table.row(std::move(cells));
        }
        return table.text("");
    }
    for (const Json &row : rows) {
        bool first = true;
        for (const auto &[key, value] : row.items()) {
            if (first)
                out += style.heading(cell(value)) + "\n";
            else if (value.is_object())
                for (const auto &[name, inner] : value.items())
                    out += "    " + name + (key == "params" ? " = " : ": ") + cell(inner) + "\n";
            else
                out += analysis::wrapped(cell(value), "  ");
            first = false;
        }
    }
    return out;
}

int run(const Arguments &arguments)
{
    std::vector<std::string> names;
    for (const Topic &topic : topics) {
        names.emplace_back(topic.name);
        if (arguments.words[0] != topic.name)
            continue;
        Output output(arguments.common.output);
        Json rows = topic.list();
        bool schema = topic.list == list_schema;
        if (schema)
            output.write(analysis::dump(rows, 2) + "\n");
        else if (arguments.common.json)
            output.write(analysis::dump(rows) + "\n");
        else
            output.write(text(rows, output.is_stdout() ? arguments.common.style() : analysis::Style{}));
        output.commit();
        return done;
    }
    throw UsageError("list: " + scenarios::unknown("list", arguments.words[0], names));
}

} // namespace

const Command list_command = {"list",
                              "[OPTION]... scenarios|variants|eras|machines|ops|metrics|costs|schema",
                              "Show what there is to choose from.",
                              "  scenarios  the built-in scenarios and the params they are meant to be varied by\n"
                              "  variants   the choices under \"code\" and what each name means\n"
                              "  eras       real code bases, and the choices each of them made\n"
                              "  machines   machine profiles, parameter by parameter, with meaning and source\n"
                              "  ops        operations of a step, with their fields\n"
                              "  metrics    paths for \"expect\" and --metric\n"
                              "  costs      what every modelled function costs, and where the number comes from\n"
                              "  schema     the JSON Schema of a scenario\n\n"
                              "Examples:\n"
                              "  dmusim list scenarios\n"
                              "  dmusim list costs --json | jq '.[] | select(.cost == \"assumed\")'\n"
                              "  dmusim list schema > scenario.schema.json\n",
                              1,
                              1,
                              "topic",
                              false,
                              nullptr,
                              run};

} // namespace cli
