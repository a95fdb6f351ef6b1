// dnodes: an object's description on disk (dnode_phys_t) and in memory (dnode_t), and the slots between them.
//
// The dnodes of an objset lie in the blocks of its meta-dnode, 32 slots a block. The dbuf of such a block carries
// dnode_children_t: a handle a slot, with a lock of its own (zrlock), through which a dnode_t is found, made and moved.
// What a transaction changes stands in dnode_t at once and in dnode_phys_t only when its txg syncs: an object allocated
// in an open txg is taken for whoever holds its slot, and free for whoever reads the block. That gap is what the
// allocator's search stumbles over.
//
// Followed: OpenZFS 81285582b9 (2016-05). How a slot is judged free is a choice (model/variants/dnode_slots.h), and so
// is the search (model/variants/next_offset.h). A dnode may take up to 32 slots of one block where slots are judged by
// their handles (since 2019); what it gains by that, a larger bonus buffer, is left out. Left out too: spill blocks,
// moving dnodes, raw bonus contents beyond a few words.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include "model/blkptr.h"
#include "model/dbuf.h"
#include "model/dmu_zfetch.h"
#include "model/list.h"
#include "model/pooled.h"
#include "model/result.h"
#include "model/spl.h"
#include "model/struct_rwlock.h"
#include "model/txg.h"

namespace dmu {

struct objset_t;
struct dmu_tx_t;

// dnode_hold_impl flags
constexpr uint32_t DNODE_MUST_BE_ALLOCATED = 1;
constexpr uint32_t DNODE_MUST_BE_FREE = 2;

// dnode_next_offset flags
constexpr uint32_t DNODE_FIND_HOLE = 1;
constexpr uint32_t DNODE_FIND_BACKWARDS = 2;
constexpr uint32_t DNODE_FIND_HAVELOCK = 4;

// dn_id_flags: what is known of the owner
constexpr uint8_t DN_ID_CHKED_BONUS = 1; // has been looked for
constexpr uint8_t DN_ID_OLD_EXIST = 4;   // as of the last synced txg
constexpr uint8_t DN_ID_NEW_EXIST = 8;   // as of the txg that is syncing

// Whose a file is. The real numbers have 64 bits, of which the upper half is a domain.
struct owner_t {
    uint32_t uid = 0;
    uint32_t gid = 0;
};

enum class dnode_dirtycontext : uint8_t { DN_UNDIRTIED, DN_DIRTY_OPEN, DN_DIRTY_SYNC };
using enum dnode_dirtycontext;

struct dbuf_order {
    bool operator()(const dmu_buf_impl_t *left, const dmu_buf_impl_t *right) const
    {
        return left->db_level != right->db_level ? left->db_level < right->db_level : left->db_blkid < right->db_blkid;
    }
};
// A dbuf on its way out is still listed when the next one of the same block comes.
using dbuf_set = std::multiset<dmu_buf_impl_t *, dbuf_order>;
using blkid_ranges = std::set<std::pair<uint64_t, uint64_t>>; // first, last; never touching each other

// Nothing clears its memory: each member has its initializer.
struct dnode_t final : pooled_t<dnode_t> {
    struct_rwlock_t dn_struct_rwlock;

    // immutable
    objset_t *dn_objset = nullptr;
    uint64_t dn_object = 0;
    dmu_buf_impl_t *dn_dbuf = nullptr; // the block its slot is in; null for dnodes of the root block
    dnode_handle_t *dn_handle = nullptr;
    dnode_phys_t *dn_phys = nullptr; // into dn_dbuf's data, or the objset's

    // Copies of what dn_phys says, as open transactions see it; under dn_struct_rwlock where it matters.
    dmu_object_type_t dn_type = DMU_OT_NONE;
    uint8_t dn_num_slots = DNODE_MIN_SLOTS;
    dmu_object_type_t dn_bonustype = DMU_OT_NONE;
    uint16_t dn_bonuslen = 0;
    uint8_t dn_nblkptr = 0;
    uint8_t dn_nlevels = 0;
    uint8_t dn_indblkshift = 0;
    uint8_t dn_datablkshift = 0; // 0: the block size is no power of two
    uint16_t dn_datablkszsec = 0;
    uint32_t dn_datablksz = 0;
    uint64_t dn_maxblkid = 0;
    per_txg<uint8_t> dn_next_nblkptr{};
    per_txg<uint8_t> dn_next_nlevels{};
    per_txg<uint8_t> dn_next_indblkshift{};
    per_txg<uint8_t> dn_next_bonustype{};
    per_txg<uint8_t> dn_next_type{};
    per_txg<uint16_t> dn_next_bonuslen{};
    per_txg<uint32_t> dn_next_blksz{};

