// The life of a transaction: created, assigned to a txg or made to wait, committed or aborted.
//
// Assigning is a try that may be refused with ERESTART: because too much is dirty (then the transaction waits for dirty
// space and is slowed down), because one of its dnodes is still claimed by the txg that is quiescing (then it waits for
// that dnode), or because space or memory ran out (then for the next txg). What TXG_WAIT adds is the loop around it. A
// transaction whose estimate is above what the ARC can ever hold would go round for ever, opening txg after txg; that
// is recognised and ends the run as no progress.
#include "model/dmu_tx.h"

#include <algorithm>

#include "model/dmu_state.h"
#include "model/dnode.h"
#include "model/muldiv.h"
#include "model/objset.h"
#include "model/spa.h"

namespace dmu {

namespace {

constexpr int64_t zfs_delay_max_ns = 100'000'000;
constexpr uint64_t dmu_tx_bytes = 208; // of a transaction without its holds, which are allocated one by one

dmu_tx_ptr dmu_tx_create_dd(dsl_pool_t &dp, dsl_dir_t *dd)
{
    Probe probe{Fn::dmu_tx_create_dd};
    kmem_zalloc(dmu_tx_bytes);
    dmu_tx_ptr tx = std::make_unique_for_overwrite<dmu_tx_t>();
    tx->tx_dir = dd;
    tx->tx_pool = &dp;
    tx->tx_start = gethrtime();
    return tx;
}

// Drops one transaction's claim on a dnode; the last one out wakes who waits for it. REQUIRES: dn_mtx is held.
void unclaim(dnode_t &dn, const dmu_tx_t &tx)
{
    VERIFY(MUTEX_HELD(dn.dn_mtx));
    VERIFY3(dn.dn_assigned_txg, ==, tx.tx_txg);
    if (zfs_refcount_remove(dn.dn_tx_holds) == 0) {
        dn.dn_assigned_txg = 0;
        cv_broadcast(dn.dn_notxholds);
    }
}

} // namespace

dmu_tx_ptr dmu_tx_create(objset_t &os)
{
    Probe probe{Fn::dmu_tx_create};
    dsl_dir_t *dd = os.os_dsl_dataset->ds_dir;
    dmu_tx_ptr tx = dmu_tx_create_dd(*dd->dd_pool, dd);
    tx->tx_objset = &os;
    tx->tx_lastsnap_txg = dsl_dataset_prev_snap_txg(*os.os_dsl_dataset);
    return tx;
}

dmu_tx_ptr dmu_tx_create_assigned(dsl_pool_t &dp, uint64_t txg)
{
    dmu_tx_ptr tx = dmu_tx_create_dd(dp, nullptr);
    VERIFY3(txg, <=, dp.dp_tx.tx_open_txg.load());
    tx->tx_txg = txg;
    tx->tx_anyobj = true;
    return tx;
}

bool dmu_tx_is_syncing(const dmu_tx_t &tx)
{
    Probe probe{Fn::dmu_tx_is_syncing};
    return tx.tx_anyobj;
}

uint64_t dmu_tx_get_txg(const dmu_tx_t &tx)
{
    VERIFY3(tx.tx_txg, !=, 0u);
    return tx.tx_txg;
}

// --- the write throttle
// -----------------------------------------------------------------------------------------------

Duration dmu_tx_delay_time(const pool_config &config, uint64_t dirty)
{
    const uint64_t delay_min_bytes = config.dirty_data_max * config.delay_min_dirty_percent / 100;
    VERIFY3(dirty, <, config.dirty_data_max);
    if (dirty <= delay_min_bytes)
        return {};
    const uint64_t exact_ns = muldiv(config.delay_scale, dirty - delay_min_bytes, config.dirty_data_max - dirty);
    return nanoseconds(static_cast<int64_t>(std::min<uint64_t>(exact_ns, zfs_delay_max_ns)));
}

namespace {

// Makes this transaction take as long as the amount of dirty data calls for, counted from its start, or, while others
// are being delayed, from when the last of them goes on: so the rate does not depend on how many threads there are.
void dmu_tx_delay(dmu_tx_t &tx, uint64_t dirty)
{
    Probe probe{Fn::dmu_tx_delay};
    dsl_pool_t &dp = *tx.tx_pool;
    const Duration min_tx_time = dmu_tx_delay_time(dp.dp_config, dirty);
    if (min_tx_time == Duration{} || gethrtime() > tx.tx_start + min_tx_time)
        return;

    auto held = mutex_enter(dp.dp_lock);
    const hrtime_t wakeup = std::max(tx.tx_start, dp.dp_last_wakeup) + min_tx_time;
    dp.dp_last_wakeup = wakeup;
    held.exit();

    delay_until(wakeup, WaitKind::txg);
}

// --- assigning
// --------------------------------------------------------------------------------------------------------

// Claims every held dnode for the txg and adds up the estimates; ERESTART where the txg before still has one.
struct tx_estimate_t {
    uint64_t towrite = 0, tofree = 0, tooverwrite = 0, tounref = 0, tohold = 0;
};

Result<tx_estimate_t> claim_dnodes(dmu_tx_t &tx)
{
    tx_estimate_t sum;
    for (dmu_tx_hold_t &txh : tx) {
        if (dnode_t *dn = txh.txh_dnode) {
            auto held = mutex_enter(dn->dn_mtx);
            if (dn->dn_assigned_txg == tx.tx_txg - 1) {
                tx.tx_needassign_txh = static_cast<uint32_t>(&txh - tx.begin());
                ++tx.tx_pool->dp_tx_stats.dmu_tx_group;
                return SET_ERROR(ERESTART);
            }
            if (dn->dn_assigned_txg == 0)
                dn->dn_assigned_txg = tx.tx_txg;
            VERIFY3(dn->dn_assigned_txg, ==, tx.tx_txg);
            zfs_refcount_add(dn->dn_tx_holds);
        }
        sum.towrite += txh.txh_space_towrite;
        sum.tofree += txh.txh_space_tofree;
        sum.tooverwrite += txh.txh_space_tooverwrite;
        sum.tounref += txh.txh_space_tounref;
        sum.tohold += txh.txh_memory_tohold;
    }
    return sum;
}

Result<> dmu_tx_try_assign(dmu_tx_t &tx)
{
    Probe probe{Fn::dmu_tx_try_assign};
    VERIFY3(tx.tx_txg, ==, 0u);
    dsl_pool_t &dp = *tx.tx_pool;

    if (tx.tx_err != 0) {
        ++dp.dp_tx_stats.dmu_tx_error;
        return SET_ERROR(tx.tx_err);
    }
    if (!tx.tx_waited && dsl_pool_need_dirty_delay(dp)) {
        tx.tx_wait_dirty = true;
        ++dp.dp_tx_stats.dmu_tx_dirty_delay;
        return SET_ERROR(ERESTART);
    }

    // The open lock is kept until every dnode is claimed (dmu_tx_assign drops it): the group cannot be closed in
    // between.
    tx.tx_txgh.th_tx = &tx;
    tx.tx_txg = txg_hold_open(dp, tx.tx_txgh);
    tx.tx_needassign_txh = TX_HOLDS_MAX;
    Result<tx_estimate_t> sum = claim_dnodes(tx);
    if (!sum)
        return SET_ERROR(sum.error());

    // After a snapshot nothing could be overwritten or freed that was there before it; there are none.
    VERIFY3(dsl_dataset_prev_snap_txg(*tx.tx_objset->os_dsl_dataset), <=, tx.tx_lastsnap_txg);
    const uint64_t asize = spa_get_asize(sum->towrite + sum->tooverwrite);
    const uint64_t memory = sum->towrite + sum->tooverwrite + sum->tohold;
    if (asize != 0) {
        if (Result<> reserved = dsl_dir_tempreserve_space(*tx.tx_dir, memory, asize, tx); !reserved)
            return reserved;
    }
    ++dp.dp_tx_stats.dmu_tx_assigned;
    return {};
}

// Leaves the txg after a refusal, with every claim made so far.
void dmu_tx_unassign(dmu_tx_t &tx)
{
    Probe probe{Fn::dmu_tx_unassign};
    if (tx.tx_txg == 0)
        return;

    txg_rele_to_quiesce(tx.tx_txgh);
    const uint32_t claimed = std::min(tx.tx_needassign_txh, tx.tx_hold_count);
    for (uint32_t i = 0; i < claimed; ++i) {
        if (dnode_t *dn = tx.tx_holds[i].txh_dnode) {
            auto held = mutex_enter(dn->dn_mtx);
            unclaim(*dn, tx);
        }
    }
    txg_rele_to_sync(tx.tx_txgh);

    tx.tx_lasttried_txg = tx.tx_txg;
    tx.tx_txg = 0;
}

// Refusals of this thread's transactions because no ARC is large enough, since one was assigned. A transaction that is
// not to wait is given up and made anew between two tries, so the thread is what stays.
uint32_t &hopeless_tries(dsl_pool_t &dp)
{
    const uint32_t id = curthread().id;
    if (dp.dp_hopeless_tries.size() <= id)
        dp.dp_hopeless_tries.resize(id + 1);
    return dp.dp_hopeless_tries[id];
}

const txg_hold_t &txg_hold_of(const dmu_tx_t &tx)
{
    return *tx.tx_pool->dp_spa->spa_dmu->variants.txg_hold;
}

// REQUIRES: the last try was refused for that reason.
void check_progress(dsl_pool_t &dp)
{
    uint32_t &tries = hopeless_tries(dp);
    if (++tries < unassignable_attempts_max)
        return;
    no_progress("a transaction of thread %s can never be assigned: its estimate is above arc_max (%llu bytes); it was "
                "refused %u times, one txg each",
                curthread().name.c_str(), static_cast<unsigned long long>(dp.dp_config.arc_max), tries);
}

} // namespace

Result<> dmu_tx_assign(dmu_tx_t &tx, txg_how_t txg_how)
{
    Probe probe{Fn::dmu_tx_assign};
    VERIFY3(tx.tx_txg, ==, 0u);
    VERIFY(!tx.tx_anyobj);
    if (txg_how == TXG_WAITED)
        tx.tx_waited = true;

    // Bounded by progress: each refusal is followed by the end of what caused it, or recognised as hopeless.
    while (true) {
        Result<> assigned = dmu_tx_try_assign(tx);
        if (assigned)
            break;
        dmu_tx_unassign(tx);
        if (assigned.error() != ERESTART || txg_how != TXG_WAIT)
            return assigned;
        dmu_tx_wait(tx);
    }
    if (!tx.tx_pool->dp_hopeless_tries.empty())
        hopeless_tries(*tx.tx_pool) = 0;
    txg_rele_to_quiesce(tx.tx_txgh);
    txg_hold_of(tx).assigned(tx.tx_txgh);
    return {};
}

namespace {

// A wait for a dnode that transactions of an older txg have claimed.
struct claim_wait_t {
    const tx_state_t &tx;
    const dnode_t &dn;
    uint64_t txg;

