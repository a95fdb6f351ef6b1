// Holding, making and destroying dbufs.
//
// Followed: OpenZFS 81285582b9 (2016-05). Since then dbuf_clear and dbuf_destroy have become one function (d3c2ae1c08),
// which is what stands here: it takes the same locks in the same order.
#include "model/dbuf_impl.h"

#include <algorithm>
#include <tuple>

namespace dmu {

dnode_t &DB_DNODE(const dmu_buf_impl_t &db)
{
    return *db.db_dnode_handle->dnh_dnode;
}

uint64_t dbuf_whichblock(const dnode_t &dn, uint32_t level, uint64_t offset)
{
    if (dn.dn_datablkshift == 0 || dn.dn_indblkshift == 0) {
        VERIFY3(offset, <, dn.dn_datablksz);
        return 0;
    }
    // Each level holds 2^(indblkshift - SPA_BLKPTRSHIFT) times as much as the one below.
    const uint32_t shift = dn.dn_datablkshift + level * (dn.dn_indblkshift - SPA_BLKPTRSHIFT);
    return shift < 64 ? offset >> shift : 0;
}

block_kind dbuf_block_kind(const dmu_buf_impl_t &db, const dnode_t &dn)
{
    if (db.db_level > 0)
        return block_kind::indirect;
    if (dn.dn_type == DMU_OT_DNODE)
        return block_kind::dnodes;
    return dn.dn_type == DMU_OT_PLAIN_FILE_CONTENTS ? block_kind::opaque : block_kind::bytes;
}

arc_buf_contents_t dbuf_buf_type(const dmu_buf_impl_t &db, const dnode_t &dn)
{
    const bool data =
        db.db_level == 0 && (dn.dn_type == DMU_OT_PLAIN_FILE_CONTENTS || dn.dn_type == DMU_OT_UINT64_OTHER);
    return data ? arc_buf_contents_t::data : arc_buf_contents_t::metadata;
}

arc_buf_t *dbuf_alloc_buf(const dmu_buf_impl_t &db, const dnode_t &dn)
{
    return arc_buf_alloc(db.db_objset->os_dmu, dbuf_block_kind(db, dn), dbuf_buf_type(db, dn), db.db_size);
}

void dbuf_set_data(dmu_buf_impl_t &db, arc_buf_t *buf)
{
    db.db_buf = buf;
    db.db_data = buf->b_data->bytes();
    buf->b_user = &db;
    if (!db.db_objset->os_dmu.config.code.dbuf_cache)
        std::ignore =
            arc_released(db.db_objset->os_dmu, *buf); // one that can be found again may be evicted under its dbuf
}

void dbuf_clear_data(dmu_buf_impl_t &db)
{
    dbuf_evict_user(db);
    db.db_buf = nullptr;
    db.db_data = nullptr;
    if (db.db_state != DB_NOFILL)
        db.db_state = DB_UNCACHED;
}

Result<dbuf_place_t> dbuf_findbp(dnode_t &dn, uint8_t level, uint64_t blkid, bool fail_sparse, uint32_t depth)
{
    Probe probe{Fn::dbuf_findbp};

    dmu_state_t &dmu = dn.dn_objset->os_dmu;
    const dnode_phys_t &phys = *dn.dn_phys;
    const uint32_t nlevels = phys.dn_nlevels == 0 ? 1 : phys.dn_nlevels;
    const uint32_t epbs = dn.dn_indblkshift - SPA_BLKPTRSHIFT;
    dbuf_place_t place;

    if (level >= nlevels)
        return SET_ERROR(ENOENT);
    // Until 2016 a block beyond the object's end on disk had no place; later only readers are told so.
    const bool beyond_end = blkid > phys.dn_maxblkid >> (level * epbs);
    if (beyond_end && (fail_sparse || !dmu.era.parent_beyond_end))
        return SET_ERROR(ENOENT);
    const uint32_t room_shift = (nlevels - level - 1) * epbs;
    if (dmu.era.parent_beyond_end && room_shift < 62 && blkid >= uint64_t{phys.dn_nblkptr} << room_shift)
        return SET_ERROR(ENOENT);

    if (level == nlevels - 1) {
        VERIFY(phys.dn_nblkptr == 0 || blkid < phys.dn_nblkptr);
        if (dn.dn_dbuf != nullptr) {
            dbuf_add_ref(*dn.dn_dbuf);
            place.parent = dbuf_hold_t(dn.dn_dbuf);
        }
        place.bp = &dn.dn_phys->dn_blkptr[blkid];
        return place;
    }

    auto parent = dmu.variants.dbuf_hold->hold_parent(dn, level + 1, blkid >> epbs, fail_sparse, depth + 1);
    if (!parent)
        return SET_ERROR(parent.error());
    place.parent = std::move(*parent);
    if (auto read = dbuf_read(*place.parent, DB_RF_HAVESTRUCT | DB_RF_NOPREFETCH | DB_RF_CANFAIL); !read)
        return SET_ERROR(read.error());
    place.bp = place.parent->blkptrs() + (blkid & ((1ull << epbs) - 1));
    return place;
}

dmu_buf_impl_t *dbuf_create(dnode_t &dn, uint8_t level, uint64_t blkid, dmu_buf_impl_t *parent, blkptr_t *blkptr)
{
    Probe probe{Fn::dbuf_create};
    kmem_alloc(sizeof(dmu_buf_impl_t));
    touch_fresh(dbuf_bytes);

    auto fresh = std::make_unique<dmu_buf_impl_t>();
    dmu_buf_impl_t &db = *fresh;
    db.db_objset = dn.dn_objset;
    db.db_object = dn.dn_object;
    db.db_level = level;
    db.db_blkid = blkid;
    db.db_dnode_handle = dn.dn_handle;
    db.db_parent = parent;
    db.db_blkptr = blkptr;

    if (blkid == DMU_BONUS_BLKID) {
        VERIFY(parent == dn.dn_dbuf);
        db.db_size = DN_MAX_BONUSLEN - (dn.dn_nblkptr - 1) * (1u << SPA_BLKPTRSHIFT);
        arc_space_consume(dn.dn_objset->os_dmu, dbuf_bytes);
        return fresh.release(); // a bonus buffer is found through its dnode only
    }
    db.db_hash = dbuf_hash(dn.dn_objset->os_id, dn.dn_object, level, blkid);
    db.db_size = level > 0 ? 1u << dn.dn_indblkshift : dn.dn_datablksz;

    {
        // In the table and among its dnode's dbufs at once: who finds it in the one may look for it in the other.
        auto listing = mutex_enter(dn.dn_dbufs_mtx);
        db.db_state = DB_EVICTING;
        if (dmu_buf_impl_t *first = dbuf_hash_insert(db)) {
            kmem_free(sizeof(dmu_buf_impl_t));
            ++dn.dn_objset->os_dmu.dbuf_stats.hash_insert_race;
            return first;
        }
        if (dn.dn_dbufs == nullptr)
            dn.dn_dbufs = std::make_unique<dbuf_set>();
        dn.dn_dbufs->insert(&db);
        if (level == 0 && blkid >= dn.dn_unlisted_l0_blkid)
            dn.dn_unlisted_l0_blkid = blkid + 1;
        db.db_state = DB_UNCACHED;
    }
    arc_space_consume(dn.dn_objset->os_dmu, dbuf_bytes);

    if (parent != nullptr && parent != dn.dn_dbuf)
        dbuf_add_ref(*parent);
    VERIFY(DMU_OBJECT_IS_SPECIAL(dn.dn_object) || dn.dn_holds.peek() > 0);
    zfs_refcount_add(dn.dn_holds);
    return fresh.release();
}

void dbuf_destroy(dmu_buf_impl_t &db)
{
    Probe probe{Fn::dbuf_destroy};
    dmu_state_t &dmu = db.db_objset->os_dmu;
    dmu_buf_impl_t *parent = db.db_parent;

    VERIFY(db.db_mtx.owned());
    VERIFY(db.db_holds.peek() == 0);
    VERIFY(db.db_data_pending == nullptr);
    VERIFY(db.db_last_dirty == nullptr);

    if (arc_buf_t *buf = db.db_buf) {
        dbuf_clear_data(db);
        arc_buf_destroy(dmu, buf);
    } else if (db.db_blkid == DMU_BONUS_BLKID && db.db_data != nullptr) {
        delete[] static_cast<uint64_t *>(db.db_data);
        arc_space_return(dmu, DN_MAX_BONUSLEN);
    }
    dbuf_clear_data(db);
    if (list_link_active(db.db_cache_link))
        dbuf_cache_remove(dmu, db);
    // From here on nobody finds it.
    db.db_state = DB_EVICTING;
    db.db_blkptr = nullptr;
    mutex_exit(db.db_mtx);

    if (db.db_blkid != DMU_BONUS_BLKID) {
        auto owner = DB_DNODE_ENTER(db);
        dnode_t &dn = *owner;
        if (parent == dn.dn_dbuf)
            parent = nullptr; // the dnode holds its own block
        const bool listed = dn.dn_dbufs_mtx.owned();
        if (!listed && !dmu.config.code.dbuf_cache)
            const auto cleared = DB_DNODE_ENTER(db); // dbuf_clear asks first whether it may take it off the list
        if (!listed)
            dn.dn_dbufs_mtx.enter();
        auto [at, end] = dn.dn_dbufs->equal_range(&db);
        at = std::find(at, end, &db);
        VERIFY(at != end);
        dn.dn_dbufs->erase(at);
        owner.exit();
        if (!listed)
            mutex_exit(dn.dn_dbufs_mtx);
        dnode_rele(dn);
        db.db_dnode_handle = nullptr;
        dbuf_hash_remove(db);
    } else {
        parent = nullptr;
    }

    kmem_free(sizeof(dmu_buf_impl_t));
    arc_space_return(dmu, dbuf_bytes);
    delete &db;
    if (parent == nullptr)
        return;
    if (!dmu.config.code.dbuf_cache) {
        dbuf_rele(*parent);
        return;
    }
    parent->db_mtx.enter();
    dbuf_rele_and_unlock(*parent, true);
}

void dbuf_hold_found(dnode_t &dn, dmu_buf_impl_t &db)
{
    dmu_state_t &dmu = db.db_objset->os_dmu;

    if (db.db_buf != nullptr) {
        // Without a dbuf cache the first holder takes the buffer up again, which is an access too.
        if (!dmu.config.code.dbuf_cache && db.db_holds.peek() == 0)
            arc_buf_add_ref(dmu, *db.db_buf, &db);
        else if (dmu.config.code.arc_buf_access)
            arc_buf_access(dmu, *db.db_buf);
        // What is being written must not change below the writer, should the holder dirty it again in this txg.
        dbuf_dirty_record_t *writing = db.db_data_pending;
        if (writing != nullptr && db.db_level == 0 && !DMU_OBJECT_IS_SPECIAL(dn.dn_object) &&
            db.db_state == DB_CACHED && writing->dr_data == db.db_buf) {
            arc_buf_t *copy = arc_buf_copy(dmu, *db.db_buf);
            db.db_buf->b_user = nullptr;
            dbuf_set_data(db, copy);
        }
    }
    if (dmu.config.code.dbuf_cache)
        count_calls(Fn::multilist_link_active, 1);
    if (list_link_active(db.db_cache_link)) {
        VERIFY(db.db_holds.peek() == 0);
        dbuf_cache_remove(dmu, db);
    }
    zfs_refcount_add(db.db_holds);
    mutex_exit(db.db_mtx);
}

static inline Result<dbuf_hold_t> hold_as_chosen(dnode_t &dn, uint8_t level, uint64_t blkid, bool fail_sparse,
                                                 bool fail_uncached)
{
    return dn.dn_objset->os_dmu.variants.dbuf_hold->hold(dn, level, blkid, fail_sparse, fail_uncached);
}

Result<dbuf_hold_t> dbuf_hold_absent(dnode_t &dn, uint8_t level, uint64_t blkid, bool fail_sparse, uint32_t depth)
{
    auto place = dbuf_findbp(dn, level, blkid, fail_sparse, depth);
    if (!place && (fail_sparse || place.error() != ENOENT))
        return SET_ERROR(place.error());
    dbuf_hold_t parent;
    blkptr_t *bp = nullptr;
    if (place) {
        parent = std::move(place->parent);
        bp = place->bp;
    }
    if (fail_sparse && bp != nullptr && BP_IS_HOLE(*bp))
        return SET_ERROR(ENOENT);
    dmu_buf_impl_t *db = dbuf_create(dn, level, blkid, parent.get(), bp);
    dbuf_hold_found(dn, *db);
    parent.rele(); // not before db_mtx is free
    return dbuf_hold_t(db);
}

Result<dbuf_hold_t> dbuf_hold_impl(dnode_t &dn, uint8_t level, uint64_t blkid, bool fail_sparse, bool fail_uncached)
{
    return hold_as_chosen(dn, level, blkid, fail_sparse, fail_uncached);
}

static inline dbuf_hold_t hold_level(dnode_t &dn, uint8_t level, uint64_t blkid)
{
    Probe probe{Fn::dbuf_hold_level_frame};
    return hold_as_chosen(dn, level, blkid, false, false).take_or({});
}

dbuf_hold_t dbuf_hold(dnode_t &dn, uint64_t blkid)
{
    Probe probe{Fn::dbuf_hold};
    return hold_level(dn, 0, blkid);
}

dbuf_hold_t dbuf_hold_level(dnode_t &dn, uint8_t level, uint64_t blkid)
{
    return hold_level(dn, level, blkid);
}

void dbuf_add_ref(dmu_buf_impl_t &db)
{
    count_calls(Fn::dbuf_add_ref, 1);
    const uint64_t holds = zfs_refcount_add(db.db_holds);
    VERIFY3(holds, >, 1u);
}

uint64_t dbuf_refcount(const dmu_buf_impl_t &db)
{
    return db.db_holds.peek();
}

void dbuf_rele(dmu_buf_impl_t &db)
{
    Probe probe{Fn::dbuf_rele};
    db.db_mtx.enter();
    if (!db.db_objset->os_dmu.era.slots_by_handle) {
        dbuf_rele_and_unlock(db);
        return;
    }
    Probe unlock_probe{Fn::dbuf_rele_and_unlock};
    dbuf_rele_and_unlock(db);
}

void dbuf_rele_and_unlock(dmu_buf_impl_t &db, bool evicting)
{
    VERIFY(db.db_holds.peek() > 0);
    const uint64_t holds = zfs_refcount_remove(db.db_holds);
    dmu_state_t &dmu = db.db_objset->os_dmu;

    if (dmu.config.code.dbuf_cache && db.db_buf != nullptr && holds == (db.db_level == 0 ? db.db_dirtycnt : 0))
        count_calls(Fn::arc_buf_freeze, 1);

    if (holds == db.db_dirtycnt && db.db_level == 0 && db.db_user_immediate_evict)
        dbuf_evict_user(db);
    if (holds != 0) {
        mutex_exit(db.db_mtx);
        return;
    }

    if (db.db_blkid == DMU_BONUS_BLKID) {
        auto owner = DB_DNODE_ENTER(db);
        dnode_t &dn = *owner;
        const bool evict = db.db_pending_evict;
        owner.exit();
        mutex_exit(db.db_mtx);
        if (evict)
            dnode_evict_bonus(dn);
        dnode_rele(dn);
    } else if (db.db_buf == nullptr || arc_released(dmu, *db.db_buf)) {
        if (!dmu.config.code.dbuf_cache) {
            count_calls(Fn::dbuf_evict, 1);
            if (db.db_buf != nullptr)
                count_calls(Fn::arc_buf_remove_ref, 1);
        }
        dbuf_destroy(db); // it shows nothing that could be found again
    } else if (!dmu.config.code.dbuf_cache) {
        arc_buf_remove_ref(dmu, *db.db_buf);
        if (db.db_pending_evict)
            dbuf_destroy(db);
        else
            mutex_exit(db.db_mtx);
    } else if (db.db_pending_evict) {
        dbuf_destroy(db);
    } else {
        dbuf_cache_insert(dmu, db, evicting);
    }
}

void dbuf_evict_user(dmu_buf_impl_t &db)
{
    delete std::exchange(db.db_user, nullptr);
}

dmu_buf_user_t *dmu_buf_set_user(dmu_buf_impl_t &db, dmu_buf_user_t *user)
{
    count_calls(Fn::dmu_buf_set_user, 1);
    auto held = mutex_enter(db.db_mtx);
    dmu_buf_user_t *before = db.db_user;
    if (before == nullptr)
        db.db_user = user;
    return before;
}

dmu_buf_user_t *dmu_buf_remove_user(dmu_buf_impl_t &db, dmu_buf_user_t *user)
{
    auto held = mutex_enter(db.db_mtx);
    dmu_buf_user_t *before = db.db_user;
    if (before == user)
        db.db_user = nullptr;
    return before;
}

} // namespace dmu