    list_node_t dn_link; // os_dnodes; under os_lock
    // os_dirty_dnodes or os_free_dnodes, under the lock of that list; while its txg syncs also os_synced_dnodes, by the
    // sync threads, without it.
    per_txg<list_node_t> dn_dirty_link{};

    kmutex_t dn_mtx{"dn_mtx"};
    // under dn_mtx:
    per_txg<std::unique_ptr<list_t<dbuf_dirty_record_t>>> dn_dirty_records; // of the top level; null: none
    per_txg<std::unique_ptr<blkid_ranges>> dn_free_ranges;
    uint64_t dn_allocated_txg = 0;
    uint64_t dn_free_txg = 0;
    uint64_t dn_assigned_txg = 0; // the open transaction's that claimed it
    kcondvar_t dn_notxholds;
    dnode_dirtycontext dn_dirtyctx = DN_UNDIRTIED;
    // Of file systems that account for their owners' space. Read in the sync thread alone, and without the lock; the
    // flags also by who dirties the dnode: what has been found out stays.
    uint8_t dn_id_flags = 0;
    uint8_t dn_oldflags = 0; // dn_phys's before the sync
    uint64_t dn_oldused = 0;
    owner_t dn_old, dn_new;

    zfs_refcount_t dn_tx_holds;
    counted_refcount_t<Fn::dn_holds> dn_holds;

    kmutex_t dn_dbufs_mtx{"dn_dbufs_mtx"};
    // under dn_dbufs_mtx:
    std::unique_ptr<dbuf_set> dn_dbufs; // null: none
    uint64_t dn_unlisted_l0_blkid = 0;  // no level-0 dbuf has this blkid or a higher one

    dmu_buf_impl_t *dn_bonus = nullptr; // under dn_struct_rwlock

    std::unique_ptr<zfetch_t> dn_zfetch; // made by the first read beyond block 0
};

// An empty list of dnodes for txgs of that slot: whatever is dirty in them, freed or synced.
inline list_t<dnode_t> dnode_list_of_slot(size_t slot)
{
    return list_t<dnode_t>(member_offset(&dnode_t::dn_dirty_link) + slot * sizeof(list_node_t));
}

// What a handle without a dnode_t knows of its slot; kept by the code that judges slots by their handles (since 2019).
enum class dn_slot_t : uint8_t { UNINIT, FREE, ALLOCATED, INTERIOR };

struct dnode_handle_t {
    zrlock_t dnh_zrlock;
    dn_slot_t dnh_slot = dn_slot_t::UNINIT;
    dnode_t *dnh_dnode = nullptr;
};

struct dnode_children_t : dmu_buf_user_t {
    explicit dnode_children_t(objset_t &os) : dnc_objset(os) {}
    ~dnode_children_t() override; // destroys the dnodes; none is held

    objset_t &dnc_objset;
    dnode_handle_t dnc_children[DNODES_PER_BLOCK];
};

// ---- holds ----

void dnode_rele(dnode_t &dn);

// A held dnode; gives the hold back at the end of its scope.
class [[nodiscard]] dnode_hold_t {
public:
    dnode_hold_t() = default;
    explicit dnode_hold_t(dnode_t *held) : dn_(held) {}
    dnode_hold_t(dnode_hold_t &&other) noexcept : dn_(std::exchange(other.dn_, nullptr)) {}
    dnode_hold_t &operator=(dnode_hold_t &&other)
    {
        rele();
        dn_ = std::exchange(other.dn_, nullptr);
        return *this;
    }
    ~dnode_hold_t() noexcept(false) { rele(); }

