// See the head of conform_counts.h.
#include "analysis/conform_counts.h"

#include "model/companions.h"
#include "model/costs.h"
#include "model/dmu_state.h"
#include "model/lock_classes.h"
#include "model/objset.h"
#include "sim/simulator.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace analysis {

namespace {

constexpr const char *holds_of_the_zap = "dnode_hold_impl on_zap";

struct Snapshot {
    std::vector<uint64_t> calls;
    std::vector<uint64_t> acquisitions;
    std::vector<uint64_t> writes;
    std::vector<uint64_t> node_calls;
};

Snapshot snapshot()
{
    Snapshot now;
    now.calls.assign(sim::hot.calls, sim::hot.calls + std::size(dmu::costs));
    for (uint16_t i = 0; i < dmu::lock_class_count; ++i) {
        now.acquisitions.push_back(sim::hot.lock_counts[i].acquisitions);
        now.writes.push_back(sim::hot.lock_counts[i].writes);
    }
    for (const sim::CallNode &node : sim::hot.simulator->call_tree().nodes())
        now.node_calls.push_back(node.calls);
    return now;
}

// From the measured call down to the node: what lies above the call is the replay's.
std::string path_below(const sim::CallNode &node, const sim::CallNode *top)
{
    std::string path;
    for (const sim::CallNode *at = &node; at != top && at->parent != nullptr; at = at->parent)
        path = dmu::costs[at->function].name + (path.empty() ? "" : ">" + path);
    return path;
}

void put(std::map<std::string, int64_t> &into, std::string_view name, uint64_t count)
{
    if (count != 0)
        into[std::string(name)] += static_cast<int64_t>(count);
}

bool is_rwlock(std::string_view name)
{
    return name == "dn_struct_rwlock" || name == "zap_rwlock" || name == "l_rwlock" || name == "zf_rwlock";
}

// The lock class of a recorded key such as "dn_mtx@dmu.c".
std::string lock_class(const std::string &key)
{
    const std::string name = key.substr(0, key.find('@'));
    return name == "DBUF_HASH_MUTEX" ? "hash_mutexes" : name;
}

// Functions that the recordings count wherever they are entered. Those that only the model has (a second name for a
// step, one that the real compiler made no function of) say nothing where they are absent.
bool was_recorded(std::string_view name)
{
    static constexpr std::string_view beginnings[] = {
        "zap_",      "fzap_",     "mzap_",     "mze_",       "dmu_buf_",     "dnode_hold",  "dnode_rele",  "dbuf_hold",
        "dbuf_find", "dbuf_read", "dbuf_rele", "dbuf_dirty", "dbuf_redirty", "dmu_object_", "dmu_tx_hold", "__dbuf"};
    return std::any_of(std::begin(beginnings), std::end(beginnings),
                       [&](std::string_view beginning) { return name.starts_with(beginning); });
}

bool is_left_out(const std::string &name)
{
    return std::any_of(left_out().begin(), left_out().end(), [&](const LeftOut &row) { return name == row.name; });
}

// A recorded path without the functions that have no frame here.
std::string without_companions(const std::string &path)
{
    std::string kept;
    for (size_t from = 0; from < path.size();) {
        const size_t end = std::min(path.find('>', from), path.size());
        const std::string name = path.substr(from, end - from);
        const bool companion = std::any_of(std::begin(dmu::companions), std::end(dmu::companions),
                                           [&](const dmu::companion_t &row) { return name == row.callee; });
        if (!companion)
            kept += (kept.empty() ? "" : ">") + name;
        from = end + 1;
    }
    return kept;
}

struct Compared {
    std::string field;
    Json recorded;
    int64_t got;
};

void collect_locks(const Json &profile, const char *group, const std::map<std::string, int64_t> &got,
                   std::vector<Compared> &out)
{
    std::map<std::string, double> recorded;
    const Json group_counts = profile.value(group, Json::object());
    for (const auto &[key, value] : group_counts.items())
        recorded[lock_class(key)] += value.get<double>();
    std::map<std::string, int64_t> names;
    for (const auto &[name, value] : recorded)
        names[name] = 0;
    for (const auto &[name, value] : got)
        names[name] = value;
    for (const auto &[name, value] : names)
        if (!is_left_out(name))
            out.push_back({std::string(group) + "." + name, recorded.contains(name) ? recorded[name] : 0.0, value});
}

std::vector<Compared> collect(const Json &profile, const Counts &sum)
{
    std::vector<Compared> out;
    const Json functions = profile.value("fn", Json::object());
    for (const auto &[name, value] : functions.items())
        if (!is_left_out(name))
            out.push_back({"fn." + name, value, sum.function(name)});
    // What the model enters and the recording does not is a difference too, for the functions recorded at all.
    for (const auto &[name, value] : sum.fn)
        if (!functions.contains(name) && was_recorded(name) && name.find(' ') == std::string::npos)
            out.push_back({"fn." + name, 0, value});
    collect_locks(profile, "mutex", sum.mutex, out);
    collect_locks(profile, "rw_r", sum.read, out);
    collect_locks(profile, "rw_w", sum.write, out);
    const Json references = profile.value("ref", Json::object());
    for (const char *holds : {"db_holds", "dn_holds"}) {
        double recorded = 0;
        for (const auto &[key, value] : references.items())
            if (lock_class(key) == holds)
                recorded += value.get<double>();
        out.push_back({std::string("ref.") + holds, recorded, sum.function(holds)});
    }
    if (profile.contains("dnode_hold_impl_on_zap"))
        out.push_back({"dnode_hold_impl_on_zap", profile["dnode_hold_impl_on_zap"], sum.function(holds_of_the_zap)});
    if (!functions.contains("zrl_add_impl")) // its name since 2019
        out.push_back({"zrl.zrl_add", profile.value("zrl", Json::object()).value("zrl_add@zrlock.c", Json(0)),
                       sum.function("zrl_add")});
    return out;
}

Json mean(int64_t sum, uint64_t calls)
{
    return sum < 0 ? Json(static_cast<double>(sum) / static_cast<double>(calls))
                   : quotient(static_cast<uint64_t>(sum), calls);
}

// Means have the calls as denominator, a power of two or one, so that they are exact.
bool agrees(const Compared &one, uint64_t calls)
{
    return one.recorded.get<double>() * static_cast<double>(calls) == static_cast<double>(one.got);
}

} // namespace

