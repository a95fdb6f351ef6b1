// The pool that a trace of the allocator is replayed on, and what was recorded about it, asked of our model.
#pragma once

#include "analysis/conform.h"
#include "analysis/trace_lists.h"
#include "model/dmu_object.h"
#include "model/dmu_state.h"
#include "model/dmu_tx.h"
#include "model/objset.h"
#include "model/spa.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace analysis {

class AllocBed {
public:
    explicit AllocBed(const dmu::model_config &config) : config_(config) {}

    // Runs the replay in a simulated thread, with the pool made before and taken down after, also when it throws.
    void run(const std::function<void()> &replay);

    // ---- inside the replay ----

    const dmu::model_config &config() const { return config_; }
    // The recorded number of the txg that is open now.
    void number_txgs_from(uint64_t recorded_open_txg);

    Json alloc(uint64_t count);
    Json mtalloc(uint64_t threads, uint64_t count);
    Json free_objects(const std::vector<uint64_t> &objects);
    Json claim(const std::vector<uint64_t> &objects);
    Json sync();
    Json reopen();
    Json export_import();
    Json hold_tx();
    Json quiesce_begin();
    Json release_tx_and_wait_synced();
    Json marktxg();
    Json query(uint64_t flags, uint64_t offset, uint64_t minlvl, uint64_t blkfill, uint64_t txg,
               const std::string &path);

    Json geometry();
    Json objects_in_use();
    // The allocator, after a step.
    Json state();
    // The synced tree. level0: with the fill of every block of dnodes.
    Json synced_state(bool level0);

private:
    dmu::dsl_pool_t &pool() { return spa_->dsl_pool(); }
    uint64_t open_txg() { return pool().dp_tx.tx_open_txg; }
    uint64_t recorded(uint64_t txg) const { return txg + txg_offset_; }
    dmu::dmu_tx_ptr assigned_tx();
    Json txg_range(uint64_t first, uint64_t last) const;

    dmu::model_config config_;
    std::unique_ptr<dmu::spa_t> spa_;
    dmu::objset_t *os_ = nullptr;
    dmu::dmu_tx_ptr held_tx_;
    uint64_t txg_offset_ = 0; // recorded number minus ours
    uint64_t live_ = 0;
};

} // namespace analysis
