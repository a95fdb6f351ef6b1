// An objset: one dataset's objects, reached through its meta-dnode, and the state of its object allocator.
//
// On disk an objset is a root block (objset_phys_t) that holds the meta-dnode's dnode_phys_t. In memory it keeps the
// lists of dnodes that are dirty or freed in each txg, which sync works off. The allocator's cursors live in memory
// only: opening the objset again starts them at 0.
//
// Followed: OpenZFS 81285582b9 (2016-05), 68cbd56e18 for the freed counter, dbeb879699 (2017-06) for the cursor per
// CPU. Left out: the intent log, properties, snapshots.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "model/dnode.h"
#include "model/kstats.h"
#include "model/object_names.h"
#include "model/sa.h"

namespace dmu {

struct spa_t;
struct dmu_state_t;
struct dsl_dataset_t;
struct zio_root_t;
class visits_t;

// Told of every search of an allocator for a sparse stretch; for replays of recorded traces.
class allocator_trace_t {
public:
    virtual ~allocator_trace_t() = default;
    virtual void searched(uint64_t from_object, uint32_t minlvl, uint64_t blkfill, const next_offset_t &found) = 0;
};

// Which CPU allocated last in a block of dnodes; a small table, so that an old entry may be forgotten.
struct dnode_block_user_t {
    uint64_t block = ~0ull;
    uint32_t cpu = 0;
};

struct objset_t {
    objset_t(spa_t &spa, dsl_dataset_t &ds);
    ~objset_t();
    objset_t(const objset_t &) = delete;
    objset_t &operator=(const objset_t &) = delete;

    // immutable
    spa_t &os_spa;
    dmu_state_t &os_dmu;
    dsl_dataset_t *os_dsl_dataset;
    uint64_t os_id; // takes the part of the objset's address in dbuf_hash
    dnode_handle_t os_meta_dnode;
    // Of file systems that account for their owners' space; no dnodes elsewhere.
    dnode_handle_t os_userused_dnode, os_groupused_dnode;
    sa_os_t os_sa; // set when the file system is made or mounted

    // in the sync thread
    zio_root_t *os_sync_pio = nullptr; // of the sync under way
    blkptr_t os_rootbp;                // ds_bp as of the last sync
    block_ref os_phys_buf;             // the root block in memory
    objset_phys_t *os_phys = nullptr;
    // Held until their space has been accounted for; linked as they were on the dirty lists.
    per_txg<list_t<dnode_t>> os_synced_dnodes;

    kmutex_t os_lock{"os_lock"};
    // under os_lock:
    list_t<dnode_t> os_dnodes;
    per_txg<list_t<dnode_t>> os_free_dnodes; // freed in that txg; empty where the era has one list for both
    kcondvar_t os_evicted;                   // os_dnodes has become empty

    // under os_lock too, or under a lock of its own (dirty_list_lock):
    per_txg<list_t<dnode_t>> os_dirty_dnodes;
    kmutex_t os_dirty_lock{"os_dirty_lock"};

    // What guards os_dirty_dnodes in the code base in effect.
    kmutex_t &dirty_list_lock() { return freed_listed_apart ? os_lock : os_dirty_lock; }
    const bool freed_listed_apart;

    // Written by sync, read and cleared by the allocator.
    uint64_t os_freed_dnodes = 0;
    racy<bool> os_rescan_dnodes{false};

    kmutex_t os_obj_lock{"os_obj_lock"};
    // under os_obj_lock:
    uint64_t os_obj_next = 0;                        // one cursor: the last number tried, or the next (era)
    uint64_t os_obj_next_chunk = 0;                  // cursor per CPU: where the next chunk begins
    std::vector<atomic_uint64_t> os_obj_next_percpu; // the next number that CPU tries; changed without the lock

    object_names_t os_names; // for reports

    // For whoever wants to know how often one object is held: its number (0: of none), and the holds so far.
    uint64_t os_watched_object = 0;
    uint64_t os_watched_holds = 0;

    // A dnode of more than one slot has been seen: from then on each new one is checked against its neighbours.
    bool os_large_dnodes = false;