    explicit operator bool() const { return dn_ != nullptr; }
    dnode_t &operator*() const { return *dn_; }
    dnode_t *operator->() const { return dn_; }
    dnode_t *get() const { return dn_; }
    dnode_t *keep() { return std::exchange(dn_, nullptr); } // the caller releases it
    void rele()
    {
        if (dn_ != nullptr)
            dnode_rele(*std::exchange(dn_, nullptr));
    }

private:
    dnode_t *dn_ = nullptr;
};

// EINVAL: no such number. ENOENT: not allocated, or just allocated and freed again. EEXIST, ENOSPC: not free.
// slots is the room wanted with DNODE_MUST_BE_FREE, 0 otherwise. More than one, or the inside of a larger dnode, is
// known only where slots are judged by their handles.
Result<dnode_hold_t> dnode_hold_impl(objset_t &os, uint64_t object, uint32_t flag, uint32_t slots);
// Calls of it in a table of calls by function (sim_thread_t::calls): either form, of which each has a cost of its own.
inline uint64_t dnode_hold_impl_calls(const uint64_t *calls)
{
    return calls[static_cast<size_t>(Fn::dnode_hold_impl)] + calls[static_cast<size_t>(Fn::dnode_hold_impl_by_handle)];
}
Result<dnode_hold_t> dnode_hold(objset_t &os, uint64_t object); // DNODE_MUST_BE_ALLOCATED
// The same by a thread that, its block in hand, waits for an instant before it goes to the slot: how an experiment
// brings several threads there together, which db_mtx otherwise lets pass one at a time.
Result<dnode_hold_t> dnode_hold_in_step(objset_t &os, uint64_t object, hrtime_t instant);
// False when nobody holds it.
bool dnode_add_ref(dnode_t &dn);
// REQUIRES: dn_mtx held; it is not afterwards.
void dnode_rele_and_unlock(dnode_t &dn);

// ---- changes, by an assigned transaction ----

struct dnode_spec {
    dmu_object_type_t type = DMU_OT_UINT64_OTHER;
    uint32_t blocksize = 0;           // 0: 512
    uint32_t indirect_blockshift = 0; // 0: the dataset's
    dmu_object_type_t bonustype = DMU_OT_NONE;
    uint32_t bonuslen = 0;
    uint32_t slots = DNODE_MIN_SLOTS;
};

// REQUIRES: held, of type DMU_OT_NONE, with room for that many slots.
void dnode_allocate(dnode_t &dn, const dnode_spec &spec, dmu_tx_t &tx);
void dnode_free(dnode_t &dn, dmu_tx_t &tx);
void dnode_free_range(dnode_t &dn, uint64_t off, uint64_t len, dmu_tx_t &tx);
void dnode_setdirty(dnode_t &dn, dmu_tx_t &tx);
Result<> dnode_set_blksz(dnode_t &dn, uint64_t size, uint32_t ibs, dmu_tx_t &tx);
// Grows the object to hold blkid. have_read: dn_struct_rwlock is held as reader, else as writer; it may be dropped
// between.
void dnode_new_blkid(dnode_t &dn, uint64_t blkid, dmu_tx_t &tx, bool have_read);
bool dnode_block_freed(dnode_t &dn, uint64_t blkid);

// ---- search ----

struct next_offset_t {
    int error;       // 0 or ESRCH
    uint64_t offset; // where the search ended, whatever the error
};
// The next hole, data or sparse stretch at or after (BACKWARDS: at or before) offset. blkfill: dnodes or blocks
// expected in a full level-0 block. txg: only what is younger.
next_offset_t dnode_next_offset(dnode_t &dn, uint32_t flags, uint64_t offset, uint32_t minlvl, uint64_t blkfill,
                                uint64_t txg);

// ---- sync and eviction ----

void dnode_sync(dnode_t &dn, dmu_tx_t &tx);
void dnode_evict_dbufs(dnode_t &dn);
void dnode_evict_bonus(dnode_t &dn);

// The dnodes of the objset's root block, which have no slot.
void dnode_special_open(objset_t &os, dnode_phys_t &dnp, uint64_t object, dnode_handle_t &dnh);
void dnode_special_close(dnode_handle_t &dnh);

} // namespace dmu
