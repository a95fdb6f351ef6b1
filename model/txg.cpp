// How groups open, close and go to disk: joining, waiting, and the two service threads.
//
// The sync thread decides when: somebody waits, a group was handed over, too much is dirty, or txg_timeout has passed
// since the last sync began. The quiesce thread closes the open group (every CPU's open lock), lets the next one open,
// and waits for the closed one's holders; it does not begin another before the sync thread has taken the last.
#include "model/txg.h"

#include <algorithm>

#include "model/dsl_pool.h"
#include "model/spa.h"

namespace dmu {

void txg_init(dsl_pool_t &dp, uint64_t txg)
{
    tx_state_t &tx = dp.dp_tx;
    tx.tx_cpu = std::make_unique<tx_cpu_t[]>(max_ncpus());
    tx.tx_open_txg = txg;
    tx.tx_synced_txg = txg - 1;
    txg_row(dp, txg) = {.txg = txg, .opened = gethrtime()};
}

txg_row_t &txg_row(dsl_pool_t &dp, uint64_t txg)
{
    return dp.dp_tx.tx_row[txg & TXG_MASK];
}

// --- joining and leaving
// ----------------------------------------------------------------------------------------------

uint64_t txg_hold_open(dsl_pool_t &dp, txg_handle_t &th)
{
    Probe probe{Fn::txg_hold_open};
    tx_state_t &tx = dp.dp_tx;
    tx_cpu_t &tc = tx.tx_cpu[cpu_seqid()];

    // Handed to the caller: closing the group has to wait for it on this CPU.
    mutex_enter(tc.tc_open_lock).release();
    const uint64_t txg = tx.tx_open_txg.locked();

    auto held = mutex_enter(tc.tc_lock);
    ++tc.tc_count[txg & TXG_MASK];
    th.th_cpu = &tc;
    th.th_txg = txg;
    th.th_thread = &curthread();
    th.th_link = &tc.tc_holders[txg & TXG_MASK];
    th.th_next = *th.th_link;
    *th.th_link = &th;
    if (th.th_next != nullptr)
        th.th_next->th_link = &th.th_next;
    return txg;
}

void txg_rele_to_quiesce(txg_handle_t &th)
{
    Probe probe{Fn::txg_rele_to_quiesce};
    mutex_exit(th.th_cpu->tc_open_lock);
}

void txg_rele_to_sync(txg_handle_t &th)
{
    Probe probe{Fn::txg_rele_to_sync};
    tx_cpu_t &tc = *th.th_cpu;
    const size_t slot = th.th_txg & TXG_MASK;

    auto held = mutex_enter(tc.tc_lock);
    VERIFY3(tc.tc_count[slot], !=, 0u);
    if (--tc.tc_count[slot] == 0)
        cv_broadcast(tc.tc_cv[slot]);
    *th.th_link = th.th_next;
    if (th.th_next != nullptr)
        th.th_next->th_link = th.th_link;
    th.th_cpu = nullptr;
}

const txg_handle_t *txg_holder(const tx_state_t &tx, uint64_t txg, bool (*wanted)(const txg_handle_t &, const void *),
                               const void *argument)
{
    for (uint32_t c = 0; c < max_ncpus(); ++c)
        for (const txg_handle_t *th = tx.tx_cpu[c].tc_holders[txg & TXG_MASK]; th != nullptr; th = th->th_next)
            if (th->th_txg == txg && wanted(*th, argument))
                return th;
    return nullptr;
}

namespace {

// A wait for a txg to open or to be synced. If it lasts for ever, then because a holder of the oldest txg that has not
// been quiesced never leaves.
struct txg_wait_t {
    const tx_state_t &tx;
    uint64_t txg;
    const char *what;

