// Space: reserved at worst when a transaction is assigned, counted as blocks are dirtied, settled when they are on
// disk.
//
// Every step walks from the dataset's directory up to the pool's root, one dd_lock at a time. A reservation is refused
// with ERESTART where waiting may help, which is all that can happen here: pools are not filled in this simulator.
#include <algorithm>

#include "model/dmu_tx.h"
#include "model/dnode.h"
#include "model/dsl_pool.h"
#include "model/objset.h"
#include "model/spa.h"

namespace dmu {

namespace {

constexpr uint64_t spa_asize_inflation = 24; // 3 copies, the widest raidz, gang blocks
constexpr uint64_t pool_dspace = 1ull << 60; // no scenario fills a pool
constexpr uint64_t spa_slop_shift = 5;
constexpr uint64_t tempreserve_bytes =
    32; // of an entry of the list that the real code keeps for dsl_dir_tempreserve_clear
constexpr uint64_t tempreserve_list_bytes = 32;

uint64_t dsl_dir_space_towrite(const dsl_dir_t &dd)
{
    Probe probe{Fn::dsl_dir_space_towrite};
    VERIFY(MUTEX_HELD(dd.dd_lock));
    uint64_t space = 0;
    for (uint64_t towrite : dd.dd_space_towrite)
        space += towrite;
    return space;
}

// How much of delta the parent has to account for: all of it, there being no reservations.
int64_t parent_delta(const dsl_dir_t &, uint64_t, int64_t delta)
{
    Probe probe{Fn::parent_delta};
    return delta;
}

uint64_t dsl_pool_adjustedsize()
{
    Probe probe{Fn::dsl_pool_adjustedsize};
    return pool_dspace - (pool_dspace >> spa_slop_shift);
}

void dsl_dataset_check_quota(dsl_dataset_t &ds)
{
    Probe probe{Fn::dsl_dataset_check_quota};
    auto held = mutex_enter(ds.ds_lock); // what it guards is looked at; there is no quota to be over
}

Result<> dsl_dir_tempreserve_impl(dsl_dir_t &dd, uint64_t asize, dmu_tx_t &tx, bool first)
{
    Probe probe{Fn::dsl_dir_tempreserve_impl};
    auto held = mutex_enter(dd.dd_lock);

    uint64_t est_inflight = dsl_dir_space_towrite(dd);
    for (uint64_t reserved : dd.dd_tempreserved)
        est_inflight += reserved;
    if (first && tx.tx_objset != nullptr)
        dsl_dataset_check_quota(*tx.tx_objset->os_dsl_dataset);

    if (dd.dd_parent == nullptr && dd.dd_used_bytes + est_inflight >= dsl_pool_adjustedsize()) {
        ++dd.dd_pool->dp_tx_stats.dmu_tx_quota;
        return SET_ERROR(ERESTART);
    }
    dd.dd_tempreserved[tx.tx_txg & TXG_MASK] += asize;
    const int64_t rest = parent_delta(dd, dd.dd_used_bytes + est_inflight, static_cast<int64_t>(asize));
    held.exit();

    kmem_zalloc(tempreserve_bytes);
    ++tx.tx_tempreserve_dirs;
    if (dd.dd_parent == nullptr || rest == 0)
        return {};
    return dsl_dir_tempreserve_impl(*dd.dd_parent, static_cast<uint64_t>(rest), tx, false);
}

void arc_memory_throttle()
{
    Probe probe{Fn::arc_memory_throttle};
}

// Refuses what would fill the ARC with dirty data. What could not fit into an empty ARC either will be refused for
// ever.
Result<> arc_tempreserve_space(dsl_pool_t &dp, uint64_t reserve, dmu_tx_t &tx)
{
    Probe probe{Fn::arc_tempreserve_space};
    const uint64_t arc_c = dp.dp_config.arc_max;
    if (reserve > arc_c) {
        ++dp.dp_tx_stats.dmu_tx_memory_reserve;
        tx.tx_estimate_too_big = true;
        return SET_ERROR(ERESTART);
    }

    arc_memory_throttle();
    const uint64_t anon_size = dp.dp_dirty_total; // a peek: dirty buffers are what is anonymous
    if (anon_size > arc_c / 4 && reserve + dp.dp_arc_tempreserve.load() + anon_size > arc_c / 2) {
        ++dp.dp_tx_stats.dmu_tx_dirty_throttle;
        return SET_ERROR(ERESTART);
    }
    dp.dp_arc_tempreserve.fetch_add(reserve);
    kmem_zalloc(tempreserve_bytes);
    tx.tx_tempreserve_memory = reserve;
    return {};
}

void arc_tempreserve_clear(dsl_pool_t &dp, uint64_t reserve)
{
    Probe probe{Fn::arc_tempreserve_clear};
    atomic_add_64(dp.dp_arc_tempreserve, -static_cast<int64_t>(reserve));
}

namespace {

// What is on the list of a txg keeps its dbuf in the meta-objset until it has been written. That objset has no contents
// here; the reference is counted.
void hold_meta_dbuf()
{
    count_calls(Fn::db_holds, 1);
    count_calls(Fn::dbuf_add_ref, 1);
}

} // namespace

void dsl_dir_dirty(dsl_dir_t &dd, const dmu_tx_t &tx)
{
    Probe probe{Fn::dsl_dir_dirty};
    if (dd.dd_pool->dp_dirty_dirs.add(dd, tx.tx_txg))
        hold_meta_dbuf();
}

dsl_pool_t &dmu_tx_pool(const dmu_tx_t &tx)
{
    Probe probe{Fn::dmu_tx_pool};
    return *tx.tx_pool;
}

// Compares what is dirtied with what was announced in debugging builds only; there it is an over-estimate by design.
void dmu_tx_willuse_space(const dmu_tx_t &)
{
    Probe probe{Fn::dmu_tx_willuse_space};
}

} // namespace

uint64_t spa_get_asize(uint64_t lsize)
{
    return lsize * spa_asize_inflation;
}

Result<> dsl_dir_tempreserve_space(dsl_dir_t &dd, uint64_t lsize, uint64_t asize, dmu_tx_t &tx)
{
    Probe probe{Fn::dsl_dir_tempreserve_space};
    VERIFY3(asize, >, 0u);
    tx.tx_tempreserve_asize = asize;
    kmem_zalloc(tempreserve_list_bytes);

    Result<> reserved = arc_tempreserve_space(*dd.dd_pool, lsize, tx);
    if (reserved)
        reserved = dsl_dir_tempreserve_impl(dd, asize, tx, true);
    if (!reserved)
        dsl_dir_tempreserve_clear(tx);
    return reserved;
}

void dsl_dir_tempreserve_clear(dmu_tx_t &tx)
{
    if (tx.tx_tempreserve_asize == 0)
        return;
    Probe probe{Fn::dsl_dir_tempreserve_clear};
    const size_t slot = tx.tx_txg & TXG_MASK;

    if (tx.tx_tempreserve_memory != 0) {
        arc_tempreserve_clear(*tx.tx_pool, tx.tx_tempreserve_memory);
        kmem_free(tempreserve_bytes);
    }
    dsl_dir_t *dd = tx.tx_dir;
    for (; tx.tx_tempreserve_dirs != 0; --tx.tx_tempreserve_dirs, dd = dd->dd_parent) {
        auto held = mutex_enter(dd->dd_lock);
        VERIFY3(dd->dd_tempreserved[slot], >=, tx.tx_tempreserve_asize);
        dd->dd_tempreserved[slot] -= tx.tx_tempreserve_asize;
        held.exit();
        kmem_free(tempreserve_bytes);
    }
    kmem_free(tempreserve_list_bytes);
    tx.tx_tempreserve_memory = 0;
    tx.tx_tempreserve_asize = 0;
}

void dsl_dir_willuse_space(dsl_dir_t &dir, int64_t space, const dmu_tx_t &tx)
{
    Probe probe{Fn::dsl_dir_willuse_space};
    for (dsl_dir_t *dd = &dir; dd != nullptr && space != 0; dd = dd->dd_parent) {
        auto held = mutex_enter(dd->dd_lock);
        if (space > 0)
            dd->dd_space_towrite[tx.tx_txg & TXG_MASK] += static_cast<uint64_t>(space);
        space = parent_delta(*dd, dsl_dir_space_towrite(*dd) + dd->dd_used_bytes, space);
        held.exit();

        dsl_dir_dirty(*dd, tx);
    }
}

void dsl_dir_diduse_space(dsl_dir_t &dir, int64_t used)
{
    for (dsl_dir_t *dd = &dir; dd != nullptr; dd = dd->dd_parent) {
        auto held = mutex_enter(dd->dd_lock);
        VERIFY(used >= 0 || dd->dd_used_bytes >= static_cast<uint64_t>(-used));
        dd->dd_used_bytes += static_cast<uint64_t>(used);
    }
}

void dnode_willuse_space(dnode_t &dn, int64_t space, const dmu_tx_t &tx)
{
    Probe probe{Fn::dnode_willuse_space};
    const int64_t aspace = space * static_cast<int64_t>(spa_asize_inflation);

    dsl_dir_willuse_space(*dn.dn_objset->os_dsl_dataset->ds_dir, aspace, tx);
    dsl_pool_dirty_space(dmu_tx_pool(tx), space, tx);
    dmu_tx_willuse_space(tx);
}

// --- datasets
// ---------------------------------------------------------------------------------------------------------

void dsl_dataset_dirty(dsl_dataset_t &ds, const dmu_tx_t &tx)
{
    Probe probe{Fn::dsl_dataset_dirty};
    if (ds.ds_dir->dd_pool->dp_dirty_datasets.add(ds, tx.tx_txg))
        hold_meta_dbuf();
}

uint64_t dsl_dataset_prev_snap_txg(const dsl_dataset_t &ds)
{
    Probe probe{Fn::dsl_dataset_prev_snap_txg};
    return ds.ds_prev_snap_txg;
}

bool dsl_dataset_block_freeable(const dsl_dataset_t &ds, const blkptr_t *bp, uint64_t blk_birth)
{
    Probe probe{Fn::dsl_dataset_block_freeable};
    if (blk_birth <= dsl_dataset_prev_snap_txg(ds) || (bp != nullptr && BP_IS_HOLE(*bp)))
        return false;
    Probe get_spa{Fn::dsl_dataset_get_spa}; // for the dedup table, which has no entries here
    return true;
}

void dsl_dataset_block_born(dsl_dataset_t &ds, uint64_t bytes)
{
    auto held = mutex_enter(ds.ds_lock);
    ds.ds_referenced_bytes += bytes;
    held.exit();

    dsl_dir_diduse_space(*ds.ds_dir, static_cast<int64_t>(bytes));
}

void dsl_dataset_block_kill(dsl_dataset_t &ds, uint64_t bytes)
{
    auto held = mutex_enter(ds.ds_lock);
    VERIFY3(ds.ds_referenced_bytes, >=, bytes);
    ds.ds_referenced_bytes -= bytes;
    held.exit();

    dsl_dir_diduse_space(*ds.ds_dir, -static_cast<int64_t>(bytes));
}

} // namespace dmu
