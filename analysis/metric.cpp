#include "analysis/metric.h"

#include "scenarios/counters.h"
#include "scenarios/input_error.h"

#include <algorithm>
#include <charconv>

namespace analysis {

namespace {

struct Segment {
    std::string name;
    bool bracketed = false;
};

// Empty problem: segments are good.
std::string split(std::string_view path, std::vector<Segment> &segments)
{
    size_t at = 0;
    bool key_expected = true;
    while (at < path.size()) {
        if (path[at] == '[') {
            size_t depth = 1, end = at + 1;
            for (; end < path.size() && depth > 0; ++end)
                depth += path[end] == '[' ? 1 : path[end] == ']' ? size_t(-1) : 0;
            if (depth > 0)
                return "a bracket is not closed";
            if (segments.empty())
                return "a metric begins with a key, not with a bracket";
            segments.push_back({std::string(path.substr(at + 1, end - at - 2)), true});
            at = end;
            key_expected = false;
        } else if (path[at] == '.') {
            if (key_expected)
                return "a key is empty";
            key_expected = true;
            ++at;
        } else {
            if (!key_expected)
                return "a dot is missing after a bracket";
            size_t end = std::min(path.find_first_of(".[", at), path.size());
            segments.push_back({std::string(path.substr(at, end - at)), false});
            at = end;
            key_expected = false;
        }
    }
    if (key_expected)
        return segments.empty() ? "a metric is empty" : "a key is missing after the last dot";
    return {};
}

bool whole_number(std::string_view text, uint64_t &value)
{
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

// The key that names an item of a list, if its items have names.
const char *name_key(const Json &item)
{
    if (!item.is_object())
        return nullptr;
    for (const char *key : {"class", "name", "caller", "instance", "metric", "txg", "level"})
        if (item.contains(key))
            return key;
    return nullptr;
}

std::string text_of(const Json &value)
{
    return value.is_string() ? value.get<std::string>() : dump(value);
}

std::string absent(const std::string &where, const std::string &name, const std::vector<std::string> &known)
{
    std::string near = scenarios::nearest(name, known);
    return (where.empty() ? "a result" : where) + " has no " + scenarios::in_quotes(name) +
           (near.empty() ? "" : "; did you mean " + scenarios::in_quotes(near) + "?");
}

// [4096], [4096..], [2..8] of a histogram's rows.
std::string buckets(const Json &rows, const std::string &range, Json &sum)
{
    uint64_t low = 0, high = 0;
    size_t dots = range.find("..");
    bool good = dots == std::string::npos
                    ? whole_number(range, low)
                    : whole_number(std::string_view(range).substr(0, dots), low) &&
                          (dots + 2 == range.size() || whole_number(std::string_view(range).substr(dots + 2), high));
    if (!good)
        return "'" + range + "' is not a bucket or a range of buckets (4096, 4096.., 2..8)";
    if (dots == std::string::npos)
        high = low;
    else if (dots + 2 == range.size())
        high = UINT64_MAX;
    uint64_t count = 0;
    for (const Json &row : rows) {
        uint64_t bucket = row[0].get<uint64_t>();
        if (bucket >= low && bucket <= high)
            count += row[1].get<uint64_t>();
    }
    sum = count;
    return {};
}

// Functions that a run never called have no counter.
bool is_function(const std::string &name)
{
    const std::vector<std::string> names = scenarios::function_names();
    return std::find(names.begin(), names.end(), name) != names.end();
}

MetricValue walk(const Json &result, std::string_view path)
{
    std::vector<Segment> segments;
    if (std::string problem = split(path, segments); !problem.empty())
        return {nullptr, problem};
    const Json *here = &result;
    std::string where;
    for (size_t i = 0; i < segments.size(); ++i) {
        const std::string &name = segments[i].name;
        std::vector<std::string> known;
        const Json *next = nullptr;
        if (here->is_object() && here->contains("rows") && here->contains("scale") && segments[i].bracketed) {
            Json sum;
            if (std::string problem = buckets((*here)["rows"], name, sum); !problem.empty())
                return {nullptr, where + ": " + problem};
            if (i + 1 != segments.size())
                return {nullptr, where + "[" + name + "] is a number; nothing is inside it"};
            return {sum, {}};
        }
        if (here->is_object()) {
            auto found = here->find(name);
            if (found != here->end())
                next = &*found;
            else
                for (const auto &[key, value] : here->items())
                    known.push_back(key);
        } else if (here->is_array()) {
            uint64_t index = 0;
            for (const Json &item : *here) {
                const char *key = name_key(item);
                if (key == nullptr)
                    continue;
                known.push_back(text_of(item[key]));
                if (known.back() == name) {
                    next = &item;
                    break;
                }
            }
            if (next == nullptr && whole_number(name, index) && index < here->size())
                next = &(*here)[index];
        } else {
            return {nullptr, where + " is a number or a text; nothing is inside it"};
        }
        if (next == nullptr && where == "counters" && i + 1 == segments.size() && is_function(name))
            return {0, {}};
        if (next == nullptr)
            return {nullptr, absent(where, name, known)};
        where += segments[i].bracketed ? "[" + name + "]" : (where.empty() ? "" : ".") + name;
        here = next;
    }
    if (here->is_boolean())
        return {here->get<bool>() ? 1 : 0, {}};
    if (!here->is_number())
        return {nullptr, where + " is not a number"};
    return {*here, {}};
}

} // namespace

MetricValue metric_value(const Json &result, std::string_view path)
{
    size_t slash = path.find(" / ");
    if (slash == std::string_view::npos)
        return walk(result, path);
    MetricValue above = walk(result, path.substr(0, slash));
    MetricValue below = walk(result, path.substr(slash + 3));
    if (!above.problem.empty())
        return above;
    if (!below.problem.empty())
        return below;
    if (below.value == 0)
        return {nullptr, std::string(path.substr(slash + 3)) + " is 0"};
    if (above.value.is_number_unsigned() && below.value.is_number_unsigned())
        return {quotient(above.value.get<uint64_t>(), below.value.get<uint64_t>()), {}};
    return {above.value.get<double>() / below.value.get<double>(), {}};
}

bool less_is_better(std::string_view path)
{
    if (path.find(" / ") != std::string_view::npos)
        return false;
    constexpr std::string_view unit = "_ns";
    for (size_t at = path.find(unit); at != std::string_view::npos; at = path.find(unit, at + 1)) {
        const size_t end = at + unit.size();
        if (end == path.size() || path[end] == '.')
            return true;
    }
    return false;
}

std::string metric_problem(std::string_view path)
{
    for (size_t slash = path.find(" / "); slash != std::string_view::npos; slash = std::string_view::npos) {
        if (std::string problem = metric_problem(path.substr(0, slash)); !problem.empty())
            return problem;
        path = path.substr(slash + 3);
    }
    std::vector<Segment> segments;
    if (std::string problem = split(path, segments); !problem.empty())
        return problem;
    std::vector<std::string> known;
    for (const MetricKind &kind : metric_kinds()) {
        std::string_view first = std::string_view(kind.path).substr(0, std::string_view(kind.path).find_first_of(".["));
        if (first == segments[0].name)
            return {};
        known.emplace_back(first);
    }
    return absent("", segments[0].name, known);
}

const std::vector<MetricKind> &metric_kinds()
{
    static const std::vector<MetricKind> kinds = {
        {"complete", "0 or 1", "the measured part went to its end"},
        {"simulated_ns", "ns", "length of the measured part"},
        {"ops.OP.count", "", "operations that succeeded"},
        {"ops.OP.errors.ERRNO", "", "operations refused with that errno"},
        {"ops.OP.per_s", "1/s", "operations a simulated second"},
        {"ops.OP.latency_ns.p50|p90|p99|max", "ns", "latency of one operation"},
        {"ops.OP.parts_ns.running|spinning|blocked|cpu_wait|txg_wait|disk", "ns", "where that time went, summed"},
        {"groups[GROUP].threads", "", "threads of a group of the workload"},
        {"groups[GROUP].parts_ns.PART", "ns", "where the time of its threads went, summed"},
        {"cpu.busy_ns", "ns", "CPU time used, all CPUs"},
        {"cpu.idle_ns", "ns", "CPU time not used, all CPUs"},
        {"cpu.assumed_share", "of 1", "share of the functions' time whose cost is assumed, not recorded"},
        {"cpu.functions[FUNCTION].calls", "", "calls of a modelled function"},
        {"cpu.functions[FUNCTION].self_ns|total_ns|spin_ns", "ns",
         "its own time; with its callees; the part spent spinning"},
        {"cpu.functions[FUNCTION].share", "of 1", "its total time by all busy CPU time"},
        {"locks[CLASS].instances|acquisitions|contended|owner_changes", "",
         "locks of a class; how often taken, waited for, moved"},
        {"locks[CLASS].wait_ns.total|max|p99", "ns", "time spent waiting for it, spinning and blocked"},
        {"locks[CLASS].spin_ns|blocked_ns", "ns", "the two parts of that"},
        {"locks[CLASS].hold_ns.total|max|p99", "ns", "time it was held"},
        {"locks[CLASS].waiters[CALLER].wait_ns", "ns", "time a function waited for it"},
        {"locks[CLASS].holders[CALLER].blamed_ns", "ns", "time others waited while that function's hold lasted"},
        {"locks[CLASS].hottest[INSTANCE].wait_ns", "ns", "time one lock of the class was waited for"},
        {"histograms[NAME][BUCKET]", "count", "a bucket; [LOW..] and [LOW..HIGH] sum a range"},
        {"counters.NAME", "", "calls of a function, or a kstat counter, by its OpenZFS name"},
        {"allocator.rescans", "", "searches that began again at object 0"},
        {"allocator.objects_in_use|dnode_blocks_in_use|holes|highest_block", "", "how dense the dnode object is"},
        {"allocator.os_obj_next|os_freed_dnodes|os_rescan_dnodes", "", "the allocator's own state"},
        {"txgs.INDEX.txg|open_ns|quiesce_ns|sync_ns|accounting_ns|dirty_bytes|allocated|freed|"
         "allocated_when_sync_began|allocated_when_synced",
         "", "one txg (\"record\": [\"txgs\"])"},
        {"series[NAME].samples.INDEX.1", "", "a sampled value (\"record\": [\"series\"])"},
        {"zap.NAME", "", "ZAP statistics"},
        {"dbuf.NAME", "", "dbuf statistics"},
        {"arc.NAME", "", "ARC statistics"},
        {"stack.bytes", "bytes", "deepest simulated kernel stack"},
    };
    return kinds;
}

} // namespace analysis