    static bool holds(const txg_handle_t &th, const void *dnode)
    {
        if (th.th_tx == nullptr)
            return false;
        for (uint32_t i = 0; i < th.th_tx->tx_hold_count; ++i)
            if (th.th_tx->tx_holds[i].txh_dnode == dnode)
                return true;
        return false;
    }
    static std::string text(const void *subject)
    {
        const claim_wait_t &wait = *static_cast<const claim_wait_t *>(subject);
        return "object " + std::to_string(wait.dn.dn_object) + ", claimed by a transaction of txg " +
               std::to_string(wait.txg);
    }
    static const sim_thread_t *whom(const void *subject)
    {
        const claim_wait_t &wait = *static_cast<const claim_wait_t *>(subject);
        const txg_handle_t *th = txg_holder(wait.tx, wait.txg, holds, &wait.dn);
        return th == nullptr ? nullptr : th->th_thread;
    }
};

} // namespace

void dmu_tx_wait(dmu_tx_t &tx)
{
    Probe probe{Fn::dmu_tx_wait};
    VERIFY3(tx.tx_txg, ==, 0u);
    dsl_pool_t &dp = *tx.tx_pool;
    if (tx.tx_estimate_too_big)
        check_progress(dp);

    if (tx.tx_wait_dirty) {
        auto held = mutex_enter(dp.dp_lock);
        if (dp.dp_dirty_total.locked() >= dp.dp_config.dirty_data_max)
            ++dp.dp_tx_stats.dmu_tx_dirty_over_max;
        while (dp.dp_dirty_total.locked() >= dp.dp_config.dirty_data_max)
            cv_wait(dp.dp_spaceavail_cv, dp.dp_lock, WaitKind::txg);
        const uint64_t dirty = dp.dp_dirty_total.locked();
        held.exit();

        dmu_tx_delay(tx, dirty);
        tx.tx_wait_dirty = false;
        tx.tx_waited = true; // once is enough: the next try is not slowed down again
    } else if (tx.tx_lasttried_txg == 0) {
        txg_wait_synced(dp, dp.dp_spa->spa_last_synced_txg + 1);
    } else if (tx.tx_needassign_txh < tx.tx_hold_count) {
        dnode_t &dn = *tx.tx_holds[tx.tx_needassign_txh].txh_dnode;
        const claim_wait_t wait{dp.dp_tx, dn, tx.tx_lasttried_txg - 1};
        WaitsBecause because({claim_wait_t::text, claim_wait_t::whom, &wait});
        auto held = mutex_enter(dn.dn_mtx);
        while (dn.dn_assigned_txg == tx.tx_lasttried_txg - 1)
            cv_wait(dn.dn_notxholds, dn.dn_mtx, WaitKind::txg);
        tx.tx_needassign_txh = TX_HOLDS_MAX;
    } else {
        txg_wait_open(dp, tx.tx_lasttried_txg + 1);
    }
}

// --- the end
// ----------------------------------------------------------------------------------------------------------

void dmu_tx_commit(dmu_tx_ptr tx)
{
    Probe probe{Fn::dmu_tx_commit};
    VERIFY3(tx->tx_txg, !=, 0u);

    for (dmu_tx_hold_t &txh : *tx) {
        kmem_free(sizeof(dmu_tx_hold_t));
        if (dnode_t *dn = txh.txh_dnode) {
            auto held = mutex_enter(dn->dn_mtx);
            unclaim(*dn, *tx);
            held.exit();
            dnode_rele(*dn);
        }
    }
    dsl_dir_tempreserve_clear(*tx);
    if (!tx->tx_anyobj) {
        // Its txg waits for it.
        const tx_state_t &state = tx->tx_pool->dp_tx;
        const uint64_t begun = std::max(state.tx_syncing_txg, state.tx_synced_txg);
        if (tx->tx_txg <= begun)
            PANIC("thread %s commits a transaction of txg %llu, but the sync of txg %llu has begun already",
                  curthread().name.c_str(), static_cast<unsigned long long>(tx->tx_txg),
                  static_cast<unsigned long long>(begun));
        txg_hold_of(*tx).committed(tx->tx_txgh);
    }
    kmem_free(dmu_tx_bytes);
}

void dmu_tx_abort(dmu_tx_ptr tx)
{
    Probe probe{Fn::dmu_tx_abort};
    VERIFY3(tx->tx_txg, ==, 0u);

    for (dmu_tx_hold_t &txh : *tx) {
        kmem_free(sizeof(dmu_tx_hold_t));
        if (txh.txh_dnode != nullptr)
            dnode_rele(*txh.txh_dnode);
    }
    kmem_free(dmu_tx_bytes);
}

} // namespace dmu
