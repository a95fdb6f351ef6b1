// What the files of dbuf share and nobody else uses.
#pragma once

#include "model/dbuf.h"
#include "model/dmu_state.h"
#include "model/dnode.h"
#include "model/objset.h"

namespace dmu {

// The dbuf, its db_mtx held, or null.
dmu_buf_impl_t *dbuf_find(objset_t &os, uint64_t object, uint8_t level, uint64_t blkid);
// What a hold of that block would find, if it is somebody's already, its contents are there, and its chain's lock, its
// own and its count of holds are at hand; else null. Free of charge and order.
const dmu_buf_impl_t *dbuf_at_hand(const objset_t &os, uint64_t object, uint8_t level, uint64_t blkid);
// A hold, a read and the release of the one take the same course as of the other. REQUIRES: both are at hand.
bool dbufs_alike(const dmu_buf_impl_t &one, const dmu_buf_impl_t &other);
// Null: db is in the table now, its db_mtx held. Else the one that was there first, its db_mtx held.
dmu_buf_impl_t *dbuf_hash_insert(dmu_buf_impl_t &db);
// REQUIRES: DB_EVICTING.
void dbuf_hash_remove(dmu_buf_impl_t &db);

// Where the block pointer of a block stands. parent is empty for blocks the meta-dnode itself points at.
struct dbuf_place_t {
    dbuf_hold_t parent;
    blkptr_t *bp = nullptr;
};
// ENOENT: it has no place yet. REQUIRES: dn_struct_rwlock is held.
Result<dbuf_place_t> dbuf_findbp(dnode_t &dn, uint8_t level, uint64_t blkid, bool fail_sparse, uint32_t depth);

// A dbuf for that block with its db_mtx held: a new one, or one that somebody else made meanwhile.
dmu_buf_impl_t *dbuf_create(dnode_t &dn, uint8_t level, uint64_t blkid, dmu_buf_impl_t *parent, blkptr_t *blkptr);
// REQUIRES: db_mtx held, no holds. The dbuf is gone afterwards.
void dbuf_destroy(dmu_buf_impl_t &db);
// Gives up one hold. evicting: on the way of another dbuf out of memory. REQUIRES: db_mtx held; it is not afterwards,
// and the dbuf may be gone.
void dbuf_rele_and_unlock(dmu_buf_impl_t &db, bool evicting = false);
// REQUIRES: db_mtx held.
void dbuf_evict_user(dmu_buf_impl_t &db);
void dbuf_set_data(dmu_buf_impl_t &db, arc_buf_t *buf);
void dbuf_clear_data(dmu_buf_impl_t &db);
block_kind dbuf_block_kind(const dmu_buf_impl_t &db, const dnode_t &dn);
// As the ARC counts it: contents of files and the like, or everything else.
arc_buf_contents_t dbuf_buf_type(const dmu_buf_impl_t &db, const dnode_t &dn);
// A zeroed anonymous buffer for the dbuf.
arc_buf_t *dbuf_alloc_buf(const dmu_buf_impl_t &db, const dnode_t &dn);
// Where the block hashes to, in the table and in the lists of the caches.
uint64_t dbuf_hash(uint64_t os, uint64_t object, uint8_t level, uint64_t blkid);

// Nobody holds the dbuf any more; it goes to one of the caches. evicting: the caller is on its way to make room itself.
// REQUIRES: db_mtx held; it is not afterwards.
void dbuf_cache_insert(dmu_state_t &dmu, dmu_buf_impl_t &db, bool evicting);
// Takes it out of the cache it is in. REQUIRES: db_mtx held.
void dbuf_cache_remove(dmu_state_t &dmu, dmu_buf_impl_t &db);
// Evicts the dbuf that was released longest ago, of one piece of the list. False: none could be had there.
bool dbuf_evict_one(dmu_state_t &dmu);
// The service thread that evicts from the dbuf cache when it is above its target; it ends with dbuf_evict_stop.
void dbuf_evict_start(dmu_state_t &dmu);
void dbuf_evict_stop(dmu_state_t &dmu);

// The part of a hold after the dbuf has been found: its buffer is taken up, its data protected from a write under way.
// REQUIRES: db_mtx held; it is not afterwards.
void dbuf_hold_found(dnode_t &dn, dmu_buf_impl_t &db);
// The part of a hold of a block that is in no dbuf yet: its place is found, `depth` levels below the block first asked
// for, and a dbuf made. ENOENT as dbuf_hold_impl. REQUIRES: dn_struct_rwlock is held.
Result<dbuf_hold_t> dbuf_hold_absent(dnode_t &dn, uint8_t level, uint64_t blkid, bool fail_sparse, uint32_t depth);

// On dn's list of records of the top level. REQUIRES: dn_mtx held, or in the sync thread.
void dnode_list_dirty_record(dnode_t &dn, dbuf_dirty_record_t &dr);
// A block freed in this txg is in use again. REQUIRES: dn_mtx held.
void dnode_unfree_block(dnode_t &dn, uint64_t blkid, uint64_t txg);

// dn_struct_rwlock as reader, unless this thread has it as writer.
class struct_reader_t {
public:
    explicit struct_reader_t(dnode_t &dn) : lock_(RW_WRITE_HELD(dn.dn_struct_rwlock) ? nullptr : &dn.dn_struct_rwlock)
    {
        if (lock_ != nullptr)
            rw_enter_manual(*lock_, RW_READER);
    }
    ~struct_reader_t() noexcept(false) { exit(); }
    struct_reader_t(const struct_reader_t &) = delete;
    struct_reader_t &operator=(const struct_reader_t &) = delete;

    bool entered() const { return lock_ != nullptr; }
    void exit()
    {
        if (lock_ != nullptr)
            rw_exit(*std::exchange(lock_, nullptr));
    }

private:
    struct_rwlock_t *lock_;
};

// The dnode of a dbuf, kept from moving as DB_DNODE_ENTER and DB_DNODE_EXIT do.
class db_dnode_t {
public:
    explicit db_dnode_t(dmu_buf_impl_t &db) : handle_(db.db_dnode_handle) { zrl_add(handle_->dnh_zrlock); }
    ~db_dnode_t() noexcept(false) { exit(); }
    db_dnode_t(const db_dnode_t &) = delete;
    db_dnode_t &operator=(const db_dnode_t &) = delete;

    dnode_t &operator*() const { return *handle_->dnh_dnode; }
    dnode_t *operator->() const { return handle_->dnh_dnode; }
    void exit()
    {
        if (handle_ != nullptr)
            zrl_remove(std::exchange(handle_, nullptr)->dnh_zrlock);
    }

private:
    dnode_handle_t *handle_;
};
[[nodiscard]] inline db_dnode_t DB_DNODE_ENTER(dmu_buf_impl_t &db)
{
    return db_dnode_t(db);
}

} // namespace dmu
