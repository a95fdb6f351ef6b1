#include "scenarios/counters.h"

#include "scenarios/operation.h"
#include "scenarios/workload.h"

#include "model/dmu_state.h"

#include <algorithm>

namespace scenarios {

namespace {

// Calls the function with the name and value of every kstat that lives as long as the pool, or as the objset.
template <class F>
void for_each_of_pool(const dmu::spa_t &spa, const F &function)
{
    dmu::for_each_kstat(spa.spa_dmu->dbuf_stats, function);
    dmu::for_each_kstat(spa.spa_dmu->zfetch_stats, function);
    dmu::for_each_kstat(spa.spa_dsl_pool->dp_tx_stats, function);
}

template <class F>
void for_each_of_objset(const dmu::objset_t &os, const F &function)
{
    dmu::for_each_kstat(os.stats, function);
    dmu::for_each_kstat(os.allocator, function);
}

// Each once: a function whose cost depends on how it is called has several entries.
template <class Infos>
std::vector<std::string> names_of(const Infos &infos)
{
    std::vector<std::string> names;
    for (const auto &info : infos)
        if (std::find(names.begin(), names.end(), info.name) == names.end())
            names.emplace_back(info.name);
    return names;
}

} // namespace

std::vector<std::string> lock_class_names()
{
    return names_of(dmu::model_tables().lock_classes);
}

std::vector<std::string> function_names()
{
    return names_of(dmu::model_tables().functions);
}

std::vector<std::string> counter_names()
{
    std::vector<std::string> names = {"txg.open", "txg.synced"};
    for (const std::string &op : operation_names())
        names.push_back("ops." + op);
    for (std::string &name : function_names())
        names.push_back(std::move(name));
    const auto add = [&](const char *name, uint64_t) { names.emplace_back(name); };
    dmu::for_each_kstat(dmu::dnode_stats_t{}, add);
    dmu::for_each_kstat(dmu::dbuf_stats_t{}, add);
    dmu::for_each_kstat(dmu::zfetch_stats_t{}, add);
    dmu::for_each_kstat(dmu::dmu_tx_stats_t{}, add);
    dmu::for_each_kstat(dmu::allocator_stats_t{}, add);
    return names;
}

uint64_t World::counter(const std::string &name) const
{
    if (name == "txg.open")
        return spa_->spa_dsl_pool->dp_tx.tx_open_txg;
    if (name == "txg.synced")
        return spa_->spa_dsl_pool->dp_tx.tx_synced_txg;
    for (size_t i = 0; i < tallies.size(); ++i)
        if (name == "ops." + operations()[i].name)
            return tallies[i].count;
    uint64_t calls = 0;
    const auto functions = simulator.tables().functions;
    for (size_t i = 0; i < functions.size(); ++i)
        if (name == functions[i].name)
            for (const std::unique_ptr<sim::Thread> &thread : simulator.threads())
                calls += thread->calls[i];
    if (calls != 0)
        return calls;
    const auto values = measured_kstats();
    const auto found = values.find(name);
    return found == values.end() ? 0 : found->second;
}

std::map<std::string, uint64_t> World::kstats() const
{
    if (!kstats_at_end_.empty())
        return kstats_at_end_;
    std::map<std::string, uint64_t> all = closed_kstats_;
    const auto add = [&](const char *name, uint64_t value) { all[name] += value; };
    if (spa_ == nullptr) // the run ended before there was a pool
        return all;
    if (spa_->spa_objset != nullptr)
        for_each_of_objset(*spa_->spa_objset, add);
    for_each_of_pool(*spa_, add);
    return all;
}

std::map<std::string, uint64_t> World::measured_kstats() const
{
    std::map<std::string, uint64_t> values = kstats();
    for (auto &[name, value] : values)
        if (const auto before = kstats_before_.find(name); before != kstats_before_.end() && !dmu::is_level(name))
            value -= before->second;
    return values;
}

void World::objset_closes()
{
    for_each_of_objset(*spa_->spa_objset, [this](const char *name, uint64_t value) { closed_kstats_[name] += value; });
    open_files.clear();
    if (filesystem_ != nullptr)
        dmu::zfs_umount(std::move(filesystem_));
}

void World::objset_opened()
{
    if (needs_file_system_)
        filesystem_ = dmu::zfs_mount(objset());
}

std::vector<HistogramRow> World::hold_zap_rows() const
{
    std::vector<HistogramRow> rows;
    if (spa_ == nullptr)
        return rows;
    const auto &now = spa_->spa_dsl_pool->dp_hold_zap_holds;
    for (size_t holds = 0; holds < now.size(); ++holds)
        if (const uint64_t count = now[holds] - hold_zap_before_[holds]; count != 0)
            rows.push_back({holds, count});
    return rows;
}

namespace {

// What has come to counts by powers of two (0, 1, 2, 4 ...) since `before`.
std::vector<HistogramRow> rows_since(const std::array<uint64_t, 65> &before, const std::array<uint64_t, 65> &now)
{
    std::vector<HistogramRow> rows;
    for (size_t i = 0; i < now.size(); ++i)
        if (const uint64_t count = now[i] - before[i]; count != 0)
            rows.push_back({i == 0 ? 0 : uint64_t{1} << (i - 1), count});
    return rows;
}

} // namespace

std::vector<HistogramRow> World::zfetch_latency_rows() const
{
    if (spa_ == nullptr)
        return {};
    return rows_since(zfetch_latency_before_, spa_->spa_dmu->zfetch_latency);
}

std::vector<HistogramRow> World::alloc_next_offset_rows() const
{
    if (spa_ == nullptr)
        return {};
    return rows_since(alloc_next_offsets_before_, spa_->spa_dmu->alloc_next_offsets);
}

std::vector<HistogramRow> World::alloc_hold_rows() const
{
    if (spa_ == nullptr)
        return {};
    return rows_since(alloc_holds_before_, spa_->spa_dmu->alloc_holds);
}

} // namespace scenarios
