// The in-memory half of a ZAP, for the files that implement it.
//
// zap_t hangs on the dbuf of block 0, zap_leaf_t on the dbuf of each leaf; both go with their buffer. What stands in
// the blocks themselves is read through zap_phys_t, mzap_phys_t and zap_leaf_block. A zap_lock_t is what zap_lockdir
// hands out and a zap_leaf_hold_t what zap_get_leaf_byblk does: the buffer held and the lock entered, given back in
// reverse at the end of the scope.
#pragma once

#include "model/dmu.h"
#include "model/objset.h"
#include "model/spl.h"
#include "model/zap.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace dmu {

struct zap_t : dmu_buf_user_t {
    objset_t *zap_objset;
    uint64_t zap_object;
    dmu_buf_impl_t *zap_dbuf;
    krwlock_t zap_rwlock{"zap_rwlock"};

    // Read without the lock to choose how to enter it, and read again inside: a microzap may have become fat meanwhile.
    racy<bool> zap_ismicro{false};

    uint64_t zap_salt = 0;

    // under zap_rwlock, while it is a microzap:
    struct place {
        uint64_t hash;
        uint32_t cd;
        auto operator<=>(const place &) const = default;
    };
    std::map<place, uint32_t> zap_avl; // to the slot
    uint32_t zap_num_entries = 0;
    uint32_t zap_num_chunks = 0;
    uint32_t zap_alloc_next = 0; // where the search for a free slot begins; starts again from 0 with every zap_t

    // once it is fat:
    kmutex_t zap_num_entries_mtx{"zap_num_entries_mtx"}; // zap_num_entries of the header
    uint32_t zap_block_shift = 0;

    zap_phys_t &f_phys() const;
    mzap_ent_phys_t &m_slot(uint32_t slot) const;
    mzap_phys_t &m_phys() const;
    // REQUIRES: the pointer table is embedded.
    uint64_t &embedded_ptrtbl_ent(uint64_t index) const;
};

struct zap_leaf_t : dmu_buf_user_t {
    krwlock_t l_rwlock{"l_rwlock"};
    contents_t l_contents;
    uint64_t l_blkid;
    uint32_t l_bs;
    dmu_buf_impl_t *l_dbuf;

    // REQUIRES: l_rwlock is held.
    zap_leaf_block bytes() const;
};

// A ZAP that is held and locked.
class [[nodiscard]] zap_lock_t {
public:
    zap_lock_t() = default;
    zap_lock_t(zap_t &zap, dmu_buf_hold_t db, rw_guard_t guard);
    zap_lock_t(zap_lock_t &&other) { *this = std::move(other); }
    zap_lock_t &operator=(zap_lock_t &&other);
    ~zap_lock_t() noexcept(false) { zap_unlockdir(); }

    explicit operator bool() const { return zap_ != nullptr; }
    zap_t *operator->() const { return zap_; }
    zap_t &operator*() const { return *zap_; }

    void zap_unlockdir();
    // Becomes the writer without ever letting go, or stays what it is and says no.
    bool zap_tryupgradedir(dmu_tx_t &tx);
    // Lets go of everything and comes back as the writer, perhaps of a zap_t made anew. On error nothing is held.
    Result<> retake_as_writer(dmu_tx_t &tx);
    // Hands buffer and lock over to the caller, who keeps the buffer longer than the lock: a cursor between two calls.
    dmu_buf_hold_t release_buffer(rw_guard_t &guard);

private:
    zap_t *zap_ = nullptr;
    dmu_buf_hold_t db_;
    rw_guard_t guard_;
};

// A leaf that is held and locked.
class [[nodiscard]] zap_leaf_hold_t {
public:
    zap_leaf_hold_t() = default;
    zap_leaf_hold_t(zap_leaf_t &leaf, dmu_buf_hold_t db, rw_guard_t guard);
    zap_leaf_hold_t(zap_leaf_hold_t &&other) { *this = std::move(other); }
    zap_leaf_hold_t &operator=(zap_leaf_hold_t &&other);
    ~zap_leaf_hold_t() noexcept(false) { zap_put_leaf(); }

