// Creating, running, exporting and importing a pool, and the order of a txg's writes.
#include "model/spa.h"

#include "model/dbuf_impl.h"
#include "model/dmu_state.h"
#include "model/dmu_tx.h"
#include "model/objset.h"

namespace dmu {

namespace {

constexpr uint64_t mos_block_bytes = 16 << 10;
constexpr uint64_t uberblock_bytes = 1 << 10;
// Importing syncs txgs of its own (claims, configuration, history), and the recordings let the pool settle afterwards.
constexpr uint32_t import_txgs = 4;
constexpr uint32_t settle_txgs = 3;

void write_and_wait(vdev_t &vdev, uint64_t bytes, uint64_t txg)
{
    zio_root_t pio(vdev);
    vdev.zio_write(pio, bytes, 0, txg);
    vdev.zio_wait(pio);
}

void sync_empty_txgs(dsl_pool_t &dp, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        txg_wait_synced(dp, dp.dp_tx.tx_open_txg);
}

} // namespace

spa_t::spa_t(const model_config &config) : spa_config(config), spa_dmu(std::make_unique<dmu_state_t>(config))
{
    spa_dsl_pool = std::make_unique<dsl_pool_t>(*this, config.pool);
    spa_dir = std::make_unique<dsl_dir_t>(*spa_dsl_pool, &spa_dsl_pool->dp_root_dir);
    spa_dataset = std::make_unique<dsl_dataset_t>(*spa_dir);
}

spa_t::~spa_t() = default;

objset_t &spa_t::spa_create()
{
    VERIFY(spa_objset == nullptr);
    dsl_pool_t &dp = *spa_dsl_pool;

    // As when a pool is made: the objset is put together as if in the sync thread, before there is one.
    const uint64_t txg = dp.dp_tx.tx_open_txg;
    dmu_tx_ptr tx = dmu_tx_create_assigned(dp, txg);
    spa_objset = dmu_objset_create_impl(*this, *spa_dataset, *tx);
    spa_dataset->ds_objset = spa_objset.get();
    dmu_tx_commit(std::move(tx));

    spa_start();
    txg_wait_synced(dp, txg);
    return *spa_objset;
}

void spa_t::spa_start()
{
    dsl_pool_t &dp = *spa_dsl_pool;
    dp.dp_vdev.start();
    arc_start(*spa_dmu);
    dbuf_evict_start(*spa_dmu);
    if (dp.dp_sync_taskq != nullptr)
        dp.dp_sync_taskq->start();
    txg_sync_start(dp);
}

void spa_t::spa_stop()
{
    dsl_pool_t &dp = *spa_dsl_pool;
    txg_sync_stop(dp);
    if (dp.dp_sync_taskq != nullptr)
        dp.dp_sync_taskq->stop();
    dbuf_evict_stop(*spa_dmu);
    arc_stop(*spa_dmu);
    dp.dp_vdev.stop();
}

void spa_t::spa_close()
{
    spa_disown_objset();
    arc_flush(*spa_dmu);
    VERIFY3(spa_dmu->dbuf_stats.hash_elements, ==, 0u);
}

objset_t &spa_t::spa_reopen_objset()
{
    dsl_pool_t &dp = *spa_dsl_pool;
    txg_wait_synced(dp, dp.dp_tx.tx_open_txg);
    spa_disown_objset();
    return spa_own_objset();
}

objset_t &spa_t::spa_export_import()
{
    dsl_pool_t &dp = *spa_dsl_pool;
    txg_wait_synced(dp, 0);
    spa_disown_objset();
    spa_stop();
    arc_flush(*spa_dmu);

    spa_start();
    sync_empty_txgs(dp, import_txgs);
    objset_t &os = spa_own_objset();
    sync_empty_txgs(dp, settle_txgs);
    return os;
}

void spa_t::spa_disown_objset()
{
    spa_dataset->ds_objset = nullptr;
    dmu_objset_evict(std::move(spa_objset));
}

objset_t &spa_t::spa_own_objset()
{
    VERIFY(spa_objset == nullptr);
    spa_objset = dmu_objset_open_impl(*this, *spa_dataset);
    spa_dataset->ds_objset = spa_objset.get();
    return *spa_objset;
}

void spa_sync(spa_t &spa, uint64_t txg)
{
    Probe probe{Fn::spa_sync};
    dsl_pool_t &dp = *spa.spa_dsl_pool;

    // A txg in which nothing was dirtied writes nothing, not even an uberblock.
    const bool dirty = !dp.dp_dirty_datasets.empty(txg) || !dp.dp_dirty_dirs.empty(txg);
    dsl_pool_sync(dp, txg);
    if (dirty) {
        write_and_wait(dp.dp_vdev, mos_block_bytes, txg);
        write_and_wait(dp.dp_vdev, uberblock_bytes, txg);
        txg_row(dp, txg).nwritten += mos_block_bytes + uberblock_bytes;
    }
    spa.spa_dmu->store.commit();
    spa.spa_last_synced_txg = txg;
}

uint64_t bp_get_dsize(spa_t &spa, const blkptr_t &bp)
{
    Probe probe{Fn::bp_get_dsize};
    mutex_enter(spa.spa_scl_lock).exit(); // spa_config_enter(SCL_VDEV, RW_READER)
    const uint64_t dsize = bp.blk_lsize;
    mutex_enter(spa.spa_scl_lock).exit(); // spa_config_exit
    return dsize;
}

} // namespace dmu
