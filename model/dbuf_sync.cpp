// Writing a txg's dirty dbufs: from the top of the tree down, and finished from the bottom up.
//
// dbuf_sync_list visits a parent before its children, so that the children find its buffer ready to be changed; the
// write of a parent is finished only after those below it, because each of them puts its new block pointer into the
// parent. A block of dnodes is kept back until its dnodes have been synced into it. Finishing is write_ready (the block
// pointer with its fill count), the write itself, and write_done (the old block is freed, the record goes).
//
// A block of dnodes with none in use and an indirect block with nothing but holes are not written: compression makes
// nothing of them, and their pointer becomes a hole that remembers when. Followed: OpenZFS 81285582b9, dbuf.c and
// zio.c.
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

// The block has been found a place when none pointed at it before. REQUIRES: db_mtx held; it may be dropped between.
void dbuf_check_blkptr(dnode_t &dn, dmu_buf_impl_t &db)
{
    if (db.db_blkptr != nullptr)
        return;
    if (db.db_level == dn.dn_phys->dn_nlevels - 1) {
        VERIFY(db.db_parent == nullptr || db.db_parent == dn.dn_dbuf);
        VERIFY3(db.db_blkid, <, uint64_t{dn.dn_phys->dn_nblkptr});
        db.db_parent = dn.dn_dbuf;
        db.db_blkptr = &dn.dn_phys->dn_blkptr[db.db_blkid];
        return;
    }
    const uint32_t epbs = dn.dn_phys->dn_indblkshift - SPA_BLKPTRSHIFT;
    if (db.db_parent == nullptr) {
        mutex_exit(db.db_mtx);
        dbuf_hold_t parent;
        {
            auto reader = rw_enter(dn.dn_struct_rwlock, RW_READER);
            parent = dbuf_hold_level(dn, db.db_level + 1, db.db_blkid >> epbs);
        }
        db.db_mtx.enter();
        db.db_parent = parent.keep(); // a child holds its parent
    }
    db.db_blkptr = db.db_parent->blkptrs() + (db.db_blkid & ((1ull << epbs) - 1));
}

// The record whose write waits for this one: of the parent block, or of the block the dnode lies in. Null: the objset's
// root, which is written last.
dbuf_dirty_record_t *write_parent(const dmu_buf_impl_t &db, const dnode_t &dn)
{
    if (db.db_parent != dn.dn_dbuf) {
        VERIFY(db.db_parent->db_data_pending != nullptr);
        return db.db_parent->db_data_pending;
    }
    return dn.dn_dbuf == nullptr ? nullptr : dn.dn_dbuf->db_data_pending;
}

// Begins a write. Blocks that only the sync thread changes leave the cache here, the others did when they were dirtied.
void dbuf_write(dbuf_dirty_record_t &dr, dnode_t &dn)
{
    Probe probe{Fn::dbuf_write};
    dmu_buf_impl_t &db = *dr.dr_dbuf;
    if ((db.db_level > 0 || is_meta_dnode(db)) && !BP_IS_HOLE(*db.db_blkptr))
        arc_release(db.db_objset->os_dmu, *db.db_buf);
    dr.dr_bp_orig = *db.db_blkptr;
    dr.dr_writing = true;
    if (dbuf_dirty_record_t *parent = write_parent(db, dn))
        ++parent->dr_children_pending;
}

uint64_t fill_below(const block &data, block_kind kind, bool *all_holes)
{
    uint64_t fill = 0;
    *all_holes = true;
    if (kind == block_kind::dnodes) {
        for (uint32_t i = 0; i < data.size >> DNODE_SHIFT; ++i)
            fill += data.dnodes()[i].dn_type != DMU_OT_NONE ? 1 : 0;
        *all_holes = fill == 0;
    } else if (kind == block_kind::indirect) {
        for (uint32_t i = 0; i < data.size >> SPA_BLKPTRSHIFT; ++i) {
            const blkptr_t &bp = data.blkptrs()[i];
            if (BP_IS_HOLE(bp))
                continue;
            *all_holes = false;
            fill += BP_GET_FILL(bp);
        }
    } else {
        fill = 1;
        *all_holes = false;
    }
    return fill;
}