    const txg_handle_t *holder() const
    {
        const uint64_t open = tx.tx_open_txg.locked();
        for (uint64_t oldest = tx.tx_synced_txg + 1; oldest < open; ++oldest)
            if (const txg_handle_t *th = txg_holder(
                    tx, oldest, [](const txg_handle_t &, const void *) { return true; }, nullptr))
                return th;
        return nullptr;
    }
    static std::string text(const void *subject)
    {
        const txg_wait_t &wait = *static_cast<const txg_wait_t *>(subject);
        std::string text = "txg " + std::to_string(wait.txg) + wait.what;
        if (const txg_handle_t *th = wait.holder())
            text += "; txg " + std::to_string(th->th_txg) + " is quiescing and has a transaction of thread " +
                    th->th_thread->name;
        return text;
    }
    static const sim_thread_t *whom(const void *subject)
    {
        const txg_handle_t *th = static_cast<const txg_wait_t *>(subject)->holder();
        return th == nullptr ? nullptr : th->th_thread;
    }
    WaitReason reason() const { return {text, whom, this}; }
};

} // namespace

// --- waiting
// ----------------------------------------------------------------------------------------------------------

void txg_wait_synced(dsl_pool_t &dp, uint64_t txg)
{
    Probe probe{Fn::txg_wait_synced};
    tx_state_t &tx = dp.dp_tx;

    auto held = mutex_enter(tx.tx_sync_lock);
    VERIFY(tx.tx_threads > 0);
    if (txg == 0)
        txg = tx.tx_open_txg + TXG_DEFER_SIZE;
    tx.tx_sync_txg_waiting = std::max(tx.tx_sync_txg_waiting, txg);
    const txg_wait_t wait{tx, txg, " to be synced"};
    WaitsBecause because(wait.reason());
    while (tx.tx_synced_txg < txg) {
        cv_broadcast(tx.tx_sync_more_cv);
        cv_wait(tx.tx_sync_done_cv, tx.tx_sync_lock, WaitKind::txg);
    }
}

void txg_wait_open(dsl_pool_t &dp, uint64_t txg)
{
    Probe probe{Fn::txg_wait_open};
    tx_state_t &tx = dp.dp_tx;

    auto held = mutex_enter(tx.tx_sync_lock);
    VERIFY(tx.tx_threads > 0);
    if (txg == 0)
        txg = tx.tx_open_txg + 1;
    tx.tx_quiesce_txg_waiting = std::max(tx.tx_quiesce_txg_waiting, txg);
    const txg_wait_t wait{tx, txg, " to open"};
    WaitsBecause because(wait.reason());
    while (tx.tx_open_txg < txg) {
        cv_broadcast(tx.tx_quiesce_more_cv);
        cv_wait(tx.tx_quiesce_done_cv, tx.tx_sync_lock, WaitKind::txg);
    }
}

void txg_quiesce_begin(dsl_pool_t &dp)
{
    tx_state_t &tx = dp.dp_tx;

    // The group is asked for as by txg_wait_synced, but its holders may keep it from ever being synced, so the only
    // event to wait for is that the next group opens, and nobody announces that before the closed one has been
    // quiesced.
    auto held = mutex_enter(tx.tx_sync_lock);
    const uint64_t txg = tx.tx_open_txg;
    tx.tx_sync_txg_waiting = std::max(tx.tx_sync_txg_waiting, txg);
    cv_broadcast(tx.tx_sync_more_cv);
    while (tx.tx_open_txg == txg)
        cv_wait(tx.tx_open_cv, tx.tx_sync_lock, WaitKind::txg);
}

void txg_kick(dsl_pool_t &dp)
{
    Probe probe{Fn::txg_kick};
    tx_state_t &tx = dp.dp_tx;

    auto held = mutex_enter(tx.tx_sync_lock);
    const bool idle = tx.tx_syncing_txg == 0 && tx.tx_quiesced_txg <= tx.tx_synced_txg;
    const bool asked = tx.tx_quiesce_txg_waiting > tx.tx_open_txg || tx.tx_sync_txg_waiting > tx.tx_synced_txg;
    if (idle && !asked) {
        tx.tx_quiesce_txg_waiting = tx.tx_open_txg + 1;
        cv_broadcast(tx.tx_quiesce_more_cv);
    }
}

bool txg_stalled(dsl_pool_t &dp)
{
    return dp.dp_tx.tx_quiesce_txg_waiting > dp.dp_tx.tx_open_txg;
}

bool txg_sync_waiting(dsl_pool_t &dp)
{
    const tx_state_t &tx = dp.dp_tx;
    return tx.tx_syncing_txg <= tx.tx_sync_txg_waiting || tx.tx_quiesced_txg != 0;
}

void txg_delay(dsl_pool_t &dp, uint64_t txg, Duration delay)
{
    Probe probe{Fn::txg_delay};
    tx_state_t &tx = dp.dp_tx;
    const hrtime_t until = gethrtime() + delay;

    // No use in waiting when the group could be closed at once.
    settle();
    if (tx.tx_open_txg > txg || tx.tx_syncing_txg == txg - 1 || tx.tx_synced_txg == txg - 1)
        return;

    auto held = mutex_enter(tx.tx_sync_lock);
    if (tx.tx_open_txg > txg || tx.tx_synced_txg == txg - 1)
        return;
    while (gethrtime() < until && tx.tx_syncing_txg < txg - 1 && !txg_stalled(dp))
        if (!cv_timedwait(tx.tx_quiesce_more_cv, tx.tx_sync_lock, until, WaitKind::txg))
            break;
    ++dp.dp_tx_stats.dmu_tx_delay;
}

// --- the service threads
// ----------------------------------------------------------------------------------------------

namespace {

// Closes the open group and returns when its last holder has left. REQUIRES: it is not being closed already.
void txg_quiesce(dsl_pool_t &dp, uint64_t txg)
{
    Probe probe{Fn::txg_quiesce};
    tx_state_t &tx = dp.dp_tx;
    const uint32_t cpus = max_ncpus();

    for (uint32_t c = 0; c < cpus; ++c)
        mutex_enter(tx.tx_cpu[c].tc_open_lock).release();

    VERIFY3(txg, ==, tx.tx_open_txg);
    const hrtime_t now = gethrtime();
    txg_row(dp, txg).closed = now;
    txg_row(dp, txg + 1) = {.txg = txg + 1, .opened = now};
    tx.tx_open_txg = txg + 1;

    for (uint32_t c = 0; c < cpus; ++c)
        mutex_exit(tx.tx_cpu[c].tc_open_lock);
    {
        auto held = mutex_enter(tx.tx_sync_lock); // else the wake-up of txg_quiesce_begin could come too early
        cv_broadcast(tx.tx_open_cv);
    }

    const size_t slot = txg & TXG_MASK;
    const txg_wait_t wait{tx, txg, " to be left by its last holder"};
    WaitsBecause because(wait.reason());
    for (uint32_t c = 0; c < cpus; ++c) {
        tx_cpu_t &tc = tx.tx_cpu[c];
        auto held = mutex_enter(tc.tc_lock);
        while (tc.tc_count[slot] != 0)
            cv_wait(tc.tc_cv[slot], tc.tc_lock, WaitKind::txg);
    }
    txg_row(dp, txg).quiesced = gethrtime();
}

void txg_thread_exit(tx_state_t &tx)
{
    VERIFY(MUTEX_HELD(tx.tx_sync_lock));
    --tx.tx_threads;
    cv_broadcast(tx.tx_exit_cv);
}

void txg_quiesce_thread(dsl_pool_t &dp)
{
    tx_state_t &tx = dp.dp_tx;
    auto held = mutex_enter(tx.tx_sync_lock);

    while (true) {
        while (!tx.tx_exiting && (tx.tx_open_txg >= tx.tx_quiesce_txg_waiting || tx.tx_quiesced_txg != 0))
            cv_wait(tx.tx_quiesce_more_cv, tx.tx_sync_lock, WaitKind::other);
        if (tx.tx_exiting)
            break;

        const uint64_t txg = tx.tx_open_txg;
        held.exit();
        txg_quiesce(dp, txg);
        held = mutex_enter(tx.tx_sync_lock);

        tx.tx_quiesced_txg = txg;
        cv_broadcast(tx.tx_sync_more_cv);
        cv_broadcast(tx.tx_quiesce_done_cv);
    }
    txg_thread_exit(tx);
}

// REQUIRES: tx_sync_lock is held. The dirty total is only peeked at: whoever raises it past the limit calls txg_kick.
bool txg_sync_due(const dsl_pool_t &dp)
{
    const tx_state_t &tx = dp.dp_tx;
    return tx.tx_exiting || tx.tx_synced_txg < tx.tx_sync_txg_waiting || tx.tx_quiesced_txg != 0 ||
           dp.dp_dirty_total >= dp.dp_config.dirty_data_sync;
}

void txg_sync_thread(dsl_pool_t &dp)
{
    tx_state_t &tx = dp.dp_tx;
    const Duration timeout = nanoseconds(dp.dp_config.txg_timeout_ns);
    auto held = mutex_enter(tx.tx_sync_lock);
    hrtime_t deadline = gethrtime() + timeout;

    while (true) {
        while (!txg_sync_due(dp) && gethrtime() < deadline)
            if (!cv_timedwait(tx.tx_sync_more_cv, tx.tx_sync_lock, deadline, WaitKind::other))
                break;

        while (!tx.tx_exiting && tx.tx_quiesced_txg == 0) {
            tx.tx_quiesce_txg_waiting = std::max(tx.tx_quiesce_txg_waiting, tx.tx_open_txg + 1);
            cv_broadcast(tx.tx_quiesce_more_cv);
            cv_wait(tx.tx_quiesce_done_cv, tx.tx_sync_lock, WaitKind::other);
        }
        if (tx.tx_exiting)
            break;

        // Taking the group lets the quiesce thread close the next one.
        const uint64_t txg = tx.tx_quiesced_txg;
        tx.tx_quiesced_txg = 0;
        tx.tx_syncing_txg = txg;
        cv_broadcast(tx.tx_quiesce_more_cv);
        held.exit();

        txg_row_t &row = txg_row(dp, txg);
        row.sync_began = gethrtime();
        row.allocated_when_sync_began = tx.tx_allocated;
        deadline = row.sync_began + timeout;
        spa_sync(*dp.dp_spa, txg);
        row.synced = gethrtime();
        row.allocated_when_synced = tx.tx_allocated;

        held = mutex_enter(tx.tx_sync_lock);
        tx.tx_synced_txg = txg;
        tx.tx_syncing_txg = 0;
        if (tx.tx_keep_rows)
            tx.tx_rows.push_back(row);
        cv_broadcast(tx.tx_sync_done_cv);
    }
    txg_thread_exit(tx);
}

} // namespace

void txg_sync_start(dsl_pool_t &dp)
{
    tx_state_t &tx = dp.dp_tx;
    auto held = mutex_enter(tx.tx_sync_lock);
    VERIFY3(tx.tx_threads, ==, 0u);
    tx.tx_threads = 2;
    tx.tx_exiting = false;
    thread_create("txg_quiesce", [&dp] { txg_quiesce_thread(dp); });
    thread_create("txg_sync", [&dp] { txg_sync_thread(dp); });
}

void txg_sync_stop(dsl_pool_t &dp)
{
    tx_state_t &tx = dp.dp_tx;
    txg_wait_synced(dp, tx.tx_open_txg + TXG_DEFER_SIZE);

    auto held = mutex_enter(tx.tx_sync_lock);
    tx.tx_exiting = true;
    cv_broadcast(tx.tx_quiesce_more_cv);
    cv_broadcast(tx.tx_quiesce_done_cv);
    cv_broadcast(tx.tx_sync_more_cv);
    while (tx.tx_threads != 0)
        cv_wait(tx.tx_exit_cv, tx.tx_sync_lock, WaitKind::other);
    tx.tx_exiting = false;
}

} // namespace dmu
