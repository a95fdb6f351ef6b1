// See the head of conform_zap_bed.h.
#include "analysis/conform_zap_bed.h"

#include "model/eras.h"
#include "model/txg.h"
#include "model/zap.h"
#include "model/zpl.h"
#include "sim/simulator.h"

#include <algorithm>
#include <cstdio>

namespace analysis {

namespace {

constexpr uint64_t changes_a_transaction = 4096;

struct TreeRow {
    const char *tree;
    const char *era;
    const char *tx_hold_zap;
    const char *dbuf_hold;
};

// What stands behind the short names of the recordings.
constexpr TreeRow trees[] = {
    {"PRE7004", "zol-2016-08", "by-object", "heap-array"},
    {"POST7004", "zol-2016-08", "by-dnode", "heap-array"},
    {"PREDBUF", "zol-2019", "lookup-only", "heap-frame"},
    {"POSTDBUF", "zol-2019", "lookup-only", "stack-frame"},
};

dmu::model_config tree_config(std::string_view tree)
{
    for (const TreeRow &row : trees) {
        if (tree != row.tree)
            continue;
        dmu::model_config config = dmu::era_config(row.era);
        config.code.tx_hold_zap = row.tx_hold_zap;
        config.code.dbuf_hold = row.dbuf_hold;
        return config;
    }
    throw BadTrace("tree",
                   "\"" + std::string(tree) + "\" is no known code base; known: PRE7004, POST7004, PREDBUF, POSTDBUF");
}

} // namespace

void ZapBed::transact(uint64_t zapobj, const std::function<void(dmu::dmu_tx_t &)> &change)
{
    auto tx = dmu::dmu_tx_create(*os_);
    if (zapobj != 0)
        dmu::dmu_tx_hold_zap(*tx, zapobj, true, nullptr);
    dmu::dmu_tx_hold_zap(*tx, dmu::DMU_NEW_OBJECT, true, nullptr);
    auto assigned = dmu::dmu_tx_assign(*tx, dmu::TXG_WAIT);
    VERIFY(assigned.ok());
    change(*tx);
    dmu::dmu_tx_commit(std::move(tx));
}

void ZapBed::transact_each(uint64_t zapobj, uint64_t first, uint64_t last,
                           const std::function<void(dmu::dmu_tx_t &, uint64_t)> &step)
{
    for (uint64_t from = first; from < last; from += changes_a_transaction) {
        const uint64_t until = std::min(last, from + changes_a_transaction);
        transact(zapobj, [&](dmu::dmu_tx_t &tx) {
            for (uint64_t i = from; i < until; ++i)
                step(tx, i);
        });
    }
}

uint64_t ZapBed::create_zap()
{
    uint64_t object = 0;
    transact(0, [&](dmu::dmu_tx_t &tx) {
        object = dmu::zap_create(*os_, dmu::DMU_OT_DIRECTORY_CONTENTS, dmu::DMU_OT_NONE, 0, tx);
    });
    return object;
}

uint64_t ZapBed::create_zap_at(uint64_t object)
{
    transact(0, [&](dmu::dmu_tx_t &tx) {
        dmu::dnode_spec spec;
        spec.type = dmu::DMU_OT_DIRECTORY_CONTENTS;
        auto claimed = dmu::dmu_object_claim(*os_, object, spec, tx);
        VERIFY(claimed.ok());
        dmu::mzap_create_impl(*os_, object, tx);
    });
    return object;
}

void ZapBed::sync()
{
    dmu::txg_wait_synced(spa_.dsl_pool(), 0);
}

void ZapBed::reopen()
{
    os_ = &spa_.spa_reopen_objset();
}

int ZapBed::add(uint64_t zapobj, std::string_view name, uint64_t value)
{
    int error = 0;
    transact(zapobj, [&](dmu::dmu_tx_t &tx) { error = dmu::zap_add(*os_, zapobj, name, {8, 1, &value}, tx).error(); });
    return error;
}

int ZapBed::remove(uint64_t zapobj, std::string_view name)
{
    int error = 0;
    transact(zapobj, [&](dmu::dmu_tx_t &tx) { error = dmu::zap_remove(*os_, zapobj, name, tx).error(); });
    return error;
}

void in_zap_bed(std::string_view tree, uint64_t salt, const std::function<void(ZapBed &)> &replay)
{
    dmu::model_config config = tree_config(tree);
    config.dataset.zap_salt = salt;
    config.pool.dirty_data_sync = config.pool.dirty_data_max = 64ull << 30; // no txg ends before the replay says so
    config.pool.txg_timeout_ns = 4'000'000'000'000;

    sim::Machine machine = sim::find_machine_profile("flat")->machine;
    machine.cpus = 1;
    sim::Simulator simulator(machine, dmu::model_tables(), 1);
    simulator.set_free(true);
    simulator.spawn("replay", {}, [&] {
        dmu::spa_t spa(config);
        dmu::objset_t &os = spa.spa_create();
        ZapBed bed(spa, os);
        replay(bed);
        spa.spa_stop();
    });
    const sim::End end = simulator.run();
    if (end.ending != sim::Ending::finished)
        throw BadTrace("", "the simulated system stopped in the middle of the replay: " + end.text);
}

std::string f_name(uint64_t index)
{
    char text[24];
    std::snprintf(text, sizeof(text), "f%08llu", static_cast<unsigned long long>(index));
    return text;
}

std::string hex64(uint64_t value, int digits)
{
    char text[24];
    std::snprintf(text, sizeof(text), "%0*llx", digits, static_cast<unsigned long long>(value));
    return text;
}

const Json &field(const Json &object, const std::string &path, const char *name)
{
    const auto found = object.find(name);
    if (found == object.end())
        throw BadTrace(path.empty() ? name : path + "." + name, "missing");
    return *found;
}

uint64_t number_field(const Json &object, const std::string &path, const char *name)
{
    const Json &value = field(object, path, name);
    if (!value.is_number_unsigned() && !(value.is_number_integer() && value.get<int64_t>() >= 0))
        throw BadTrace(path.empty() ? name : path + "." + name, "not a whole number from 0 on");
    return value.get<uint64_t>();
}

const std::string &text_field(const Json &object, const std::string &path, const char *name)
{
    const Json &value = field(object, path, name);
    if (!value.is_string())
        throw BadTrace(path.empty() ? name : path + "." + name, "not a text");
    return value.get_ref<const std::string &>();
}

const Json &list_field(const Json &object, const std::string &path, const char *name)
{
    const Json &value = field(object, path, name);
    if (!value.is_array())
        throw BadTrace(path.empty() ? name : path + "." + name, "not a list");
    return value;
}

uint64_t hex_field(const Json &object, const std::string &path, const char *name)
{
    const std::string &text = text_field(object, path, name);
    size_t used = 0;
    uint64_t value = 0;
    try {
        value = std::stoull(text, &used, 16);
    } catch (const std::exception &) {
        used = 0;
    }
    if (used == 0 || used != text.size())
        throw BadTrace(path.empty() ? name : path + "." + name, "not a hexadecimal number");
    return value;
}

} // namespace analysis
