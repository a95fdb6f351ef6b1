// The recorded library is user space: two CPUs, every thread on slot 0 of the per-CPU cursors. Txg numbers count from
// the txg that was open at the first step.
#include "analysis/conform_alloc.h"

#include "analysis/conform_alloc_bed.h"

#include <algorithm>
#include <array>
#include <regex>
#include <set>

namespace analysis {

namespace {

// Which code a trace was recorded from, by the name in its head.
struct RecordedVariant {
    const char *name;
    const char *era;
    uint64_t rescan_threshold; // 0: the era's
    uint32_t meta_indirect_shift;
    bool has_threshold; // its head says so
    bool has_chunk;
};

constexpr RecordedVariant recorded_variants[] = {
    {"LEGACY", "zol-2016-05", 0, 14, false, false},
    {"RESCAN", "zol-2016-05-rescan", 0, 14, true, false},
    {"rescan", "zol-2016-05-rescan", 0, 14, true, false}, // how the runs without instruments write it
    {"RESCAN_T4096", "zol-2016-05-rescan", 4096, 14, true, false},
    {"NOBACKFILL", "zol-2016-05-rescan", 2147483647, 14, true, false}, // the threshold never reached, frees counted
    {"MT", "zol-2017", 0, 17, true, true},
    {"MT_IBS14", "zol-2017", 16384, 14, true, true},
    {"HEAD", "head", 0, 17, true, true},
};

constexpr std::array<const char *, 3> ignored_everywhere = {"wall_ns", "thread_cpu_ns", "process_cpu_ns"};

const RecordedVariant &variant_of(const Json &trace)
{
    std::string known;
    for (const RecordedVariant &variant : recorded_variants) {
        if (trace.contains("variant") && trace["variant"] == variant.name)
            return variant;
        known += (known.empty() ? "" : ", ") + std::string(variant.name);
    }
    throw BadTrace("variant", "no recorded code has that name; known: " + known);
}

// How recorded runs are called: w01_n8k, w03a, w05_acc, r4, mt 1M.
bool workload_name(const std::string &text)
{
    static const std::regex form("r[0-9]|w[0-9]{2}[a-e]?(_acc|_n?[0-9]+[km]?)?|mt [0-9]+[kM]");
    return std::regex_match(text, form);
}

// The name says nothing to the replay, but it must be one, and that of the file where the file is called so.
void check_workload(const Json &trace, Comparison &comparison)
{
    if (!trace.contains("workload") || !trace["workload"].is_string())
        throw BadTrace("workload", "the name of the recorded run is expected");
    if (!workload_name(trace["workload"].get<std::string>()))
        throw BadTrace("workload", trace["workload"].dump() + " is no name of a recorded run, as w07, w03a or w01_n8k");
    if (workload_name(comparison.trace_name()))
        comparison.equal("workload", trace["workload"], comparison.trace_name());
}

template <class Names>
bool listed(const Names &names, const std::string &name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

// Compares every recorded field but the inputs; one that `got` lacks is not known here.
void compare_fields(const Json &recorded, const Json &got, const std::set<std::string> &inputs, const std::string &path,
                    Comparison &comparison)
{
    for (const auto &[key, value] : recorded.items()) {
        if (inputs.count(key) != 0 || listed(ignored_everywhere, key))
            continue;
        if (!got.contains(key))
            throw BadTrace(path + key, "unknown field");
        comparison.equal(key, value, got[key]);
    }
}

dmu::model_config config_of(const RecordedVariant &variant)
{
    dmu::model_config config = dmu::era_config(variant.era);
    if (variant.rescan_threshold != 0)
        config.code.rescan_threshold = variant.rescan_threshold;
    config.dataset.meta_indirect_shift = variant.meta_indirect_shift;
    // Out of reach, as in the recordings: only a step ends a txg.
    config.pool.txg_timeout_ns = 4'000'000'000'000;
    config.pool.dirty_data_sync = 1ull << 50;
    config.pool.dirty_data_max = 1ull << 51;
    config.pool.arc_max = 1ull << 52;
    return config;
}

Json head_of(const RecordedVariant &variant, AllocBed &bed)
{
    Json head;
    head["variant"] = variant.name;
    if (variant.has_threshold)
        head["rescan_threshold"] = bed.config().code.rescan_threshold;
    if (variant.has_chunk)
        head["dmu_object_alloc_chunk_shift"] = bed.config().code.alloc_chunk_shift;
    head.update(bed.geometry());
    head["initial_objects"] = bed.objects_in_use();
    return head;
}

uint64_t count_of(const Json &step, const std::string &path)
{
    if (!step.contains("count") || !step["count"].is_number_unsigned())
        throw BadTrace(path + "count", "the number of objects is expected");
    return step["count"].get<uint64_t>();
}

std::vector<uint64_t> listed_objects(const Json &step, const std::string &path)
{
    if (!step.contains("objects"))
        throw BadTrace(path + "objects", "the objects are expected");
    std::vector<uint64_t> objects = objects_of(step["objects"], path + "objects");
    if (objects.size() != count_of(step, path))
        throw BadTrace(path + "count", "does not agree with the objects listed");
    return objects;
}

// Of a search asked of the meta-dnode: the five arguments are taken, the two answers are not looked at.
Json query_rows(const Json &step, AllocBed &bed, const std::string &path)
{
    constexpr size_t arguments = 5;
    constexpr size_t columns = 7;
    Json rows = Json::array();
    if (!step.contains("rows") || !step["rows"].is_array())
        throw BadTrace(path + "rows", "a list is expected");
    for (size_t i = 0; i < step["rows"].size(); ++i) {
        const Json &row = step["rows"][i];
        const std::string here = path + "rows[" + std::to_string(i) + "]";
        if (!row.is_array() || row.size() != columns)
            throw BadTrace(here, "[flags, offset, minlvl, blkfill, txg, errno, offset_out] is expected");
        for (size_t argument = 0; argument < arguments; ++argument)
            if (!row[argument].is_number_unsigned())
                throw BadTrace(here + "[" + std::to_string(argument) + "]",
                               "an integer that is not negative is expected");
        rows.push_back(bed.query(row[0], row[1], row[2], row[3], row[4], here));
    }
    return rows;
}

// One operation: does it, and returns what there is to say about it. inputs: the fields that told what to do.
Json perform(const std::string &op, const Json &step, AllocBed &bed, const std::string &path,
             std::set<std::string> &inputs)
{
    if (op == "alloc") {
        inputs = {"op", "count"};
        return bed.alloc(count_of(step, path));
    }
    if (op == "mtalloc") {
        inputs = {"op", "count", "threads"};
        if (!step.contains("threads") || !step["threads"].is_number_unsigned())
            throw BadTrace(path + "threads", "the number of threads is expected");
        return bed.mtalloc(step["threads"].get<uint64_t>(), count_of(step, path));
    }
    if (op == "free") {
        inputs = {"op", "count", "objects", "how"};
        return bed.free_objects(listed_objects(step, path));
    }
    if (op == "claim") {
        inputs = {"op", "count", "objects"};
        return bed.claim(listed_objects(step, path));
    }
    if (op == "query") {
        inputs = {"op"};
        Json got;
        got["columns"] = {"flags", "offset", "minlvl", "blkfill", "txg", "errno", "offset_out"};
        got["flag_bits"] = {{"DNODE_FIND_HOLE", dmu::DNODE_FIND_HOLE},
                            {"DNODE_FIND_BACKWARDS", dmu::DNODE_FIND_BACKWARDS}};
        got["rows"] = query_rows(step, bed, path);
        return got;
    }
    inputs = {"op"};
    if (op == "initial")
        return Json::object();
    if (op == "sync")
        return bed.sync();
    if (op == "reopen")
        return bed.reopen();
    if (op == "export_import")
        return bed.export_import();
    if (op == "hold_tx")
        return bed.hold_tx();
    if (op == "quiesce_begin")
        return bed.quiesce_begin();
    if (op == "release_tx_and_wait_synced")
        return bed.release_tx_and_wait_synced();
    if (op == "marktxg")
        return bed.marktxg();
    throw BadTrace(path + "op", "\"" + op + "\" is no operation");
}

void replay(const Json &trace, const RecordedVariant &variant, AllocBed &bed, Comparison &comparison)
{
    if (!trace.contains("steps") || !trace["steps"].is_array())
        throw BadTrace("steps", "a list is expected");
    const Json &steps = trace["steps"];
    if (steps.empty() || !steps[0].is_object() || !steps[0].contains("open_txg") ||
        !steps[0]["open_txg"].is_number_unsigned() || steps[0].value("op", "") != "initial")
        throw BadTrace("steps[0]", "the state before the first operation is expected, with its open_txg");
    bed.number_txgs_from(steps[0]["open_txg"].get<uint64_t>());

    Json head = head_of(variant, bed);
    bool counted = false;
    for (const Json &step : steps)
        counted = counted || (step.is_object() && step.contains("totals"));
    head["instrumented"] = counted;
    compare_fields(trace, head, {"format", "workload", "description", "steps"}, "", comparison);

    for (size_t i = 0; i < steps.size(); ++i) {
        const Json &step = steps[i];
        const std::string path = "steps[" + std::to_string(i) + "].";
        if (!step.is_object() || !step.contains("op") || !step["op"].is_string())
            throw BadTrace(path + "op", "the name of the operation is expected");
        const std::string op = step["op"].get<std::string>();
        comparison.step(i, op);

        std::set<std::string> inputs;
        Json got = perform(op, step, bed, path, inputs);
        got.update(bed.state());
        if (step.contains("fill"))
            got.update(bed.synced_state(step["fill"].is_object() && step["fill"].contains("bp_to_level_0")));
        compare_fields(step, got, inputs, path, comparison);
    }
}

} // namespace

void conform_alloc(const Json &trace, Comparison &comparison)
{
    const RecordedVariant &variant = variant_of(trace);
    check_workload(trace, comparison);
    AllocBed bed(config_of(variant));
    bed.run([&] { replay(trace, variant, bed, comparison); });
}

} // namespace analysis
