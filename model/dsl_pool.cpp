// Dirty bytes of a pool, and what a txg's sync does with them.
#include "model/dsl_pool.h"

#include <algorithm>

#include "model/dmu_tx.h"
#include "model/objset.h"
#include "model/spa.h"

namespace dmu {

dsl_pool_t::dsl_pool_t(spa_t &spa, const pool_config &config)
    : dp_spa(&spa), dp_config(config), dp_vdev(config.disk, *this), dp_root_dir(*this, nullptr)
{
    if (config.sync_threads > 1)
        dp_sync_taskq = std::make_unique<taskq_t>("dp_sync_taskq", config.sync_threads);
    txg_init(*this, TXG_INITIAL);
}

namespace {

void dsl_pool_dirty_delta(dsl_pool_t &dp, int64_t delta)
{
    Probe probe{Fn::dsl_pool_dirty_delta};
    VERIFY(MUTEX_HELD(dp.dp_lock));

    const uint64_t total = dp.dp_dirty_total.locked() + static_cast<uint64_t>(delta);
    dp.dp_dirty_total = total;
    // One waiter at a time is let go, also on the way up: each that goes on wakes the next when it dirties something.
    if (total <= dp.dp_config.dirty_data_max)
        cv_signal(dp.dp_spaceavail_cv);
}

} // namespace

uint64_t dsl_pool_delay_min_bytes(const dsl_pool_t &dp)
{
    return dp.dp_config.dirty_data_max * dp.dp_config.delay_min_dirty_percent / 100;
}

bool dsl_pool_need_dirty_delay(dsl_pool_t &dp)
{
    Probe probe{Fn::dsl_pool_need_dirty_delay};
    auto held = mutex_enter(dp.dp_lock);

    const uint64_t dirty = dp.dp_dirty_total.locked();
    if (dirty > dp.dp_config.dirty_data_sync)
        txg_kick(dp);
    return dirty > dsl_pool_delay_min_bytes(dp);
}

void dsl_pool_dirty_space(dsl_pool_t &dp, int64_t space, const dmu_tx_t &tx)
{
    Probe probe{Fn::dsl_pool_dirty_space};
    if (space <= 0)
        return;
    auto held = mutex_enter(dp.dp_lock);

    dp.dp_dirty_pertxg[tx.tx_txg & TXG_MASK] += static_cast<uint64_t>(space);
    txg_row(dp, tx.tx_txg).ndirty += static_cast<uint64_t>(space);
    dsl_pool_dirty_delta(dp, space);
}

void dsl_pool_undirty_space(dsl_pool_t &dp, uint64_t space, uint64_t txg)
{
    Probe probe{Fn::dsl_pool_undirty_space};
    if (space == 0)
        return;
    auto held = mutex_enter(dp.dp_lock);

    // A block may be written that was never counted, so never give back more than the txg has.
    uint64_t &pertxg = dp.dp_dirty_pertxg[txg & TXG_MASK];
    space = std::min(space, pertxg);
    pertxg -= space;
    VERIFY3(dp.dp_dirty_total.locked(), >=, space);
    dsl_pool_dirty_delta(dp, -static_cast<int64_t>(space));
}

namespace {

// The datasets that are dirty in this txg, written.
std::vector<dsl_dataset_t *> sync_datasets(dsl_pool_t &dp, dmu_tx_t &tx)
{
    std::vector<dsl_dataset_t *> synced;
    zio_root_t pio(dp.dp_vdev);
    while (dsl_dataset_t *ds = dp.dp_dirty_datasets.remove(tx.tx_txg)) {
        synced.push_back(ds);
        dmu_objset_sync(*ds->ds_objset, pio, tx);
    }
    dp.dp_vdev.zio_wait(pio);
    txg_row(dp, tx.tx_txg).nwritten += pio.io_bytes;
    return synced;
}

// What owners use is known once the blocks have been written. It changes the objset once more, hence a second pass. The
// real code makes that pass in every txg; where nothing has been accounted for it finds nothing dirty and waits for
// nothing, so plain objects go without it.
void account_for(dsl_pool_t &dp, const std::vector<dsl_dataset_t *> &synced, dmu_tx_t &tx)
{
    const hrtime_t began = gethrtime();
    bool accounted = false;
    for (dsl_dataset_t *ds : synced) {
        objset_t &os = *ds->ds_objset;
        if (!dmu_objset_userused_enabled(os))
            continue;
        dmu_objset_do_userquota_updates(os, tx);
        accounted = true;
    }
    if (!accounted)
        return;
    txg_row(dp, tx.tx_txg).accounting = gethrtime() - began;
    for (dsl_dataset_t *ds : sync_datasets(dp, tx)) {
        const objset_t &os = *ds->ds_objset;
        VERIFY(std::find(synced.begin(), synced.end(), ds) != synced.end());
        VERIFY(!dmu_objset_is_dirty(os, tx.tx_txg));
        VERIFY(os.os_synced_dnodes[tx.tx_txg & TXG_MASK].empty());
    }
}

} // namespace

void dsl_pool_sync(dsl_pool_t &dp, uint64_t txg)
{
    Probe probe{Fn::dsl_pool_sync};
    dmu_tx_ptr tx = dmu_tx_create_assigned(dp, txg);

    const std::vector<dsl_dataset_t *> synced = sync_datasets(dp, *tx);

    // What was dirtied and then undone was never written: its bytes are given back here.
    dsl_pool_undirty_space(dp, dp.dp_dirty_pertxg[txg & TXG_MASK], txg);
    account_for(dp, synced, *tx);

    while (dsl_dir_t *dd = dp.dp_dirty_dirs.remove(txg)) {
        auto held = mutex_enter(dd->dd_lock);
        VERIFY3(dd->dd_tempreserved[txg & TXG_MASK], ==, 0u);
        dd->dd_space_towrite[txg & TXG_MASK] = 0;
    }
    dmu_tx_commit(std::move(tx));
}

} // namespace dmu