Counts &Counts::operator+=(const Counts &other)
{
    return add_times(other, 1);
}

Counts &Counts::add_times(const Counts &other, int64_t times)
{
    const auto add = [times](std::map<std::string, int64_t> &to, const std::map<std::string, int64_t> &from) {
        for (const auto &[name, value] : from)
            to[name] += times * value;
    };
    add(fn, other.fn);
    add(mutex, other.mutex);
    add(read, other.read);
    add(write, other.write);
    add(paths, other.paths);
    return *this;
}

int64_t Counts::function(const std::string &name) const
{
    const auto found = fn.find(name);
    return found == fn.end() ? 0 : found->second;
}

Counts count(dmu::objset_t &os, uint64_t zapobj, const std::function<void()> &call)
{
    const uint64_t watched_outside = std::exchange(os.os_watched_object, zapobj); // counts may be nested
    const uint64_t watched_before = os.os_watched_holds;
    const Snapshot before = snapshot();
    const sim::CallNode *top = sim::hot.node;
    call();
    os.os_watched_object = watched_outside;
    const Snapshot after = snapshot();

    Counts counts;
    put(counts.fn, holds_of_the_zap, os.os_watched_holds - watched_before);
    for (size_t i = 0; i < before.calls.size(); ++i)
        put(counts.fn, dmu::costs[i].name, after.calls[i] - before.calls[i]);
    for (uint16_t i = 0; i < dmu::lock_class_count; ++i) {
        const std::string_view name = dmu::lock_class_names[i];
        const uint64_t acquired = after.acquisitions[i] - before.acquisitions[i];
        const uint64_t written = after.writes[i] - before.writes[i];
        if (is_rwlock(name)) {
            put(counts.read, name, acquired - written);
            put(counts.write, name, written);
        } else {
            put(counts.mutex, name, acquired);
        }
    }
    const dmu::companion_code_t left_aside =
        os.os_dmu.era.slots_by_handle ? dmu::companion_code_t::before_2019 : dmu::companion_code_t::since_2019;
    for (const dmu::companion_t &row : dmu::companions) {
        if (row.code == left_aside)
            continue;
        const auto lock = counts.mutex.find(row.caller);
        const int64_t calls = lock != counts.mutex.end() ? lock->second : counts.function(row.caller);
        if (calls != 0)
            counts.fn[row.callee] += calls * row.times;
    }
    const auto &nodes = sim::hot.simulator->call_tree().nodes();
    for (size_t i = 0; i < nodes.size(); ++i) {
        const uint64_t calls = after.node_calls[i] - (i < before.node_calls.size() ? before.node_calls[i] : 0);
        if (calls != 0 && nodes[i].parent != nullptr &&
            (nodes[i].function == static_cast<uint16_t>(dmu::Fn::dnode_hold_impl) ||
             nodes[i].function == static_cast<uint16_t>(dmu::Fn::dnode_hold_impl_by_handle)))
            put(counts.paths, path_below(nodes[i], top), calls);
    }
    return counts;
}

