#include "analysis/report_json.h"

#include "analysis/expectation.h"
#include "analysis/version.h"

namespace analysis {

namespace {

using namespace scenarios;

const char *end_name(End end)
{
    switch (end) {
    case End::completed:
        return "completed";
    case End::refused:
        return "refused";
    case End::deadlock:
        return "deadlock";
    case End::lost_wakeup:
        return "lost_wakeup";
    case End::livelock:
        return "livelock";
    case End::invariant:
        return "invariant";
    case End::limit:
        return "limit";
    case End::interrupted:
        return "interrupted";
    }
    return "unknown";
}

Json lines(const std::string &text)
{
    Json list = Json::array();
    for (size_t from = 0; from < text.size();) {
        size_t end = std::min(text.find('\n', from), text.size());
        list.push_back(text.substr(from, end - from));
        from = end + 1;
    }
    return list;
}

Json parts(const TimeParts &time)
{
    return {{"running", nanoseconds(time.running)},   {"spinning", nanoseconds(time.spinning)},
            {"blocked", nanoseconds(time.blocked)},   {"cpu_wait", nanoseconds(time.cpu_wait)},
            {"txg_wait", nanoseconds(time.txg_wait)}, {"disk", nanoseconds(time.disk)}};
}

Json operations(const RunResult &result)
{
    Json ops = Json::object();
    for (const OpResult &op : result.ops) {
        Json one = {{"count", op.count}};
        Json errors = Json::object();
        for (const auto &[name, count] : op.errors)
            errors[name] = count;
        one["errors"] = errors;
        one["per_s"] = quotient(op.count, result.simulated_ps, 1'000'000'000'000);
        one["latency_ns"] = {{"p50", nanoseconds(op.latency.p50)},
                             {"p90", nanoseconds(op.latency.p90)},
                             {"p99", nanoseconds(op.latency.p99)},
                             {"max", nanoseconds(op.latency.max)}};
        one["parts_ns"] = parts(op.parts);
        Json by_lock = Json::array();
        for (const LockTime &lock : op.locks)
            by_lock.push_back({{"class", lock.lock_class},
                               {"wait_ns", nanoseconds(lock.spinning + lock.blocked + lock.cpu_wait)},
                               {"spinning", nanoseconds(lock.spinning)},
                               {"blocked", nanoseconds(lock.blocked)},
                               {"cpu_wait", nanoseconds(lock.cpu_wait)}});
        one["locks"] = std::move(by_lock);
        ops[op.name] = std::move(one);
    }
    return ops;
}

Json groups(const RunResult &result)
{
    Json list = Json::array();
    for (const GroupResult &group : result.groups)
        list.push_back({{"name", group.name}, {"threads", group.threads}, {"parts_ns", parts(group.parts)}});
    return list;
}

Json processors(const RunResult &result)
{
    uint64_t busy = 0, idle = 0, self = 0, assumed = 0;
    Json each = Json::array();
    for (const CpuResult &cpu : result.cpus) {
        busy += cpu.busy_ps;
        idle += cpu.idle_ps;
        each.push_back({{"busy_ns", nanoseconds(cpu.busy_ps)}, {"idle_ns", nanoseconds(cpu.idle_ps)}});
    }
    for (const FunctionResult &function : result.functions) {
        self += function.self_ps - function.spin_ps;
        if (!function.recorded)
            assumed += function.self_ps - function.spin_ps;
    }
    Json functions = Json::array();
    for (const FunctionResult &function : result.functions)
        functions.push_back({{"name", function.name},
                             {"calls", function.calls},
                             {"self_ns", nanoseconds(function.self_ps)},
                             {"total_ns", nanoseconds(function.total_ps)},
                             {"share", quotient(function.total_ps, busy)},
                             {"spin_ns", nanoseconds(function.spin_ps)},
                             {"cost", function.recorded ? "recorded" : "assumed"}});
    // One row a node of the calling-context tree; a parent stands before its children; the root is row 0.
    Json tree = Json::array();
    for (const CallNode &node : result.call_tree) {
        const std::string &name =
            node.function < result.functions.size() ? result.functions[node.function].name : node.group;
        tree.push_back({node.parent, name, node.calls, nanoseconds(node.self_ps), nanoseconds(node.spin_ps),
                        nanoseconds(node.blocked_ps)});
    }
    return {{"busy_ns", nanoseconds(busy)},
            {"idle_ns", nanoseconds(idle)},
            {"assumed_share", quotient(assumed, self)},
            {"per_cpu", each},
            {"functions", functions},
            {"call_tree",
             {{"columns", {"parent", "function", "calls", "self_ns", "spin_ns", "blocked_ns"}}, {"rows", tree}}}};
}

Json named_times(const std::vector<NamedTime> &list, const char *name_key, const char *time_key)
{
    Json rows = Json::array();
    for (const NamedTime &row : list)
        rows.push_back({{name_key, row.name}, {time_key, nanoseconds(row.ps)}});
    return rows;
}

Json hot_locks(const std::vector<HotLock> &list)
{
    Json rows = Json::array();
    for (const HotLock &lock : list)
        rows.push_back({{"instance", lock.name},
                        {"wait_ns", nanoseconds(lock.ps)},
                        {"holders", named_times(lock.holders, "caller", "blamed_ns")}});
    return rows;
}

Json locks(const RunResult &result)
{
    Json list = Json::array();
    for (const LockResult &lock : result.locks)
        list.push_back({{"class", lock.lock_class},
                        {"instances", lock.instances},
                        {"acquisitions", lock.acquisitions},
                        {"contended", lock.contended},
                        {"wait_ns",
                         {{"total", nanoseconds(lock.wait_ps)},
                          {"max", nanoseconds(lock.wait_max_ps)},
                          {"p99", nanoseconds(lock.wait_p99_ps)}}},
                        {"spin_ns", nanoseconds(lock.spin_ps)},
                        {"blocked_ns", nanoseconds(lock.blocked_ps)},
                        {"hold_ns",
                         {{"total", nanoseconds(lock.hold_ps)},
                          {"max", nanoseconds(lock.hold_max_ps)},
                          {"p99", nanoseconds(lock.hold_p99_ps)}}},
                        {"owner_changes", lock.owner_changes},
                        {"waiters", named_times(lock.waiters, "caller", "wait_ns")},
                        {"holders", named_times(lock.holders, "caller", "blamed_ns")},
                        {"paths", named_times(lock.paths, "path", "blamed_ns")},
                        {"hottest", hot_locks(lock.hottest)}});
    return list;
}

Json chains(const RunResult &result)
{
    Json list = Json::array();
    for (const ChainResult &chain : result.chains) {
        Json links = Json::array();
        for (const ChainResult::Link &link : chain.links)
            links.push_back({{"lock", link.lock_class}, {"held_by", link.holder}});
        list.push_back({{"chain", links}, {"wait_ns", nanoseconds(chain.ps)}});
    }
    return list;
}

Json histograms(const RunResult &result)
{
    Json all = Json::object();
    for (const HistogramResult &histogram : result.histograms) {
        Json rows = Json::array();
        for (const HistogramRow &row : histogram.rows)
            rows.push_back({row.bucket, row.count});
        all[histogram.name] = {{"scale", histogram.scale == HistogramScale::quantize ? "quantize" : "linear"},
                               {"unit", histogram.unit},
                               {"rows", rows}};
    }
    return all;
}

Json allocator(const AllocatorResult &state)
{
    Json all = Json::object();
    if (state.objects_recorded) {
        Json objects = Json::array();
        for (const ObjectRun &run : state.objects) {
            if (run.first == run.last)
                objects.push_back(run.first);
            else
                objects.push_back({run.first, run.last, run.stride});
        }
        all["objects"] = std::move(objects);
    }
    all["rescans"] = state.rescans;
    all["objects_in_use"] = state.objects_in_use;
    all["dnode_blocks_in_use"] = state.dnode_blocks_in_use;
    all["holes"] = state.holes;
    all["highest_block"] = state.highest_block;
    all["os_obj_next"] = state.os_obj_next;
    if (!state.os_obj_next_percpu.empty())
        all["os_obj_next_percpu"] = state.os_obj_next_percpu;
    all["os_freed_dnodes"] = state.os_freed_dnodes;
    all["os_rescan_dnodes"] = state.os_rescan_dnodes;
    Json fills = Json::array();
    for (const FillLevel &level : state.fills) {
        Json runs = Json::array();
        for (const auto &[fill, pointers] : level.fills)
            runs.push_back({fill, pointers});
        fills.push_back({{"level", level.level}, {"fills", runs}});
    }
    all["fills"] = std::move(fills);
    return all;
}

Json txgs(const RunResult &result)
{
    Json list = Json::array();
    for (const TxgRow &row : result.txgs)
        list.push_back({{"txg", row.txg},
                        {"open_ns", nanoseconds(row.open_ps)},
                        {"quiesce_ns", nanoseconds(row.quiesce_ps)},
                        {"sync_ns", nanoseconds(row.sync_ps)},
                        {"accounting_ns", nanoseconds(row.accounting_ps)},
                        {"dirty_bytes", row.dirty_bytes},
                        {"allocated", row.allocated},
                        {"freed", row.freed},
                        {"allocated_when_sync_began", row.allocated_when_sync_began},
                        {"allocated_when_synced", row.allocated_when_synced}});
    return list;
}

Json series(const RunResult &result)
{
    Json list = Json::array();
    for (const Series &one : result.series) {
        Json samples = Json::array();
        for (const auto &[ps, value] : one.samples)
            samples.push_back({nanoseconds(ps), value});
        list.push_back({{"name", one.name}, {"unit", one.unit}, {"samples", samples}});
    }
    return list;
}

Json frames(const StackResult &stack)
{
    Json list = Json::array();
    for (size_t i = 0; i < stack.frames.size(); ++i)
        list.push_back(
            {{"function", stack.path[i]}, {"bytes", stack.frames[i].bytes}, {"depth", stack.frames[i].depth}});
    return list;
}

} // namespace

Json report_json(const RunResult &result)
{
    Json report = {{"format", result_format}, {"complete", result.complete}, {"version", version}};
    report["end"] = end_name(result.end);
    if (!result.ending.empty())
        report["ending"] = lines(result.ending);
    if (!result.refusals.empty()) {
        Json refusals = Json::array();
        for (const Refusal &refusal : result.refusals)
            refusals.push_back({{"step", refusal.step}, {"error", refusal.error}});
        report["refusals"] = std::move(refusals);
    }
    report["scenario"] = Json::parse(result.scenario, nullptr, false);
    report["simulated_ns"] = nanoseconds(result.simulated_ps);
    report["ops"] = operations(result);
    report["groups"] = groups(result);
    report["cpu"] = processors(result);
    report["locks"] = locks(result);
    report["wait_chains"] = chains(result);
    report["histograms"] = histograms(result);
    report["counters"] = result.counters;
    report["allocator"] = allocator(result.allocator);
    if (!result.txgs.empty())
        report["txgs"] = txgs(result);
    if (!result.series.empty())
        report["series"] = series(result);
    for (const auto &[name, values] : result.kstats)
        report[name] = values;
    report["stack"] = {{"bytes", result.stack.bytes}, {"path", result.stack.path}, {"frames", frames(result.stack)}};
    if (!result.warnings.empty())
        report["warnings"] = result.warnings;
    report["expect"] = judge_expectations(report);
    return report;
}

} // namespace analysis