    explicit operator bool() const { return leaf_ != nullptr; }
    zap_leaf_t *operator->() const { return leaf_; }
    zap_leaf_t &operator*() const { return *leaf_; }
    zap_leaf_block bytes() const { return leaf_->bytes(); }

    void zap_put_leaf();
    // Gives the lock back and keeps the buffer.
    dmu_buf_hold_t release_buffer();

private:
    zap_leaf_t *leaf_ = nullptr;
    dmu_buf_hold_t db_;
    rw_guard_t guard_;
};

// A name on its way through one call. Names end at their first zero byte, as C strings do.
class zap_name_t {
public:
    zap_name_t(zap_t &zap, std::string_view name);
    ~zap_name_t() noexcept(false);
    zap_name_t(const zap_name_t &) = delete;
    zap_name_t &operator=(const zap_name_t &) = delete;

    std::string_view key() const { return key_; }
    uint64_t hash() const { return hash_; }

private:
    std::string_view key_;
    uint64_t hash_;
};

// zap_micro.cpp
zap_t *mzap_open(objset_t &os, uint64_t object, dmu_buf_impl_t &db);
Result<> mzap_upgrade(zap_lock_t &lock, dmu_tx_t &tx);
std::optional<uint32_t> mze_find(const zap_t &zap, const zap_name_t &zn); // the slot
void mzap_addent(zap_t &zap, const zap_name_t &zn, uint64_t value);
void mze_remove(zap_t &zap, uint32_t slot, uint64_t hash);

// zap_fat.cpp: the header, the pointer table and the way to a leaf
void fzap_upgrade(zap_t &zap, dmu_tx_t &tx);
Result<uint64_t> zap_idx_to_blk(zap_t &zap, uint64_t index);
// REQUIRES: zap_rwlock is held as writer.
Result<> zap_set_idx_to_blk(zap_t &zap, uint64_t index, uint64_t blkid, dmu_tx_t &tx);
Result<zap_leaf_hold_t> zap_get_leaf_byblk(zap_t &zap, uint64_t blkid, dmu_tx_t *tx, krw_t how);
Result<zap_leaf_hold_t> zap_deref_leaf(zap_t &zap, uint64_t hash, dmu_tx_t *tx, krw_t how);
Result<> zap_expand_leaf(zap_lock_t &lock, uint64_t hash, zap_leaf_hold_t &leaf, dmu_tx_t &tx);
void zap_put_leaf_maybe_grow_ptrtbl(zap_lock_t &lock, zap_leaf_hold_t &leaf, dmu_tx_t &tx);

// zap_fat_ops.cpp: what a caller wants of a fat ZAP
Result<> fzap_lookup(zap_t &zap, const zap_name_t &zn, uint64_t integer_size, uint64_t num_integers, void *buf,
                     std::string *realname);
Result<zap_length_t> fzap_length(zap_t &zap, const zap_name_t &zn);
Result<> fzap_add(zap_lock_t &lock, const zap_name_t &zn, const zap_value_t &value, dmu_tx_t &tx);
Result<> fzap_add_cd(zap_lock_t &lock, const zap_name_t &zn, const zap_value_t &value, uint32_t cd, dmu_tx_t &tx);
Result<> fzap_update(zap_lock_t &lock, const zap_name_t &zn, const zap_value_t &value, dmu_tx_t &tx);
Result<> fzap_remove(zap_lock_t &lock, const zap_name_t &zn, dmu_tx_t &tx);
Result<> fzap_count_write(zap_t &zap, const zap_name_t &zn, bool add, uint64_t &towrite, uint64_t &tooverwrite);
uint64_t fzap_count(zap_t &zap);
void fzap_get_stats(zap_t &zap, zap_stats_t &stats);

} // namespace dmu
