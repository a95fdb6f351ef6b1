// dbufs: the blocks of objects in memory, found by (objset, object, level, blkid).
//
// A dbuf exists while somebody holds it, while it is dirty, and (2016) as long as the ARC keeps its buffer, or (since
// 2017) as long as it stays in the dbuf cache. It hangs below the dbuf that holds its block pointer (db_parent) and
// keeps it held. What changes in a txg is a dirty record; records hang below their parent's record, so that sync walks
// the tree from the top and writes it from the bottom, and each write_ready computes the fill count its parent will
// see.
//
// Followed: OpenZFS 81285582b9 (2016-05); differences of later code bases are choices (model/eras.h, model/variants/).
// Left out: spill blocks, dmu_sync and overrides, nopwrite, compression.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "model/arc.h"
#include "model/block.h"
#include "model/list.h"
#include "model/result.h"
#include "model/spl.h"
#include "model/txg.h"

namespace dmu {

struct objset_t;
struct dnode_t;
struct dnode_handle_t;
struct dmu_tx_t;
struct dmu_buf_impl_t;

constexpr uint32_t DBUF_HOLD_IMPL_MAX_DEPTH = 20;

// dbuf_read flags
constexpr uint32_t DB_RF_MUST_SUCCEED = 0;
constexpr uint32_t DB_RF_CANFAIL = 1u << 0;
constexpr uint32_t DB_RF_HAVESTRUCT = 1u << 1;
constexpr uint32_t DB_RF_NOPREFETCH = 1u << 2;
constexpr uint32_t DB_RF_NEVERWAIT = 1u << 3;
constexpr uint32_t DB_RF_NO_DECRYPT = 1u << 4;

enum class dbuf_states_t : uint8_t { DB_UNCACHED, DB_FILL, DB_NOFILL, DB_READ, DB_CACHED, DB_EVICTING };
using enum dbuf_states_t;

// Which of the two caches of dbufs that nobody holds it is in.
enum dbuf_cached_state_t : int8_t { DB_NO_CACHE = -1, DB_DBUF_CACHE, DB_DBUF_METADATA_CACHE, DB_CACHE_MAX };

// What a client hangs on a level-0 dbuf; evicted with it, in the dbu_evict thread.
struct dmu_buf_user_t {
    virtual ~dmu_buf_user_t() = default; // dbu_evict_func: the destructor gives up what the client keeps
    list_node_t dbu_link;
};

struct dbuf_dirty_record_t {
    list_node_t dr_dirty_node; // on dn_dirty_records or on the parent's dr_children
    uint64_t dr_txg = 0;
    dmu_buf_impl_t *dr_dbuf = nullptr;
    dbuf_dirty_record_t *dr_next = nullptr; // the same dbuf in an older txg
    dbuf_dirty_record_t *dr_parent = nullptr;
    uint64_t dr_accounted = 0; // bytes in the pool's dirty total

    // Level 0: what this txg will write. Equal to db_buf until a later txg changes the dbuf.
    arc_buf_t *dr_data = nullptr;
    uint64_t *dr_bonus = nullptr; // the same for a bonus buffer, whose data are words
    // Above: the records of the blocks it points to; null at level 0.
    struct indirect_t {
        indirect_t();
        kmutex_t dr_mtx{"dr_mtx"};
        list_t<dbuf_dirty_record_t> dr_children;
    };
    std::unique_ptr<indirect_t> di;

    // The write under way: parents finish after their children.
    blkptr_t dr_bp_orig;
    uint32_t dr_children_pending = 0;
    bool dr_writing = false; // dbuf_write has been called
    bool dr_issued = false;  // nothing more will be added below it
};

struct dmu_buf_impl_t {
    // immutable
    objset_t *db_objset = nullptr;
    dnode_handle_t *db_dnode_handle = nullptr; // null once it has left its dnode
    uint64_t db_object = 0;
    uint64_t db_blkid = 0;
    uint8_t db_level = 0;
    uint64_t db_hash = 0; // dbuf_hash of the four above

    // under db_mtx:
    dbuf_states_t db_state = DB_UNCACHED; // peeked at by holders
    uint8_t db_dirtycnt = 0;
    bool db_user_immediate_evict = false;
    bool db_freed_in_flight = false;
    bool db_pending_evict = false;
    dbuf_cached_state_t db_caching_status = DB_NO_CACHE; // since 2017
    uint32_t db_size = 0;
    counted_refcount_t<Fn::db_holds> db_holds;
    void *db_data = nullptr; // db_buf's payload, or the bonus words
    arc_buf_t *db_buf = nullptr;
    dbuf_dirty_record_t *db_last_dirty = nullptr;   // newest first
    dbuf_dirty_record_t *db_data_pending = nullptr; // being written
    dmu_buf_user_t *db_user = nullptr;
    kmutex_t db_mtx{"db_mtx"};
    kcondvar_t db_changed;

    // under dn_struct_rwlock of its dnode:
    dmu_buf_impl_t *db_parent = nullptr;
    blkptr_t *db_blkptr = nullptr; // null: no block points at it yet

    dmu_buf_impl_t *db_hash_next = nullptr; // under the bucket's hash mutex
    list_node_t db_cache_link;              // in one of the caches

