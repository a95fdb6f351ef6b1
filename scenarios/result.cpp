#include "scenarios/result.h"

#include "model/kstat_report.h"
#include "scenarios/errno_names.h"
#include "scenarios/operation.h"

#include <algorithm>

namespace scenarios {

namespace {

constexpr size_t named_times_max = 20; // callers and instances listed for a lock

// Time by name, longest first; names in order where it is equal.
std::vector<NamedTime> ranked(std::map<std::string, uint64_t> times)
{
    std::vector<NamedTime> list;
    for (auto &[name, ps] : times)
        if (ps != 0)
            list.push_back({name, ps});
    std::stable_sort(list.begin(), list.end(), [](const NamedTime &a, const NamedTime &b) { return a.ps > b.ps; });
    return list;
}

TimeParts parts_of(const sim::TimeParts &parts)
{
    using sim::Part;
    const auto ps = [&](Part part) { return static_cast<uint64_t>(parts[part]); };
    return {ps(Part::running),  ps(Part::spinning), ps(Part::blocked) + ps(Part::sleeping),
            ps(Part::cpu_wait), ps(Part::txg_wait), ps(Part::disk)};
}

void add(TimeParts &sum, const TimeParts &parts)
{
    sum.running += parts.running;
    sum.spinning += parts.spinning;
    sum.blocked += parts.blocked;
    sum.cpu_wait += parts.cpu_wait;
    sum.txg_wait += parts.txg_wait;
    sum.disk += parts.disk;
}

// The time of a function with what it called, a recursion counted once: the sum over those of its nodes that have no
// node of the same function above them. Nodes come after their parents.
std::map<std::string, uint64_t> total_times(const sim::Measurements &measured,
                                            std::span<const sim::FunctionInfo> functions)
{
    std::vector<uint64_t> subtree(measured.nodes.size());
    for (size_t i = measured.nodes.size(); i-- > 0;) {
        const auto &node = measured.nodes[i];
        subtree[i] += node.self_ps + node.spin_ps;
        if (node.parent != UINT32_MAX)
            subtree[node.parent] += subtree[i];
    }
    std::map<std::string, uint64_t> totals;
    for (size_t i = 0; i < measured.nodes.size(); ++i) {
        const auto &node = measured.nodes[i];
        if (node.parent == UINT32_MAX)
            continue;
        const std::string_view name = functions[node.function].name;
        bool inside = false;
        for (uint32_t above = node.parent; measured.nodes[above].parent != UINT32_MAX;
             above = measured.nodes[above].parent)
            inside = inside || functions[measured.nodes[above].function].name == name;
        if (!inside)
            totals[std::string(name)] += subtree[i];
    }
    return totals;
}

void add_functions(RunResult &result, const sim::Measurements &measured, std::span<const sim::FunctionInfo> functions)
{
    std::map<std::string, FunctionResult> by_name;
    for (const auto &node : measured.nodes) {
        if (node.parent == UINT32_MAX)
            continue;
        const sim::FunctionInfo &info = functions[node.function];
        FunctionResult &function = by_name[info.name];
        function.name = info.name;
        function.recorded = info.recorded;
        function.calls += node.calls;
        function.self_ps += node.self_ps + node.spin_ps;
        function.spin_ps += node.spin_ps;
    }
    for (const auto &[name, total] : total_times(measured, functions))
        by_name[name].total_ps = total;
    for (auto &[name, function] : by_name) {
        result.counters[name] = function.calls;
        if (function.calls != 0 || function.total_ps != 0) // otherwise it ran before the measured part only
            result.functions.push_back(std::move(function));
    }
    std::stable_sort(result.functions.begin(), result.functions.end(),
                     [](const FunctionResult &a, const FunctionResult &b) { return a.self_ps > b.self_ps; });
}

// One root above the groups' roots, so that the tree is a tree. Paths that nobody went in the measured part are left
// out.
void add_call_tree(RunResult &result, const sim::Measurements &measured, std::span<const sim::FunctionInfo> functions)
{
    std::map<std::string_view, uint32_t> index;
    for (size_t i = 0; i < result.functions.size(); ++i)
        index[result.functions[i].name] = static_cast<uint32_t>(i);
    std::vector<bool> used(measured.nodes.size());
    for (size_t i = measured.nodes.size(); i-- > 0;) {
        const auto &node = measured.nodes[i];
        used[i] = used[i] || node.calls != 0 || node.self_ps != 0 || node.spin_ps != 0 || node.blocked_ps != 0;
        if (used[i] && node.parent != UINT32_MAX)
            used[node.parent] = true;
    }
    result.call_tree.push_back({});
    result.call_tree.back().function = UINT32_MAX;
    std::vector<uint32_t> place(measured.nodes.size());
    for (size_t i = 0; i < measured.nodes.size(); ++i) {
        const auto &node = measured.nodes[i];
        if (!used[i])
            continue;
        place[i] = static_cast<uint32_t>(result.call_tree.size());
        CallNode out;
        const bool root = node.parent == UINT32_MAX;
        out.parent = root ? 0 : place[node.parent];
        const auto function = root ? index.end() : index.find(functions[node.function].name);
        out.function = function == index.end() ? UINT32_MAX : function->second;
        out.group = node.group;
        out.calls = node.calls;
        out.self_ps = node.self_ps + node.spin_ps;
        out.spin_ps = node.spin_ps;
        out.blocked_ps = node.blocked_ps;
        result.call_tree.push_back(std::move(out));
    }
    // What is left of the CPUs' busy time is nobody's: a CPU changing from one thread to another.
    uint64_t busy = 0, told = 0;
    for (const CpuResult &cpu : result.cpus)
        busy += cpu.busy_ps;
    for (const CallNode &node : result.call_tree)
        told += node.self_ps;
    if (busy > told) {
        CallNode switching;
        switching.group = "(context switch)";
        switching.function = UINT32_MAX;
        switching.self_ps = busy - told;
        result.call_tree.push_back(std::move(switching));
    }
}

// The blame for time in which a lock, or a CPU for its waiter, was on its way.
constexpr char hand_over[] = "(hand-over)";

std::string caller_name(const sim::Measurements::Node &node, std::span<const sim::FunctionInfo> functions)
{
    return node.parent == UINT32_MAX ? "(script)" : functions[node.function].name;
}

// "a > b > c" for each node; parents stand before their children.
std::vector<std::string> call_paths(const sim::Measurements &measured, std::span<const sim::FunctionInfo> functions)
{
    std::vector<std::string> paths;
    for (const auto &node : measured.nodes) {
        if (node.parent == UINT32_MAX)
            paths.push_back("(script)");
        else if (measured.nodes[node.parent].parent == UINT32_MAX)
            paths.emplace_back(functions[node.function].name);
        else
            paths.push_back(paths[node.parent] + " > " + functions[node.function].name);
    }
    return paths;
}

struct InstanceTimes {
    uint64_t wait_ps = 0;
    std::map<std::string, uint64_t> holders;
};
using ByInstance = std::map<std::string, InstanceTimes>;

std::vector<HotLock> hottest(ByInstance &instances)
{
    std::vector<HotLock> list;
    for (auto &[name, times] : instances)
        list.push_back({name, times.wait_ps, {}});
    std::stable_sort(list.begin(), list.end(), [](const HotLock &a, const HotLock &b) { return a.ps > b.ps; });
    if (list.size() > named_times_max)
        list.resize(named_times_max);
    for (HotLock &one : list)
        one.holders = ranked(std::move(instances[one.name].holders));
    return list;
}

void add_locks(RunResult &result, const sim::Measurements &measured, const sim::Tables &tables)
{
    const sim::LockStatistics &locks = measured.locks;
    const size_t columns = size_t{locks.functions} + 1;
    const auto by_caller_name = [&](const std::vector<uint64_t> &table, size_t lock_class) {
        std::map<std::string, uint64_t> times;
        for (size_t i = 0; i < columns; ++i)
            if (const uint64_t ps = table[lock_class * columns + i]; ps != 0)
                times[i < locks.functions ? tables.functions[i].name : "(script)"] += ps;
        return times;
    };
    const std::vector<std::string> paths = call_paths(measured, tables.functions);
    std::vector<ByInstance> instances(tables.lock_classes.size());
    std::vector<std::map<std::string, uint64_t>> by_path(tables.lock_classes.size());
    for (const sim::LockInstance &instance : locks.instances) {
        if (instance.wait_ps == 0)
            continue;
        auto &[wait, holders] = instances[instance.lock_class][instance.label];
        wait += instance.wait_ps;
        for (const sim::Blame &blame : instance.blame) {
            const bool nobody = blame.node == sim::Blame::hand_over;
            holders[nobody ? hand_over : caller_name(measured.nodes[blame.node], tables.functions)] += blame.ps;
            by_path[instance.lock_class][nobody ? hand_over : paths[blame.node]] += blame.ps;
        }
    }
    for (size_t i = 0; i < tables.lock_classes.size(); ++i) {
        const sim::LockClassCounts &counts = locks.counts[i];
        const sim::LockClassWaits &waits = locks.waits[i];
        if (counts.acquisitions == 0 && waits.contended == 0)
            continue;
        LockResult lock;
        lock.lock_class = tables.lock_classes[i].name;
        lock.instances = counts.instances;
        lock.acquisitions = counts.acquisitions;
        lock.contended = waits.contended;
        lock.wait_ps = waits.wait.total();
        lock.wait_max_ps = waits.wait.max();
        lock.wait_p99_ps = waits.wait.quantile(990);
        lock.spin_ps = waits.spin_ps;
        lock.blocked_ps = waits.blocked_ps;
        lock.hold_ps = counts.hold->total();
        lock.hold_max_ps = counts.hold->max();
        lock.hold_p99_ps = counts.hold->quantile(990);
        lock.owner_changes = counts.owner_changes;
        lock.waiters = ranked(by_caller_name(locks.waiter_ps, i));
        std::map<std::string, uint64_t> holders = by_caller_name(locks.holder_ps, i);
        holders[hand_over] += locks.hand_over_ps[i];
        lock.holders = ranked(std::move(holders));
        lock.paths = ranked(std::move(by_path[i]));
        lock.hottest = hottest(instances[i]);
        result.locks.push_back(std::move(lock));
    }
    std::stable_sort(result.locks.begin(), result.locks.end(),
                     [](const LockResult &a, const LockResult &b) { return a.wait_ps > b.wait_ps; });
}

void add_chains(RunResult &result, const sim::Measurements &measured, const sim::Tables &tables)
{
    for (const auto &[chain, ps] : measured.locks.chains) {
        ChainResult one;
        one.ps = ps;
        for (const uint32_t link : chain.links) {
            if (link == sim::WaitChain::none)
                break;
            const uint32_t function = link & 0xffff;
            one.links.push_back({tables.lock_classes[link >> 16].name,
                                 function < tables.functions.size() ? tables.functions[function].name : "(script)"});
        }
        result.chains.push_back(std::move(one));
    }
    std::stable_sort(result.chains.begin(), result.chains.end(),
                     [](const ChainResult &a, const ChainResult &b) { return a.ps > b.ps; });
    if (result.chains.size() > named_times_max)
        result.chains.resize(named_times_max);
}

void add_stack(RunResult &result, const sim::Measurements &measured, std::span<const sim::FunctionInfo> functions)
{
    if (measured.deepest_node >= measured.nodes.size())
        return;
    result.stack.bytes = measured.nodes[measured.deepest_node].stack_bytes;
    for (uint32_t i = measured.deepest_node; measured.nodes[i].parent != UINT32_MAX; i = measured.nodes[i].parent)
        result.stack.path.emplace_back(functions[measured.nodes[i].function].name);
    std::reverse(result.stack.path.begin(), result.stack.path.end());
    uint32_t pushed = 0; // by this frame for the one above it
    for (uint32_t i = measured.deepest_node; measured.nodes[i].parent != UINT32_MAX; i = measured.nodes[i].parent) {
        const sim::FunctionInfo &info = functions[measured.nodes[i].function];
        const uint64_t depth = measured.nodes[i].stack_bytes + pushed;
        if (info.frame_bytes == 0) { // inlined: what it pushes is in the frame of who called it
            result.stack.frames.push_back({0, depth});
            pushed += info.pushed_bytes;
        } else {
            result.stack.frames.push_back({info.frame_bytes + pushed, depth});
            pushed = info.pushed_bytes;
        }
    }
    std::reverse(result.stack.frames.begin(), result.stack.frames.end());
}

uint64_t ps_between(sim::Time from, sim::Time until)
{
    return until > from ? static_cast<uint64_t>((until - from).ps) : 0;
}

void add_txgs(RunResult &result, World &world)
{
    dmu::tx_state_t &tx = world.spa().dsl_pool().dp_tx;
    const auto add_row = [&](const dmu::txg_row_t &row) {
        if (row.txg == 0 || row.synced <= world.measured_from())
            return;
        result.txgs.push_back({row.txg, ps_between(row.opened, row.closed), ps_between(row.closed, row.quiesced),
                               ps_between(row.sync_began, row.synced), static_cast<uint64_t>(row.accounting.ps),
                               row.ndirty, row.allocated, row.freed, row.allocated_when_sync_began,
                               row.allocated_when_synced});
    };
    for (const dmu::txg_row_t &row : tx.tx_rows)
        add_row(row);
}

} // namespace

void add_measurements(RunResult &result, const sim::Simulator &simulator, const Scenario &scenario)
{
    const sim::Measurements &measured = simulator.measurements();
    const sim::Tables &tables = simulator.tables();
    result.simulated_ps = ps_between(measured.from, measured.until);
    result.digest = simulator.digest();
    for (const auto &cpu : measured.cpus)
        result.cpus.push_back({static_cast<uint64_t>(cpu.busy_ps), static_cast<uint64_t>(cpu.idle_ps)});
    add_functions(result, measured, tables.functions);
    add_call_tree(result, measured, tables.functions);
    add_locks(result, measured, tables);
    add_chains(result, measured, tables);
    add_stack(result, measured, tables.functions);
    for (const Group &group : scenario.workload) {
        GroupResult one{group.name, group.threads, {}};
        for (const auto &thread : measured.threads)
            if (thread.counted && thread.group == group.name)
                add(one.parts, parts_of(thread.parts));
        result.groups.push_back(std::move(one));
    }
}

// zap_get_stats: the numbers, and the rows of its histograms as "histogram.N", empty ones left out.
void add_zap(std::map<std::string, uint64_t> &into, const std::string &name, const dmu::zap_stats_t &stats)
{
    const std::pair<const char *, uint64_t> numbers[] = {{"zs_ptrtbl_len", stats.zs_ptrtbl_len},
                                                         {"zs_blocksize", stats.zs_blocksize},
                                                         {"zs_ptrtbl_blks_copied", stats.zs_ptrtbl_blks_copied},
                                                         {"zs_ptrtbl_nextblk", stats.zs_ptrtbl_nextblk},
                                                         {"zs_ptrtbl_zt_blk", stats.zs_ptrtbl_zt_blk},
                                                         {"zs_ptrtbl_zt_numblks", stats.zs_ptrtbl_zt_numblks},
                                                         {"zs_ptrtbl_zt_shift", stats.zs_ptrtbl_zt_shift},
                                                         {"zs_num_blocks", stats.zs_num_blocks},
                                                         {"zs_num_leafs", stats.zs_num_leafs},
                                                         {"zs_num_entries", stats.zs_num_entries},
                                                         {"zs_salt", stats.zs_salt}};
    for (const auto &[field, value] : numbers)
        into[name + field] = value;
    const auto add_rows = [&](const char *histogram, const auto &rows) {
        for (size_t i = 0; i < rows.size(); ++i)
            if (rows[i] != 0)
                into[name + histogram + "." + std::to_string(i)] = rows[i];
    };
    add_rows("zs_leafs_with_2n_pointers", stats.zs_leafs_with_2n_pointers);
    add_rows("zs_blocks_with_n5_entries", stats.zs_blocks_with_n5_entries);
    add_rows("zs_blocks_n_tenths_full", stats.zs_blocks_n_tenths_full);
    add_rows("zs_entries_using_n_chunks", stats.zs_entries_using_n_chunks);
    add_rows("zs_buckets_with_n_entries", stats.zs_buckets_with_n_entries);
}

std::vector<LockTime> lock_times(const std::map<uint16_t, sim::LockShare> &shares,
                                 std::span<const sim::LockClassInfo> lock_classes)
{
    std::vector<LockTime> list;
    for (const auto &[lock_class, share] : shares)
        list.push_back({lock_classes[lock_class].name, static_cast<uint64_t>(share.spin_ps),
                        static_cast<uint64_t>(share.blocked_ps), static_cast<uint64_t>(share.cpu_wait_ps)});
    const auto total = [](const LockTime &time) { return time.spinning + time.blocked + time.cpu_wait; };
    std::stable_sort(list.begin(), list.end(),
                     [&](const LockTime &a, const LockTime &b) { return total(a) > total(b); });
    return list;
}

void add_world(RunResult &result, const World &world)
{
    for (size_t i = 0; i < operations().size(); ++i) {
        const Tally &tally = world.tallies[i];
        if (tally.latency.count() == 0)
            continue;
        OpResult op;
        op.name = operations()[i].name;
        op.count = tally.count;
        for (const auto &[error, count] : tally.errors)
            op.errors[errno_name(error)] = count;
        op.latency = tally.latency.summary();
        op.parts = parts_of(tally.parts);
        op.locks = lock_times(tally.locks, world.simulator.tables().lock_classes);
        if (world.scenario.records("series"))
            result.series.push_back(
                {"ops." + op.name, "operations an interval", tally.timeline.samples(result.simulated_ps)});
        result.ops.push_back(std::move(op));
    }
    std::sort(result.ops.begin(), result.ops.end(),
              [](const OpResult &a, const OpResult &b) { return a.name < b.name; });
    if (auto rows = world.alloc_hold_rows(); !rows.empty()) {
        result.histograms.push_back(
            {"dnode_hold_impl per dmu_object_alloc", HistogramScale::quantize, "calls", std::move(rows)});
        result.histograms.push_back({"dnode_next_offset per dmu_object_alloc", HistogramScale::quantize, "calls",
                                     world.alloc_next_offset_rows()});
    }
    if (auto rows = world.hold_zap_rows(); !rows.empty())
        result.histograms.push_back(
            {"dnode_hold per dmu_tx_hold_zap", HistogramScale::linear, "calls", std::move(rows)});
    if (world.scenario.records("dmu_zfetch"))
        result.histograms.push_back(
            {"dmu_zfetch latency", HistogramScale::quantize, "us", world.zfetch_latency_rows()});
    std::sort(result.histograms.begin(), result.histograms.end(),
              [](const HistogramResult &a, const HistogramResult &b) { return a.name < b.name; });
    for (const auto &[name, value] : world.measured_kstats())
        result.counters.emplace(name, value); // a function of the same name keeps its count of calls
    for (const auto &[name, stats] : world.zap_stats)
        add_zap(result.kstats["zap"], name + ".", stats);
    result.refusals = world.refusals;
    result.allocator.objects_recorded = world.scenario.records("objects");
    result.allocator.objects = world.handed_out.runs();
}

void add_pool(RunResult &result, World &world, const std::vector<std::string> &wanted_kstats)
{
    const dmu::objset_t &os = world.objset();
    const auto keep = [&](const char *group, const dmu::kstat_values_t &values) {
        for (const auto &[name, value] : values)
            result.kstats[group][name] = value;
    };
    keep("dbuf", dmu::dbufstats(os.os_dmu));
    keep("arc", dmu::arcstats(os.os_dmu));
    keep("dnode", dmu::dnodestats(os));
    for (const std::string &name : wanted_kstats)
        result.kstat_texts[name] = dmu::kstat_text(world.spa(), name);
    const dmu::meta_dnode_report_t report = dmu::meta_dnode_report(os);
    AllocatorResult &allocator = result.allocator;
    const auto counters = world.measured_kstats();
    if (const auto rescans = counters.find("rescans"); rescans != counters.end())
        allocator.rescans = rescans->second;
    allocator.objects_in_use = world.objects_in_use;
    for (const auto &[fill, pointers] : report.level0)
        allocator.dnode_blocks_in_use += fill != 0 ? pointers : 0;
    allocator.holes = report.phys_maxblkid + 1 - allocator.dnode_blocks_in_use;
    allocator.highest_block = report.phys_maxblkid;
    allocator.os_obj_next = os.os_obj_next_chunk != 0 ? os.os_obj_next_chunk : os.os_obj_next;
    for (const dmu::atomic_uint64_t &cursor : os.os_obj_next_percpu)
        allocator.os_obj_next_percpu.push_back(cursor.peek());
    allocator.os_freed_dnodes = os.os_freed_dnodes;
    allocator.os_rescan_dnodes = os.os_rescan_dnodes.locked();
    for (const dmu::fill_level_t &level : report.levels)
        allocator.fills.push_back({level.level, level.fills});
    allocator.fills.push_back({0, report.level0});
    if (world.scenario.records("txgs"))
        add_txgs(result, world);
}

} // namespace scenarios