// The new block pointer goes into the parent. Returns the bytes that the disk has to take.
uint64_t dbuf_write_ready(dbuf_dirty_record_t &dr, dnode_t &dn)
{
    Probe probe{Fn::dbuf_write_ready};
    dmu_buf_impl_t &db = *dr.dr_dbuf;
    objset_t &os = *db.db_objset;
    arc_buf_t &data = db.db_level > 0 ? *db.db_buf : *dr.dr_data;
    blkptr_t bp;

    {
        auto held = mutex_enter(db.db_mtx);
        if (db.db_level == 0) {
            auto dnode = mutex_enter(dn.dn_mtx);
            if (db.db_blkid > dn.dn_phys->dn_maxblkid)
                dn.dn_phys->dn_maxblkid = db.db_blkid;
        }
        bool all_holes = false;
        const uint64_t fill = fill_below(*data.b_data, data.b_data->kind, &all_holes);
        if (all_holes) {
            if (db.db_level > 0)
                std::memset(data.b_data->bytes(), 0, data.b_data->payload_bytes());
            if (dr.dr_bp_orig.blk_birth != 0) {
                bp.blk_lsize = db.db_size;
                bp.blk_level = db.db_level;
                bp.blk_type = dn.dn_type;
                bp.blk_birth = dr.dr_txg;
            }
        } else {
            bp.blk_dva = os.os_dmu.store.write(data.b_data);
            bp.blk_birth = dr.dr_txg;
            bp.blk_fill = fill;
            bp.blk_lsize = db.db_size;
            bp.blk_level = db.db_level;
            bp.blk_type = dn.dn_type;
        }
    }
    const int64_t before = BP_IS_HOLE(dr.dr_bp_orig) ? 0 : dr.dr_bp_orig.blk_lsize;
    const int64_t after = BP_IS_HOLE(bp) ? 0 : bp.blk_lsize;
    {
        auto held = mutex_enter(dn.dn_mtx);
        dn.dn_phys->dn_used += static_cast<uint64_t>(after - before);
    }

    auto writer = rw_enter(dn.dn_struct_rwlock, RW_WRITER);
    *db.db_blkptr = bp;
    return static_cast<uint64_t>(after);
}

// REQUIRES: write_ready was called.
void dbuf_write_done(dbuf_dirty_record_t *done)
{
    Probe probe{Fn::dbuf_write_done};
    std::unique_ptr<dbuf_dirty_record_t> dr(done);
    dmu_buf_impl_t &db = *dr->dr_dbuf;
    objset_t &os = *db.db_objset;
    const blkptr_t bp = *db.db_blkptr;

    dsl_block_kill(os, dr->dr_bp_orig);
    if (!BP_IS_HOLE(bp))
        dsl_dataset_block_born(*os.os_dsl_dataset, bp.blk_lsize);

    db.db_mtx.enter();
    dbuf_dirty_record_t **link = &db.db_last_dirty;
    while (*link != dr.get())
        link = &(*link)->dr_next;
    VERIFY(dr->dr_next == nullptr); // txgs are written in order
    *link = nullptr;

    arc_buf_t *data = db.db_level > 0 ? db.db_buf : dr->dr_data;
    arc_write_done(os.os_dmu, *data, bp.blk_dva, bp.blk_birth);
    if (db.db_level == 0 && data != db.db_buf)
        arc_buf_destroy(os.os_dmu, data);
    else if (db.db_level > 0)
        VERIFY(dr->di->dr_children.empty());
    cv_broadcast(db.db_changed);
    VERIFY(db.db_dirtycnt > 0);
    db.db_dirtycnt -= 1;
    db.db_data_pending = nullptr;
    kmem_free(sizeof(dbuf_dirty_record_t));
    dr.reset();
    dbuf_rele_and_unlock(db);
}

} // namespace

void dsl_block_kill(objset_t &os, const blkptr_t &bp)
{
    if (BP_IS_HOLE(bp))
        return;
    dsl_dataset_block_kill(*os.os_dsl_dataset, bp.blk_lsize);
    arc_freed(os.os_dmu, bp.blk_dva);
    os.os_dmu.store.free(bp.blk_dva);
}

// Nothing more will be written below this record: it is finished as soon as what is below is, and then perhaps its
// parent.
void dbuf_write_issue(dbuf_dirty_record_t *dr)
{
    dr->dr_issued = true;
    while (dr != nullptr && dr->dr_issued && dr->dr_children_pending == 0) {
        dmu_buf_impl_t &db = *dr->dr_dbuf;
        objset_t &os = *db.db_objset;
        dnode_t &dn = DB_DNODE(db); // cannot go while it is dirty
        dbuf_dirty_record_t *parent = write_parent(db, dn);
        const uint64_t bytes = dbuf_write_ready(*dr, dn);
        dsl_pool_t &dp = *os.os_spa.spa_dsl_pool;
        if (bytes > 0)
            dp.dp_vdev.zio_write(*os.os_sync_pio, bytes, dr->dr_accounted, dr->dr_txg);
        else
            dsl_pool_undirty_space(dp, dr->dr_accounted, dr->dr_txg);
        dbuf_write_done(dr);
        if (parent != nullptr) {
            VERIFY(parent->dr_children_pending > 0);
            --parent->dr_children_pending;
        }
        dr = parent;
    }
}