    const blkptr_t *blkptrs() const { return static_cast<const blkptr_t *>(db_data); }
    uint64_t db_offset() const { return db_blkid * db_size; }
    blkptr_t *blkptrs() { return static_cast<blkptr_t *>(db_data); }
    dnode_phys_t *dnodes() { return static_cast<dnode_phys_t *>(db_data); }
    uint8_t *bytes() { return static_cast<uint8_t *>(db_data); }
};

// The dnode a dbuf belongs to. REQUIRES: the dbuf is held or its db_mtx is.
dnode_t &DB_DNODE(const dmu_buf_impl_t &db);

// ---- holds ----

void dbuf_rele(dmu_buf_impl_t &db);

// A held dbuf; gives the hold back at the end of its scope.
class [[nodiscard]] dbuf_hold_t {
public:
    dbuf_hold_t() = default;
    explicit dbuf_hold_t(dmu_buf_impl_t *held) : db_(held) {}
    dbuf_hold_t(dbuf_hold_t &&other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
    dbuf_hold_t &operator=(dbuf_hold_t &&other)
    {
        rele();
        db_ = std::exchange(other.db_, nullptr);
        return *this;
    }
    ~dbuf_hold_t() noexcept(false) { rele(); }

    explicit operator bool() const { return db_ != nullptr; }
    dmu_buf_impl_t &operator*() const { return *db_; }
    dmu_buf_impl_t *operator->() const { return db_; }
    dmu_buf_impl_t *get() const { return db_; }
    dmu_buf_impl_t *keep() { return std::exchange(db_, nullptr); } // the caller releases it
    void rele()
    {
        if (db_ != nullptr)
            dbuf_rele(*std::exchange(db_, nullptr));
    }

private:
    dmu_buf_impl_t *db_ = nullptr;
};

// ENOENT: fail_sparse and the block is a hole or lies beyond the object's end; fail_uncached and it is not in memory.
// REQUIRES: dn_struct_rwlock is held.
Result<dbuf_hold_t> dbuf_hold_impl(dnode_t &dn, uint8_t level, uint64_t blkid, bool fail_sparse, bool fail_uncached);
dbuf_hold_t dbuf_hold(dnode_t &dn, uint64_t blkid);                      // empty after a read error
dbuf_hold_t dbuf_hold_level(dnode_t &dn, uint8_t level, uint64_t blkid); // the same
// REQUIRES: somebody holds it.
void dbuf_add_ref(dmu_buf_impl_t &db);
uint64_t dbuf_refcount(const dmu_buf_impl_t &db);

// The block of a level that holds a byte offset. REQUIRES: dn_struct_rwlock is held or the block size cannot change.
uint64_t dbuf_whichblock(const dnode_t &dn, uint32_t level, uint64_t offset);

// ---- contents ----

Result<> dbuf_read(dmu_buf_impl_t &db, uint32_t flags);
// Who asks for a block that nobody holds yet: a call that knows (dmu_prefetch), or the prefetcher, which guesses.
enum class prefetch_t : uint8_t { asked_for, predictive };
// Has a block read into the ARC, if it is on disk and not in memory yet, and the indirect blocks above it that are
// missing before it; waits for nothing. A guess goes to the disk behind what is wanted. REQUIRES: dn_struct_rwlock is
// held.
void dbuf_prefetch(dnode_t &dn, uint8_t level, uint64_t blkid, prefetch_t why);
void dmu_buf_will_dirty(dmu_buf_impl_t &db, dmu_tx_t &tx);
void dmu_buf_will_fill(dmu_buf_impl_t &db, dmu_tx_t &tx);
void dmu_buf_fill_done(dmu_buf_impl_t &db, dmu_tx_t &tx);
dbuf_dirty_record_t *dbuf_dirty(dmu_buf_impl_t &db, dmu_tx_t &tx);
// REQUIRES: db_mtx held. True: the dbuf was destroyed (and the lock with it).
bool dbuf_undirty(dmu_buf_impl_t &db, dmu_tx_t &tx);
// REQUIRES: dn_struct_rwlock held as writer.
void dbuf_new_size(dmu_buf_impl_t &db, uint32_t size, dmu_tx_t &tx);
void dbuf_free_range(dnode_t &dn, uint64_t start_blkid, uint64_t end_blkid, dmu_tx_t &tx);

// The bonus buffer of dn, held, its words readable through db_data.
Result<dbuf_hold_t> dmu_bonus_hold(objset_t &os, uint64_t object);

// What a client hangs on a dbuf: the one that was there before, which stays, or null.
dmu_buf_user_t *dmu_buf_set_user(dmu_buf_impl_t &db, dmu_buf_user_t *user);
inline dmu_buf_user_t *dmu_buf_get_user(const dmu_buf_impl_t &db)
{
    return db.db_user;
}
dmu_buf_user_t *dmu_buf_remove_user(dmu_buf_impl_t &db, dmu_buf_user_t *user);

// ---- sync ----

void dbuf_sync_list(list_t<dbuf_dirty_record_t> &list, int level, dmu_tx_t &tx);
// Nothing more is coming below this record: its write is finished, at once or after those below it.
void dbuf_write_issue(dbuf_dirty_record_t *dr);
// A block of os is no longer part of its tree.
void dsl_block_kill(objset_t &os, const blkptr_t &bp);

} // namespace dmu
