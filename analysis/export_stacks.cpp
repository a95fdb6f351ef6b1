// Stacks: folded lines for flame graphs, speedscope, and a trace-event timeline with the txgs beside them.
#include "analysis/export.h"

#include "analysis/text.h"

#include <cmath>
#include <map>

namespace analysis {

namespace {

uint64_t picoseconds(const Json &ns)
{
    return ns.is_number_unsigned() ? ns.get<uint64_t>() * 1000
                                   : static_cast<uint64_t>(std::llround(ns.get<double>() * 1000));
}

constexpr size_t column_parent = 0, column_function = 1, column_self = 3, column_spin = 4, column_blocked = 5;

// Frames are separated by semicolons, lines by newlines: a name can hold neither.
std::string frame_name(const std::string &name)
{
    std::string safe = escaped(name);
    for (char &c : safe)
        if (c == ';' || c == ' ')
            c = '_';
    return safe.empty() ? "(thread)" : safe;
}

std::string folded(const Json &result, StackTime time)
{
    std::string out;
    for (const Stack &stack : stacks(result, time)) {
        for (size_t i = 0; i < stack.frames.size(); ++i)
            out += (i > 0 ? ";" : "") + stack.frames[i];
        out += " " + std::to_string(stack.ns) + "\n";
    }
    return out;
}

Json metadata(uint64_t process, uint64_t thread, const char *what, const std::string &name)
{
    return {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

Json span(uint64_t process, uint64_t thread, const std::string &name, double start_ns, double length_ns)
{
    return {{"ph", "X"},     {"name", name},          {"pid", process},
            {"tid", thread}, {"ts", start_ns / 1000}, {"dur", length_ns / 1000}};
}

// A txg opens when the one before it closes; it syncs when it is quiet and the one before it is synced.
void add_txgs(Json &events, const Json &result)
{
    if (!result.contains("txgs"))
        return;
    static const char *const phases[] = {"open", "quiescing", "syncing"};
    events.push_back(metadata(1, 0, "process_name", "txgs"));
    for (uint64_t i = 0; i < 3; ++i)
        events.push_back(metadata(1, i + 1, "thread_name", phases[i]));
    double opened = 0, synced = 0;
    for (const Json &row : result["txgs"]) {
        double open = row["open_ns"].get<double>(), quiesce = row["quiesce_ns"].get<double>(),
               sync = row["sync_ns"].get<double>();
        double closed = opened + open, begins = std::max(closed + quiesce, synced);
        std::string name = "txg " + dump(row["txg"]);
        events.push_back(span(1, 1, name, opened, open));
        events.push_back(span(1, 2, name, closed, quiesce));
        events.push_back(span(1, 3, name, begins, sync));
        opened = closed;
        synced = begins + sync;
    }
}

// The call tree laid out in time: each function's total, its callees side by side below it.
void add_call_tree(Json &events, const Json &result)
{
    const Json &rows = result["cpu"]["call_tree"]["rows"];
    if (rows.empty())
        return;
    events.push_back(metadata(2, 0, "process_name", "CPU by function, added up over all threads"));
    events.push_back(metadata(2, 1, "thread_name", "call tree"));
    std::vector<uint64_t> total(rows.size()), filled(rows.size()), start(rows.size());
    for (size_t i = rows.size(); i-- > 0;) {
        total[i] += picoseconds(rows[i][column_self]);
        if (i > 0)
            total[rows[i][column_parent].get<size_t>()] += total[i];
    }
    for (size_t i = 0; i < rows.size(); ++i) {
        if (i > 0) {
            size_t parent = rows[i][column_parent].get<size_t>();
            start[i] = start[parent] + filled[parent];
            filled[parent] += total[i];
        }
        if (total[i] > 0)
            events.push_back(span(2, 1, frame_name(rows[i][column_function].get<std::string>()),
                                  static_cast<double>(start[i]) / 1000, static_cast<double>(total[i]) / 1000));
    }
}

void add_series(Json &events, const Json &result)
{
    if (!result.contains("series"))
        return;
    events.push_back(metadata(3, 0, "process_name", "series"));
    for (const Json &one : result["series"])
        for (const Json &sample : one["samples"])
            events.push_back({{"ph", "C"},
                              {"name", one["name"]},
                              {"pid", 3},
                              {"tid", 0},
                              {"ts", sample[0].get<double>() / 1000},
                              {"args", {{"value", sample[1]}}}});
}

} // namespace

std::vector<Stack> stacks(const Json &result, StackTime time)
{
    const Json &rows = result["cpu"]["call_tree"]["rows"];
    std::vector<Stack> all;
    uint64_t sum_ps = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
        const Json &row = rows[i];
        uint64_t ps = time == StackTime::cpu ? picoseconds(row[column_self])
                                             : picoseconds(row[column_spin]) + picoseconds(row[column_blocked]);
        uint64_t ns = (sum_ps + ps) / 1000 - sum_ps / 1000;
        sum_ps += ps;
        if (ns == 0)
            continue;
        Stack stack{{}, ns};
        for (size_t node = i;; node = rows[node][column_parent].get<size_t>()) {
            stack.frames.insert(stack.frames.begin(), frame_name(rows[node][column_function].get<std::string>()));
            if (node == 0)
                break;
        }
        all.push_back(std::move(stack));
    }
    return all;
}

std::string write_folded_cpu(const Json &result)
{
    return folded(result, StackTime::cpu);
}

std::string write_folded_wait(const Json &result)
{
    return folded(result, StackTime::wait);
}

std::string write_speedscope(const Json &result)
{
    Json frames = Json::array(), profiles = Json::array();
    std::map<std::string, size_t> index;
    for (auto [time, name] : {std::pair(StackTime::cpu, "CPU"), std::pair(StackTime::wait, "waiting")}) {
        Json samples = Json::array(), weights = Json::array();
        uint64_t total = 0;
        for (const Stack &stack : stacks(result, time)) {
            Json sample = Json::array();
            for (const std::string &frame : stack.frames) {
                auto [found, fresh] = index.emplace(frame, frames.size());
                if (fresh)
                    frames.push_back({{"name", frame}});
                sample.push_back(found->second);
            }
            samples.push_back(std::move(sample));
            weights.push_back(stack.ns);
            total += stack.ns;
        }
        profiles.push_back({{"type", "sampled"},
                            {"name", name},
                            {"unit", "nanoseconds"},
                            {"startValue", 0},
                            {"endValue", total},
                            {"samples", samples},
                            {"weights", weights}});
    }
    Json file = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                 {"shared", {{"frames", frames}}},
                 {"profiles", profiles},
                 {"name", result["scenario"].value("name", "")},
                 {"exporter", "dmusim"}};
    return dump(file) + "\n";
}

std::string write_trace_event(const Json &result)
{
    Json events = Json::array();
    add_txgs(events, result);
    add_call_tree(events, result);
    add_series(events, result);
    return dump(Json{{"traceEvents", events}, {"displayTimeUnit", "ns"}}) + "\n";
}

} // namespace analysis
