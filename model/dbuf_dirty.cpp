// Dirtying: a dbuf's change belongs to a txg, and so does its parent's, up to the dnode.
//
// A dirty record per dbuf and txg says what will be written. The first change of a block in a txg walks up: the parent
// is dirtied too, and the record hangs below the parent's. Data that an older txg has yet to write is copied first;
// blocks of dnodes and block pointers change in the sync thread only, so they need no copy. Followed: OpenZFS
// 81285582b9, dbuf.c.
#include "model/dbuf_impl.h"

#include <algorithm>
#include <cstring>

#include "model/dmu_tx.h"
#include "model/dsl_pool.h"
#include "model/spa.h"

namespace dmu {

namespace {

bool is_meta_dnode(const dmu_buf_impl_t &db)
{
    return db.db_object == DMU_META_DNODE_OBJECT;
}

// The record of an older txg still shows db_buf: give that record a copy, or, when nobody else looks at the dbuf, leave
// it the buffer and the dbuf none. REQUIRES: db_mtx held.
void dbuf_fix_old_data(dmu_buf_impl_t &db)
{
    dbuf_dirty_record_t *dr = db.db_last_dirty;
    if (dr == nullptr)
        return;
    dmu_state_t &dmu = db.db_objset->os_dmu;
    if (db.db_blkid == DMU_BONUS_BLKID) {
        if (dr->dr_bonus == db.db_data) {
            dr->dr_bonus = new uint64_t[DN_BONUS_WORDS];
            std::copy_n(static_cast<const uint64_t *>(db.db_data), DN_BONUS_WORDS, dr->dr_bonus);
        }
        return;
    }
    if (dr->dr_data != db.db_buf)
        return;
    if (db.db_holds.peek() > db.db_dirtycnt) {
        dr->dr_data = arc_buf_copy(dmu, *db.db_buf);
    } else {
        db.db_buf->b_user = nullptr;
        dbuf_clear_data(db);
    }
}

// A buffer that is dirty in this txg already. REQUIRES: db_mtx held.
void dbuf_redirty(const dmu_buf_impl_t &db)
{
    count_calls(Fn::dbuf_redirty, 1);
    if (db.db_level > 0 || db.db_blkid == DMU_BONUS_BLKID)
        return;
    count_calls(Fn::dbuf_unoverride, 1);
    if (!is_meta_dnode(db))
        count_calls(Fn::arc_buf_thaw, 1);
}

// What dirtying this block may free on disk, as an estimate. REQUIRES: db_mtx held.
bool dbuf_block_freeable(dmu_buf_impl_t &db)
{
    count_calls(Fn::dbuf_block_freeable, 1);
    uint64_t birth = 0;
    const bool hole = db.db_blkptr == nullptr || BP_IS_HOLE(*db.db_blkptr);
    if (db.db_last_dirty != nullptr && (db.db_blkptr == nullptr || !hole))
        birth = db.db_last_dirty->dr_txg;
    else if (!hole)
        birth = db.db_blkptr->blk_birth;
    const dsl_dataset_t *ds = db.db_objset->os_dsl_dataset;
    return birth != 0 && (ds == nullptr || dsl_dataset_block_freeable(*ds, nullptr, birth));
}

void list_in_dnode(dnode_t &dn, dbuf_dirty_record_t &dr)
{
    auto held = mutex_enter(dn.dn_mtx);
    dnode_list_dirty_record(dn, dr);
}

// Hangs a new record below the parent's, dirtying the parent first. REQUIRES: dn_struct_rwlock held as reader (reader
// not empty, dropped here) or as writer.
template <class Reader>
void list_below_parent(dmu_buf_impl_t &db, dnode_t &dn, dbuf_dirty_record_t &dr, dmu_tx_t &tx, Reader &reader)
{
    dmu_buf_impl_t *parent = db.db_parent;
    dbuf_hold_t found;
    if (parent == nullptr || parent == dn.dn_dbuf) {
        const uint32_t epbs = dn.dn_indblkshift - SPA_BLKPTRSHIFT;
        found = dbuf_hold_level(dn, db.db_level + 1, db.db_blkid >> epbs);
        parent = found.get();
        VERIFY(parent != nullptr);
    }
    reader.exit();
    VERIFY3(db.db_level + 1, ==, parent->db_level);
    dbuf_dirty_record_t *above = dbuf_dirty(*parent, tx);
    found.rele();

    auto held = mutex_enter(db.db_mtx);
    // dbuf_undirty may have taken the record away while the lock was free.
    if (db.db_last_dirty == &dr || is_meta_dnode(db)) {
        auto children = mutex_enter(above->di->dr_mtx);
        VERIFY3(above->dr_txg, ==, tx.tx_txg);
        above->di->dr_children.insert_tail(&dr);
        dr.dr_parent = above;
    }
}

} // namespace

dbuf_dirty_record_t::indirect_t::indirect_t() : dr_children(member_offset(&dbuf_dirty_record_t::dr_dirty_node)) {}

dbuf_dirty_record_t *dbuf_dirty(dmu_buf_impl_t &db, dmu_tx_t &tx)
{
    Probe probe{Fn::dbuf_dirty};
    VERIFY(tx.tx_txg != 0);
    VERIFY(db.db_holds.peek() > 0);

    auto owner = DB_DNODE_ENTER(db);
    dnode_t &dn = *owner;
    objset_t &os = *dn.dn_objset;
    const bool bonus = db.db_blkid == DMU_BONUS_BLKID;

    db.db_mtx.enter();
    {
        auto held = mutex_enter(dn.dn_mtx);
        if (dn.dn_dirtyctx == DN_UNDIRTIED && !BP_IS_HOLE(os.os_rootbp))
            dn.dn_dirtyctx = dmu_tx_is_syncing(tx) ? DN_DIRTY_SYNC : DN_DIRTY_OPEN;
    }

    dbuf_dirty_record_t **link = &db.db_last_dirty;
    while (*link != nullptr && (*link)->dr_txg > tx.tx_txg)
        link = &(*link)->dr_next;
    if (*link != nullptr && (*link)->dr_txg == tx.tx_txg) {
        owner.exit();
        dbuf_redirty(db);
        dbuf_dirty_record_t *known = *link;
        mutex_exit(db.db_mtx);
        return known;
    }

    Probe record_probe{Fn::dbuf_dirty_record};
    VERIFY3(dn.dn_nlevels, >, db.db_level);
    bool free_accounting = false;
    if (!bonus) {
        dnode_willuse_space(dn, db.db_size, tx);
        free_accounting = dbuf_block_freeable(db);
    }

    kmem_alloc(sizeof(dbuf_dirty_record_t));
    touch_fresh(dirty_record_bytes); // the sync thread gives it back, on a CPU of its own
    auto fresh = std::make_unique<dbuf_dirty_record_t>();
    dbuf_dirty_record_t &dr = *fresh;
    if (db.db_level > 0) {
        dr.di = std::make_unique<dbuf_dirty_record_t::indirect_t>();
    } else {
        if (db.db_state != DB_NOFILL && !is_meta_dnode(db)) {
            if (!bonus)
                arc_release(os.os_dmu, *db.db_buf);
            dbuf_fix_old_data(db);
        }
        if (bonus)
            dr.dr_bonus = static_cast<uint64_t *>(db.db_data);
        else
            dr.dr_data = db.db_buf;
    }
    if (!bonus && os.os_dsl_dataset != nullptr)
        dr.dr_accounted = db.db_size;
    dr.dr_dbuf = &db;
    dr.dr_txg = tx.tx_txg;
    dr.dr_next = *link;
    *link = fresh.release();

    if (db.db_level == 0 && !bonus) {
        // Dirtied after a free in the same txg: the block is wanted again.
        auto held = mutex_enter(dn.dn_mtx);
        dnode_unfree_block(dn, db.db_blkid, tx.tx_txg);
        db.db_freed_in_flight = false;
    }
    dbuf_add_ref(db);
    db.db_dirtycnt += 1;
    VERIFY3(db.db_dirtycnt, <=, TXG_CONCURRENT_STATES);
    mutex_exit(db.db_mtx);

    if (bonus) {
        list_in_dnode(dn, dr);
        dnode_setdirty(dn, tx);
        return &dr;
    }
    if (free_accounting) {
        const bool on_disk = db.db_blkptr != nullptr && !BP_IS_HOLE(*db.db_blkptr);
        const uint64_t willfree = on_disk ? bp_get_dsize(os.os_spa, *db.db_blkptr) : db.db_size;
        dnode_willuse_space(dn, -static_cast<int64_t>(willfree), tx);
    }

    struct_reader_t reader(dn);
    if (db.db_level == 0)
        dnode_new_blkid(dn, db.db_blkid, tx, reader.entered());
    if (db.db_level + 1 < dn.dn_nlevels) {
        list_below_parent(db, dn, dr, tx, reader);
    } else {
        VERIFY3(db.db_blkid, <, uint64_t{dn.dn_nblkptr});
        list_in_dnode(dn, dr);
        reader.exit();
    }
    dnode_setdirty(dn, tx);
    return &dr;
}

bool dbuf_undirty(dmu_buf_impl_t &db, dmu_tx_t &tx)
{
    Probe probe{Fn::dbuf_undirty};
    VERIFY(db.db_mtx.owned());
    VERIFY(db.db_blkid != DMU_BONUS_BLKID);
    VERIFY(db.db_level == 0);

    dbuf_dirty_record_t **link = &db.db_last_dirty;
    while (*link != nullptr && (*link)->dr_txg > tx.tx_txg)
        link = &(*link)->dr_next;
    if (*link == nullptr || (*link)->dr_txg < tx.tx_txg)
        return false;
    std::unique_ptr<dbuf_dirty_record_t> dr(*link);
    dmu_state_t &dmu = db.db_objset->os_dmu;

    auto owner = DB_DNODE_ENTER(db);
    dnode_t &dn = *owner;
    dsl_pool_undirty_space(*db.db_objset->os_spa.spa_dsl_pool, dr->dr_accounted, tx.tx_txg);
    *link = dr->dr_next;
    if (dr->dr_parent != nullptr) {
        auto children = mutex_enter(dr->dr_parent->di->dr_mtx);
        dr->dr_parent->di->dr_children.remove(dr.get());
    } else if (db.db_level + 1 == dn.dn_nlevels) {
        auto held = mutex_enter(dn.dn_mtx);
        dn.dn_dirty_records[tx.tx_txg & TXG_MASK]->remove(dr.get());
    }
    owner.exit();

    count_calls(Fn::dbuf_unoverride, 1);
    if (db.db_state != DB_NOFILL && dr->dr_data != db.db_buf)
        arc_buf_destroy(dmu, dr->dr_data);
    kmem_free(sizeof(dbuf_dirty_record_t));
    dr.reset();

    VERIFY(db.db_dirtycnt > 0);
    db.db_dirtycnt -= 1;
    if (zfs_refcount_remove(db.db_holds) != 0)
        return false;
    count_calls(Fn::arc_buf_remove_ref, 1);
    count_calls(Fn::dbuf_evict, 1);
    dbuf_destroy(db);
    return true;
}

void dmu_buf_will_dirty(dmu_buf_impl_t &db, dmu_tx_t &tx)
{
    Probe probe{Fn::dmu_buf_will_dirty};
    VERIFY(tx.tx_txg != 0);
    {
        // Most blocks that are dirtied are dirty already.
        auto held = mutex_enter(db.db_mtx);
        for (dbuf_dirty_record_t *dr = db.db_last_dirty; dr != nullptr && dr->dr_txg >= tx.tx_txg; dr = dr->dr_next)
            if (dr->dr_txg == tx.tx_txg && db.db_state == DB_CACHED) {
                dbuf_redirty(db);
                return;
            }
    }
    uint32_t flags = DB_RF_MUST_SUCCEED | DB_RF_NOPREFETCH;
    {
        auto owner = DB_DNODE_ENTER(db);
        if (RW_WRITE_HELD(owner->dn_struct_rwlock))
            flags |= DB_RF_HAVESTRUCT;
    }
    auto read = dbuf_read(db, flags);
    VERIFY(read.ok());
    dbuf_dirty(db, tx);
}

void dmu_buf_will_fill(dmu_buf_impl_t &db, dmu_tx_t &tx)
{
    Probe probe{Fn::dmu_buf_will_fill};
    VERIFY(db.db_level == 0);
    VERIFY(db.db_blkid != DMU_BONUS_BLKID);
    {
        auto held = mutex_enter(db.db_mtx);
        while (db.db_state == DB_READ || db.db_state == DB_FILL)
            cv_wait(db.db_changed, db.db_mtx);
        if (db.db_state == DB_UNCACHED) {
            auto owner = DB_DNODE_ENTER(db);
            dbuf_set_data(db, dbuf_alloc_buf(db, *owner));
            db.db_state = DB_FILL;
        }
    }
    dbuf_dirty(db, tx);
}

void dmu_buf_fill_done(dmu_buf_impl_t &db, dmu_tx_t &)
{
    auto held = mutex_enter(db.db_mtx);
    if (db.db_state != DB_FILL)
        return;
    if (db.db_freed_in_flight) {
        std::memset(db.db_data, 0, db.db_buf->b_data->payload_bytes());
        db.db_freed_in_flight = false;
    }
    db.db_state = DB_CACHED;
    cv_broadcast(db.db_changed);
}

void dbuf_new_size(dmu_buf_impl_t &db, uint32_t size, dmu_tx_t &tx)
{
    Probe probe{Fn::dbuf_new_size};
    VERIFY(db.db_blkid != DMU_BONUS_BLKID);
    const int64_t growth = int64_t{size} - int64_t{db.db_size};

    auto owner = DB_DNODE_ENTER(db);
    dnode_t &dn = *owner;
    VERIFY(RW_WRITE_HELD(dn.dn_struct_rwlock));
    dmu_buf_will_dirty(db, tx);

    dmu_state_t &dmu = db.db_objset->os_dmu;
    if (db.db_level == 0)
        const auto asked = DB_DNODE_ENTER(db); // dbuf_is_metadata: what type is it?
    arc_buf_t *fresh = arc_buf_alloc(dmu, db.db_buf->b_data->kind, db.db_buf->b_type, size);
    const size_t kept = std::min(fresh->b_data->payload_bytes(), db.db_buf->b_data->payload_bytes());
    std::memcpy(fresh->b_data->bytes(), db.db_buf->b_data->bytes(), kept);
    {
        auto held = mutex_enter(db.db_mtx);
        arc_buf_t *old = db.db_buf;
        dbuf_set_data(db, fresh);
        db.db_size = size;
        if (db.db_level == 0) {
            VERIFY3(db.db_last_dirty->dr_txg, ==, tx.tx_txg);
            db.db_last_dirty->dr_data = fresh;
        }
        count_calls(Fn::arc_buf_remove_ref, 1);
        arc_buf_destroy(dmu, old);
    }
    dnode_willuse_space(dn, growth, tx);
}

void dbuf_free_range(dnode_t &dn, uint64_t start_blkid, uint64_t end_blkid, dmu_tx_t &tx)
{
    Probe probe{Fn::dbuf_free_range};
    dmu_state_t &dmu = dn.dn_objset->os_dmu;
    if (end_blkid > dn.dn_maxblkid)
        end_blkid = dn.dn_maxblkid;

    kmem_alloc(sizeof(dmu_buf_impl_t)); // the real code looks a dbuf up by example
    auto listing = mutex_enter(dn.dn_dbufs_mtx);
    if (dn.dn_dbufs != nullptr && start_blkid < dn.dn_unlisted_l0_blkid) {
        dmu_buf_impl_t example;
        example.db_level = 0;
        example.db_blkid = start_blkid;
        for (auto at = dn.dn_dbufs->lower_bound(&example); at != dn.dn_dbufs->end();) {
            dmu_buf_impl_t &db = **at++;
            if (db.db_level != 0 || db.db_blkid > end_blkid)
                break;
            auto held = mutex_enter(db.db_mtx);
            if (dbuf_undirty(db, tx)) {
                held.release();
                continue;
            }
            if (db.db_state == DB_UNCACHED || db.db_state == DB_NOFILL || db.db_state == DB_EVICTING)
                continue;
            if (db.db_state == DB_READ || db.db_state == DB_FILL) {
                db.db_freed_in_flight = true; // whoever reads or fills it will see
                continue;
            }
            if (db.db_holds.peek() == 0) {
                held.release();
                dbuf_destroy(db);
                continue;
            }
            if (dbuf_dirty_record_t *dr = db.db_last_dirty) {
                if (dr->dr_txg != tx.tx_txg)
                    dbuf_fix_old_data(db);
                else if (db.db_blkid > dn.dn_maxblkid)
                    dn.dn_maxblkid = db.db_blkid;
            }
            if (db.db_state == DB_CACHED) {
                arc_release(dmu, *db.db_buf);
                std::memset(db.db_data, 0, db.db_buf->b_data->payload_bytes());
            }
        }
    }
    kmem_free(sizeof(dmu_buf_impl_t));
}

} // namespace dmu