namespace {

void dbuf_sync_indirect(dbuf_dirty_record_t &dr, dmu_tx_t &tx)
{
    Probe probe{Fn::dbuf_sync_indirect};
    dmu_buf_impl_t &db = *dr.dr_dbuf;
    VERIFY(db.db_level > 0);

    db.db_mtx.enter();
    if (db.db_buf == nullptr) {
        mutex_exit(db.db_mtx);
        auto read = dbuf_read(db, DB_RF_MUST_SUCCEED);
        VERIFY(read.ok());
        db.db_mtx.enter();
    }
    VERIFY(db.db_state == DB_CACHED);
    auto owner = DB_DNODE_ENTER(db);
    dnode_t &dn = *owner;
    VERIFY3(db.db_size, ==, 1u << dn.dn_phys->dn_indblkshift);
    dbuf_check_blkptr(dn, db);
    owner.exit();
    db.db_data_pending = &dr;
    mutex_exit(db.db_mtx);

    dbuf_write(dr, dn);
    {
        auto children = mutex_enter(dr.di->dr_mtx);
        dbuf_sync_list(dr.di->dr_children, db.db_level - 1, tx);
        VERIFY(dr.di->dr_children.empty());
    }
    dbuf_write_issue(&dr);
}

// The bonus words are part of the dnode, which is written with its block.
void sync_bonus(dmu_buf_impl_t &db, dnode_t &dn, dbuf_dirty_record_t *done)
{
    std::unique_ptr<dbuf_dirty_record_t> dr(done);
    std::copy_n(dr->dr_bonus, DN_BONUS_WORDS, dn.dn_phys->dn_bonus);
    if (dr->dr_bonus != db.db_data)
        delete[] dr->dr_bonus;
    db.db_data_pending = nullptr;
    dbuf_dirty_record_t **link = &db.db_last_dirty;
    while (*link != dr.get())
        link = &(*link)->dr_next;
    VERIFY(dr->dr_next == nullptr);
    *link = nullptr;
    db.db_dirtycnt -= 1;
    kmem_free(sizeof(dbuf_dirty_record_t));
    dr.reset();
    dbuf_rele_and_unlock(db);
}

void dbuf_sync_leaf(dbuf_dirty_record_t &dr, dmu_tx_t &)
{
    Probe probe{Fn::dbuf_sync_leaf};
    dmu_buf_impl_t &db = *dr.dr_dbuf;
    dmu_state_t &dmu = db.db_objset->os_dmu;

    db.db_mtx.enter();
    auto owner = DB_DNODE_ENTER(db);
    dnode_t &dn = *owner;
    if (db.db_blkid == DMU_BONUS_BLKID) {
        owner.exit();
        sync_bonus(db, dn, &dr);
        return;
    }
    dbuf_check_blkptr(dn, db);
    // What is in use keeps its buffer; the copy is what this txg writes.
    if (!is_meta_dnode(db) && db.db_state != DB_NOFILL && db.db_holds.peek() > 1 && dr.dr_data == db.db_buf) {
        dr.dr_data = arc_buf_copy(dmu, *db.db_buf);
    }
    db.db_data_pending = &dr;
    mutex_exit(db.db_mtx);

    dbuf_write(dr, dn);
    owner.exit();
    if (is_meta_dnode(db))
        dnode_list_dirty_record(dn, dr); // until its dnodes are synced; dmu_objset_sync issues it
    else
        dbuf_write_issue(&dr);
}

} // namespace

void dbuf_sync_list(list_t<dbuf_dirty_record_t> &list, int level, dmu_tx_t &tx)
{
    while (dbuf_dirty_record_t *dr = list.head()) {
        if (dr->dr_writing)
            break; // a block of dnodes that was put back: the rest are those
        dmu_buf_impl_t &db = *dr->dr_dbuf;
        VERIFY(db.db_blkid == DMU_BONUS_BLKID || db.db_level == level);
        list.remove(dr);
        if (db.db_level > 0)
            dbuf_sync_indirect(*dr, tx);
        else
            dbuf_sync_leaf(*dr, tx);
    }
}

} // namespace dmu
