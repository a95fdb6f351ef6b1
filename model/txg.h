// Transaction groups: every change belongs to a numbered group, and a group passes through three states.
//
// open: transactions join it. quiescing: no new ones join, the ones that did are waited for. syncing: its changes are
// written out. One group can be in each state at a time, so at most three are in flight. What makes joining cheap is
// that it touches only the entry of the CPU one runs on (tx_cpu): an open lock that closing the group takes on every
// CPU, and a count of the group's holders. Followed: OpenZFS 8bea98150 (2016). Left out: commit callbacks, suspended
// pools.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/spl.h"

namespace dmu {

struct dsl_pool_t;
struct dmu_tx_t;
struct txg_handle_t;

constexpr uint64_t TXG_CONCURRENT_STATES = 3; // open, quiescing, syncing
constexpr uint64_t TXG_SIZE = 4;              // slots of everything kept per txg: next power of two
constexpr uint64_t TXG_MASK = TXG_SIZE - 1;
constexpr uint64_t TXG_DEFER_SIZE = 2;
constexpr uint64_t TXG_INITIAL = TXG_SIZE; // the first txg that is open
static_assert(TXG_SIZE > TXG_CONCURRENT_STATES && (TXG_SIZE & TXG_MASK) == 0);

template <class T>
using per_txg = std::array<T, TXG_SIZE>;

// Everything a CPU's transactions touch when they join and leave a group.
struct tx_cpu_t {
    kmutex_t tc_open_lock{"tc_open_lock"}; // held from joining the group until the transaction's dnodes are claimed
    kmutex_t tc_lock{"tc_lock"};
    // under tc_lock:
    per_txg<kcondvar_t> tc_cv; // the count has become zero
    per_txg<uint64_t> tc_count{};
    per_txg<txg_handle_t *> tc_holders{}; // those counted; for telling who keeps a txg from going on
};

// What one txg went through; a row of the result.
struct txg_row_t {
    uint64_t txg = 0;
    hrtime_t opened{}, closed{}, quiesced{}, sync_began{}, synced{};
    Duration accounting{};  // part of the sync in which owners' space was accounted for
    uint64_t ndirty = 0;    // bytes dirtied
    uint64_t nwritten = 0;  // bytes sent to the disk
    uint64_t allocated = 0; // objects
    uint64_t freed = 0;
    uint64_t allocated_when_sync_began = 0; // tx_allocated at those instants: how far allocation had come
    uint64_t allocated_when_synced = 0;
};

struct tx_state_t {
    std::unique_ptr<tx_cpu_t[]> tx_cpu; // one for each CPU of the machine
    kmutex_t tx_sync_lock{"tx_sync_lock"};

    // Written with every tc_open_lock held, read with any one of them; peeked at without.
    racy<uint64_t> tx_open_txg{0};

    // under tx_sync_lock:
    uint64_t tx_quiesced_txg = 0; // waiting for the sync thread; 0: none
    uint64_t tx_syncing_txg = 0;  // 0: none
    uint64_t tx_synced_txg = 0;
    uint64_t tx_sync_txg_waiting = 0;    // somebody waits until this one is synced
    uint64_t tx_quiesce_txg_waiting = 0; // somebody waits until this one is open
    kcondvar_t tx_sync_more_cv;
    kcondvar_t tx_sync_done_cv;
    kcondvar_t tx_quiesce_more_cv;
    kcondvar_t tx_quiesce_done_cv;
    kcondvar_t tx_exit_cv;
    kcondvar_t tx_open_cv; // the next group is open, though the one before still has holders
    uint32_t tx_threads = 0;
    bool tx_exiting = false;

    // The rows of the txgs in flight, and of the finished ones when somebody asked for them.
    per_txg<txg_row_t> tx_row;
    bool tx_keep_rows = false;
    std::vector<txg_row_t> tx_rows;
    uint64_t tx_allocated = 0; // objects, in all txgs since the pool was made
};

// A transaction's membership of a group.
struct txg_handle_t {
    txg_handle_t() = default;
    txg_handle_t(const txg_handle_t &) = delete;
    txg_handle_t &operator=(const txg_handle_t &) = delete;

    tx_cpu_t *th_cpu = nullptr;
    uint64_t th_txg = 0;
    const dmu_tx_t *th_tx = nullptr;                      // null: not a transaction's
    const sim_thread_t *th_thread = nullptr;              // that joined
    txg_handle_t *th_next = nullptr, **th_link = nullptr; // tc_holders
};

// Somebody who keeps a txg open or quiescing, for whom `wanted` is true; null: nobody.
const txg_handle_t *txg_holder(const tx_state_t &tx, uint64_t txg, bool (*wanted)(const txg_handle_t &, const void *),
                               const void *argument);

void txg_init(dsl_pool_t &dp, uint64_t txg);
void txg_sync_start(dsl_pool_t &dp);
void txg_sync_stop(dsl_pool_t &dp); // syncs what there is, ends both threads and returns when they have

// Joins the open group; returns holding the CPU's tc_open_lock, which txg_rele_to_quiesce drops.
uint64_t txg_hold_open(dsl_pool_t &dp, txg_handle_t &th);
void txg_rele_to_quiesce(txg_handle_t &th);
void txg_rele_to_sync(txg_handle_t &th); // leaves the group

void txg_wait_synced(dsl_pool_t &dp, uint64_t txg); // 0: what is open now, and the deferred frees after it
void txg_wait_open(dsl_pool_t &dp, uint64_t txg);   // 0: the one after what is open now
void txg_quiesce_begin(dsl_pool_t &dp); // asks for the open group to be synced; returns when the next is open
void txg_kick(dsl_pool_t &dp);          // asks that the open group be closed, if nothing is on its way
void txg_delay(dsl_pool_t &dp, uint64_t txg, Duration delay);
bool txg_stalled(dsl_pool_t &dp);
bool txg_sync_waiting(dsl_pool_t &dp);

// The row of a txg in flight, for whoever counts what happens in it.
txg_row_t &txg_row(dsl_pool_t &dp, uint64_t txg);

// Objects that are dirty in a txg: an intrusive list a slot, last in first out.
template <class T>
struct txg_node_t {
    per_txg<T *> tn_next{};
    per_txg<bool> tn_member{};
};

template <class T, txg_node_t<T> T::*Link>
class txg_list_t {
public:
    // TRUE when it was not a member yet.
    bool add(T &item, uint64_t txg)
    {
        Probe probe{Fn::txg_list_add};
        auto held = mutex_enter(tl_lock);

        txg_node_t<T> &node = item.*Link;
        const size_t slot = txg & TXG_MASK;
        if (node.tn_member[slot])
            return false;
        node.tn_member[slot] = true;
        node.tn_next[slot] = tl_head[slot];
        tl_head[slot] = &item;
        return true;
    }

    // The member added last, or null.
    T *remove(uint64_t txg)
    {
        auto held = mutex_enter(tl_lock);

        const size_t slot = txg & TXG_MASK;
        T *item = tl_head[slot];
        if (item == nullptr)
            return nullptr;
        txg_node_t<T> &node = item->*Link;
        tl_head[slot] = node.tn_next[slot];
        node.tn_next[slot] = nullptr;
        node.tn_member[slot] = false;
        return item;
    }

    bool empty(uint64_t txg) const { return tl_head[txg & TXG_MASK] == nullptr; }
    static bool member(const T &item, uint64_t txg) { return (item.*Link).tn_member[txg & TXG_MASK]; }

private:
    kmutex_t tl_lock{"tl_lock"};
    per_txg<T *> tl_head{};
};

} // namespace dmu