void compare_profile(const Json &profile, const Counts &sum, uint64_t calls, Comparison &comparison)
{
    for (const Compared &one : collect(profile, sum))
        comparison.equal(one.field, one.recorded, agrees(one, calls) ? one.recorded : mean(one.got, calls));
    if (profile.contains("dnode_hold_paths")) {
        std::map<std::string, int64_t> recorded;
        for (const Json &path : profile["dnode_hold_paths"])
            ++recorded[without_companions(path.value("path", std::string()))];
        // A long list was cut off: then what it has must be there, and more may be.
        const bool cut_off = profile.value("dnode_hold_impl_total", uint64_t{0}) > profile["dnode_hold_paths"].size();
        Json recorded_paths = Json::object();
        Json got_paths = Json::object();
        for (const auto &[path, times] : recorded)
            recorded_paths[path] = times;
        for (const auto &[path, times] : sum.paths)
            if (times != 0 && (!cut_off || recorded.contains(path)))
                got_paths[path] = cut_off ? std::min(times, recorded[path]) : times;
        comparison.equal("dnode_hold_paths", recorded_paths, got_paths);
    }
    if (profile.contains("dnode_hold_impl_total"))
        comparison.equal("dnode_hold_impl_total", profile["dnode_hold_impl_total"],
                         mean(sum.function("dnode_hold_impl"), calls));
}

uint64_t profile_differences(const Json &profile, const Counts &sum, uint64_t calls)
{
    uint64_t differences = 0;
    for (const Compared &one : collect(profile, sum))
        differences += !agrees(one, calls);
    return differences;
}

int64_t recorded_count(const Json &profile, const char *group, const char *key, uint64_t calls)
{
    const Json value = profile.value(group, Json::object()).value(key, Json(0));
    return std::llround(value.get<double>() * static_cast<double>(calls));
}

const std::vector<LeftOut> &left_out()
{
    static const std::vector<LeftOut> rows = {
        {"mze_compare", "the index of a microzap is another kind of tree: as many entries, other comparisons"},
        {"dbuf_compare", "the same of a dnode's dbufs"},
        {"arc_change_state",
         "a second look makes a buffer frequently used when enough time has passed, and no time is recorded"},
        {"arc_buf_type", "asked once more by each arc_change_state"},
        {"b_freeze_lock", "a lock of arc_buf_thaw, for checksums in memory that nobody takes"},
        {"io_lock", "a lock of the zio that dbuf_read makes for a hole and waits for"},
        {"skc_lock", "a lock of the kernel's memory caches, which user space does not have"},
    };
    return rows;
}

void note_left_out(Comparison &comparison)
{
    for (const LeftOut &row : left_out())
        comparison.note(std::string("left out: ") + row.name + ": " + row.why);
}

} // namespace analysis