    dnode_stats_t stats;
    allocator_stats_t allocator;
    allocator_trace_t *allocator_trace = nullptr;
    const std::unique_ptr<visits_t> os_visits;
    std::array<dnode_block_user_t, 1024> last_block_user;
};

inline dnode_t &DMU_META_DNODE(objset_t &os)
{
    return *os.os_meta_dnode.dnh_dnode;
}
// The accounting dnode of that number, DMU_USERUSED_OBJECT or DMU_GROUPUSED_OBJECT; null where there is none.
inline dnode_t *dmu_objset_used_dnode(objset_t &os, uint64_t object)
{
    return (object == DMU_USERUSED_OBJECT ? os.os_userused_dnode : os.os_groupused_dnode).dnh_dnode;
}
inline bool DMU_OBJECT_IS_SPECIAL(uint64_t object)
{
    return static_cast<int64_t>(object) <= 0;
}

// A new objset in ds, dirty in tx's txg. REQUIRES: tx is the sync thread's own (dmu_tx_create_assigned).
std::unique_ptr<objset_t> dmu_objset_create_impl(spa_t &spa, dsl_dataset_t &ds, dmu_tx_t &tx);
// The objset that ds.ds_bp points at, read from disk.
std::unique_ptr<objset_t> dmu_objset_open_impl(spa_t &spa, dsl_dataset_t &ds);
// Makes a new, empty objset a file system's. REQUIRES: nothing else uses it yet.
void dmu_objset_make_file_system(objset_t &os);
// Throws away everything in memory. REQUIRES: nothing dirty, nothing held.
void dmu_objset_evict(std::unique_ptr<objset_t> os);
// Drops every dbuf that nobody uses.
void dmu_objset_evict_dbufs(objset_t &os);
bool dmu_objset_is_dirty(const objset_t &os, uint64_t txg);

// Writes everything dirty in tx's txg; the new root is in ds_bp when it returns. REQUIRES: in the sync thread; writes
// are issued under pio and may still be on their way.
void dmu_objset_sync(objset_t &os, zio_root_t &pio, dmu_tx_t &tx);

// ---- what owners use: objset_userused.cpp ----

inline bool dmu_objset_userused_enabled(const objset_t &os)
{
    return os.os_userused_dnode.dnh_dnode != nullptr;
}
// Finds out whose the dnode is: before the change that dirties it, or in the txg that is syncing.
// REQUIRES: dmu_objset_userused_enabled.
void dmu_objset_userquota_get_ids(dnode_t &dn, bool before, const dmu_tx_t &tx);
// The space of every dnode that this txg has synced is taken from its old owner and given to its new one. The objset is
// dirty again afterwards. REQUIRES: the txg's blocks are written; dmu_objset_userused_enabled.
void dmu_objset_do_userquota_updates(objset_t &os, dmu_tx_t &tx);

// ---- what the reports and checks read back from disk, at no simulated cost ----

// Fills of pointers in the order of block numbers, as runs of (fill, how many): an object may have any number, and what
// is before it is one run. Below a hole they count as 0.
using fill_runs_t = std::vector<std::pair<uint64_t, uint64_t>>;

struct fill_level_t {
    uint32_t level; // of the blocks pointed at
    fill_runs_t fills;
};
struct meta_dnode_report_t {
    std::vector<fill_level_t> levels; // from the top down to 1
    fill_runs_t level0;               // the same of the pointers to blocks of dnodes
    uint64_t level0_holes = 0;        // null pointers in level-1 blocks that exist
    uint64_t phys_maxblkid = 0;
    uint32_t phys_nlevels = 0;
    uint64_t used_objects = 0; // the root block's fill count
};
// Walks the synced tree. Recounted: every fill is computed from the blocks below instead of read from the pointer.
meta_dnode_report_t meta_dnode_report(const objset_t &os, bool recounted = false);

// Bytes by owner.
struct userused_report_t {
    std::map<uint32_t, uint64_t> users, groups;
    bool operator==(const userused_report_t &) const = default;
};
// What the synced dnodes come to.
userused_report_t userused_recounted(const objset_t &os);

// ---- what they read by the front door ----

// What the accounting ZAPs say. Takes their locks, reads their blocks and costs what that costs.
// REQUIRES: in a simulated thread that holds no lock, and the pool's threads run.
userused_report_t userused_report(objset_t &os);

} // namespace dmu
