// Transactions: say beforehand what will change, join a txg, change it, leave.
//
//     auto tx = dmu_tx_create(os);
//     dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT);
//     if (auto assigned = dmu_tx_assign(*tx, TXG_WAIT); !assigned) {
//         dmu_tx_abort(std::move(tx));
//         return SET_ERROR(assigned.error());
//     }
//     ... change what was held ...
//     dmu_tx_commit(std::move(tx));
//
// Each hold keeps the dnode and estimates, as the code of 2016 did, what the change can cost at worst: blocks written
// anew, overwritten, freed, memory. Assigning claims every held dnode for the txg (dn_assigned_txg, dn_tx_holds), so
// that a dnode is never changed in two open txgs at once, and reserves the space. Followed: OpenZFS 8bea98150 (2016).
// Left out: spill blocks, commit callbacks, snapshots, suspended pools.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "model/blkptr.h"
#include "model/dsl_pool.h"
#include "model/pooled.h"
#include "model/result.h"
#include "model/txg.h"

namespace dmu {

struct dnode_t;
struct objset_t;
struct dmu_buf_impl_t;
struct dmu_tx_t;

constexpr uint64_t DMU_NEW_OBJECT = ~0ull;
constexpr uint64_t DMU_OBJECT_END = ~0ull; // length: to the end of the object
constexpr uint64_t DMU_MAX_ACCESS = 64ull << 20;
constexpr uint64_t DMU_MAX_DELETEBLKCNT = 20480;
constexpr uint64_t TX_HOLDS_MAX = 32; // a rename has 9; more in one transaction is a mistake

// So many refusals, one txg each, show that a transaction whose estimate no txg can hold will never be assigned; enough
// to measure at what rate txgs race by meanwhile.
constexpr uint32_t unassignable_attempts_max = 4096;

enum class txg_how_t {
    TXG_WAIT,   // wait for the next txg as often as needed
    TXG_NOWAIT, // refuse with ERESTART; the caller drops its locks, calls dmu_tx_wait and starts again
    TXG_WAITED, // as NOWAIT, after a dmu_tx_wait on behalf of the same operation
};
using enum txg_how_t;

enum class dmu_tx_hold_type : uint8_t {
    THT_NEWOBJECT,
    THT_WRITE,
    THT_BONUS,
    THT_FREE,
    THT_ZAP,
    THT_SPACE,
    THT_SPILL,
};
using enum dmu_tx_hold_type;

struct dmu_tx_hold_t {
    dmu_tx_t *txh_tx;
    dnode_t *txh_dnode; // null: an object that does not exist yet
    uint64_t txh_space_towrite;
    uint64_t txh_space_tofree;
    uint64_t txh_space_tooverwrite;
    uint64_t txh_space_tounref;
    uint64_t txh_memory_tohold;
    uint64_t txh_fudge;
    uint64_t txh_arg1, txh_arg2;
    dmu_tx_hold_type txh_type;
};

struct dmu_tx_t final : pooled_t<dmu_tx_t> {
    dmu_tx_t() = default; // by dmu_tx_create and dmu_tx_create_assigned only
    dmu_tx_t(const dmu_tx_t &) = delete;
    dmu_tx_t &operator=(const dmu_tx_t &) = delete;

    objset_t *tx_objset = nullptr;
    dsl_dir_t *tx_dir = nullptr;
    dsl_pool_t *tx_pool = nullptr;
    uint64_t tx_txg = 0; // 0: not assigned
    uint64_t tx_lasttried_txg = 0;
    uint64_t tx_lastsnap_txg = 0;
    txg_handle_t tx_txgh;
    hrtime_t tx_start{};
    int tx_err = 0;
    bool tx_anyobj = false;           // the sync thread's own: it may change anything
    bool tx_waited = false;           // has been slowed down already
    bool tx_wait_dirty = false;       // refused because of dirty bytes
    bool tx_estimate_too_big = false; // refused because no txg can ever hold it

    // What dsl_dir_tempreserve_space took, to be given back.
    uint64_t tx_tempreserve_memory = 0;
    uint64_t tx_tempreserve_asize = 0;
    uint8_t tx_tempreserve_dirs = 0; // tx_dir and so many of its ancestors less one

    uint32_t tx_needassign_txh = 0; // index of the hold whose dnode was claimed by the txg before; TX_HOLDS_MAX: none
    uint32_t tx_hold_count = 0;
    dmu_tx_hold_t tx_holds[TX_HOLDS_MAX]; // the first tx_hold_count, in the order they were made

    dmu_tx_hold_t *begin() { return tx_holds; }
    dmu_tx_hold_t *end() { return tx_holds + tx_hold_count; }
};
using dmu_tx_ptr = std::unique_ptr<dmu_tx_t>;

[[nodiscard]] dmu_tx_ptr dmu_tx_create(objset_t &os);
[[nodiscard]] dmu_tx_ptr dmu_tx_create_assigned(dsl_pool_t &dp, uint64_t txg); // in the sync thread
bool dmu_tx_is_syncing(const dmu_tx_t &tx);

// Holds; a failure is kept in tx_err and returned by dmu_tx_assign. REQUIRES: not assigned.
void dmu_tx_hold_bonus(dmu_tx_t &tx, uint64_t object);
void dmu_tx_hold_write(dmu_tx_t &tx, uint64_t object, uint64_t off, uint64_t len);
void dmu_tx_hold_free(dmu_tx_t &tx, uint64_t object, uint64_t off, uint64_t len);
void dmu_tx_hold_space(dmu_tx_t &tx, uint64_t space);
void dmu_tx_hold_zap(dmu_tx_t &tx, uint64_t object, bool add, const std::string_view *name);
void dmu_tx_hold_sa_create(dmu_tx_t &tx, uint64_t attrsize);
void dmu_tx_hold_sa(dmu_tx_t &tx, uint64_t object, bool may_grow);

// For the hold functions, here and in model/variants/tx_hold_zap_*.cpp: null after an error, which is in tx_err.
dmu_tx_hold_t *dmu_tx_hold_object_impl(dmu_tx_t &tx, objset_t &os, uint64_t object, dmu_tx_hold_type type,
                                       uint64_t arg1, uint64_t arg2);
Result<> dmu_tx_check_ioerr(dnode_t &dn, uint32_t level, uint64_t blkid);
void dmu_tx_count_write(dmu_tx_hold_t &txh, uint64_t off, uint64_t len);
void dmu_tx_count_dnode(dmu_tx_hold_t &txh);

// After success the transaction must be committed, after a failure aborted (or waited for and assigned again).
Result<> dmu_tx_assign(dmu_tx_t &tx, txg_how_t txg_how);
void dmu_tx_wait(dmu_tx_t &tx);
// How long a transaction has to take with so many bytes dirty. REQUIRES: dirty < dirty_data_max.
Duration dmu_tx_delay_time(const pool_config &config, uint64_t dirty);
void dmu_tx_commit(dmu_tx_ptr tx);
void dmu_tx_abort(dmu_tx_ptr tx);

// An object allocated by an assigned transaction belongs to it: holds it, claimed.
void dmu_tx_add_new_object(dmu_tx_t &tx, dnode_t &dn);                   // since 2017: the dnode in hand
void dmu_tx_add_new_object(dmu_tx_t &tx, objset_t &os, uint64_t object); // until 2017: looked up again

// Panics unless the transaction holds what is about to be dirtied.
void dmu_tx_dirty_buf(const dmu_tx_t &tx, const dmu_buf_impl_t &db);
uint64_t dmu_tx_get_txg(const dmu_tx_t &tx);

} // namespace dmu
