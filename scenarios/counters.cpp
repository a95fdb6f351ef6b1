#include "scenarios/counters.h"

#include "scenarios/operation.h"
#include "scenarios/workload.h"

#include <algorithm>

namespace scenarios {

namespace {

// Calls the function with the name and value of every kstat of the pool.
template <class F>
void for_each_counter(const dmu::objset_t &os, const dmu::dmu_tx_stats_t &tx, const F &function)
{
    dmu::for_each_kstat(os.stats, function);
    dmu::for_each_kstat(os.allocator, function);
    function("dmu_tx_assigned", tx.dmu_tx_assigned);
    function("dmu_tx_delay", tx.dmu_tx_delay);
    function("dmu_tx_error", tx.dmu_tx_error);
    function("dmu_tx_group", tx.dmu_tx_group);
    function("dmu_tx_memory_reserve", tx.dmu_tx_memory_reserve);
    function("dmu_tx_dirty_throttle", tx.dmu_tx_dirty_throttle);
    function("dmu_tx_dirty_delay", tx.dmu_tx_dirty_delay);
    function("dmu_tx_dirty_over_max", tx.dmu_tx_dirty_over_max);
    function("dmu_tx_quota", tx.dmu_tx_quota);
}

} // namespace

std::vector<std::string> counter_names()
{
    std::vector<std::string> names = {"txg.open", "txg.synced"};
    for (const std::string &op : operation_names())
        names.push_back("ops." + op);
    for (const sim::FunctionInfo &function : dmu::model_tables().functions)
        names.emplace_back(function.name);
    dmu::for_each_kstat(dmu::dnode_stats_t{}, [&](const char *name, uint64_t) { names.emplace_back(name); });
    dmu::for_each_kstat(dmu::allocator_stats_t{}, [&](const char *name, uint64_t) { names.emplace_back(name); });
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
    std::map<std::string, uint64_t> all = closed_kstats_;
    dmu::dmu_tx_stats_t tx = spa_->spa_dsl_pool->dp_tx_stats;
    for_each_counter(*spa_->spa_objset, tx, [&](const char *name, uint64_t value) { all[name] += value; });
    return all;
}

std::map<std::string, uint64_t> World::measured_kstats() const
{
    std::map<std::string, uint64_t> values = kstats();
    for (auto &[name, value] : values)
        if (const auto before = kstats_before_.find(name); before != kstats_before_.end())
            value -= before->second;
    return values;
}

void World::objset_closes()
{
    const auto add = [this](const char *name, uint64_t value) { closed_kstats_[name] += value; };
    dmu::for_each_kstat(spa_->spa_objset->stats, add);
    dmu::for_each_kstat(spa_->spa_objset->allocator, add);
}

} // namespace scenarios
