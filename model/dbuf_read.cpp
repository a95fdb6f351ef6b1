// Making a dbuf's contents readable.
//
// A block that nothing on disk stands for yet is made of zeroes. Every other one comes from the ARC or the disk, and
// whoever else wants it meanwhile waits on db_changed. Until 2019 a read entered dn_struct_rwlock even when the buffer
// was there already.
#include "model/dbuf_impl.h"
#include "model/dmu_zfetch.h"
#include "model/zio.h"

namespace dmu {

namespace {

// Children of a hole inherit what the hole knows of itself.
void fill_in_hole(dmu_buf_impl_t &db, const dnode_t &dn)
{
    const blkptr_t &hole = *db.db_blkptr;
    const uint32_t count = db.db_size >> SPA_BLKPTRSHIFT;
    for (uint32_t i = 0; i < count; ++i) {
        blkptr_t &bp = db.blkptrs()[i];
        bp.blk_lsize = hole.blk_level == 1 ? dn.dn_datablksz : hole.blk_lsize;
        bp.blk_type = hole.blk_type;
        bp.blk_level = static_cast<uint8_t>(hole.blk_level - 1);
        bp.blk_birth = hole.blk_birth;
    }
}

// REQUIRES: db_mtx held, DB_UNCACHED, dn_struct_rwlock held; db_mtx is not held afterwards.
void dbuf_read_impl(dmu_buf_impl_t &db, dnode_t &dn)
{
    Probe probe{Fn::dbuf_read_impl};
    objset_t &os = *db.db_objset;
    const auto owner = DB_DNODE_ENTER(db);
    VERIFY(db.db_state == DB_UNCACHED);
    VERIFY(db.db_buf == nullptr);

    if (db.db_blkid == DMU_BONUS_BLKID) {
        touch_fresh(DN_MAX_BONUSLEN);
        arc_space_consume(os.os_dmu, DN_MAX_BONUSLEN);
        auto *words = new uint64_t[DN_BONUS_WORDS]();
        if (dn.dn_bonuslen != 0 && dn.dn_phys->dn_bonuslen != 0)
            std::copy(std::begin(dn.dn_phys->dn_bonus), std::end(dn.dn_phys->dn_bonus), words);
        db.db_data = words;
        db.db_state = DB_CACHED;
        mutex_exit(db.db_mtx);
        return;
    }

    // The second look: the block may be freed while dnode_block_freed waits.
    if (db.db_blkptr == nullptr || BP_IS_HOLE(*db.db_blkptr) ||
        (db.db_level == 0 && (dnode_block_freed(dn, db.db_blkid) || BP_IS_HOLE(*db.db_blkptr)))) {
        if (db.db_level == 0)
            const auto asked = DB_DNODE_ENTER(db); // dbuf_is_metadata: what type is it?
        dbuf_set_data(db, dbuf_alloc_buf(db, dn));
        if (db.db_blkptr != nullptr && db.db_level > 0 && BP_IS_HOLE(*db.db_blkptr) && db.db_blkptr->blk_birth != 0)
            fill_in_hole(db, dn);
        db.db_state = DB_CACHED;
        mutex_exit(db.db_mtx);
        return;
    }

    db.db_state = DB_READ;
    const blkptr_t bp = *db.db_blkptr;
    mutex_exit(db.db_mtx);
    dbuf_add_ref(db);
    arc_buf_t *buf = arc_read(os.os_spa, bp, dbuf_block_kind(db, dn));

    db.db_mtx.enter();
    VERIFY(db.db_state == DB_READ);
    if (db.db_level == 0 && db.db_freed_in_flight) {
        arc_buf_destroy(os.os_dmu, buf);
        buf = dbuf_alloc_buf(db, dn);
        db.db_freed_in_flight = false;
    }
    dbuf_set_data(db, buf);
    db.db_state = DB_CACHED;
    cv_broadcast(db.db_changed);
    dbuf_rele_and_unlock(db);
}

} // namespace

Result<> dbuf_read(dmu_buf_impl_t &db, uint32_t flags)
{
    const era_t &era = db.db_objset->os_dmu.era;
    Probe probe{era.read_enters_struct_lock ? Fn::dbuf_read : Fn::dbuf_read_unlocked};
    VERIFY(db.db_holds.peek() > 0);
    if (db.db_state == DB_NOFILL)
        return SET_ERROR(EIO);
    auto owner = DB_DNODE_ENTER(db);
    dnode_t &dn = *owner;
    const bool prefetch = db.db_level == 0 && db.db_blkid != DMU_BONUS_BLKID && (flags & DB_RF_NOPREFETCH) == 0;
    bool enter_struct = (flags & DB_RF_HAVESTRUCT) == 0;
    dbuf_stats_t &stats = db.db_objset->os_dmu.dbuf_stats;
    const auto DBUF_STAT_BUMP = [&](kstat_named_t &counter) {
        if (db.db_objset->os_dmu.config.code.dbuf_cache)
            counter.atomic_add(1);
        else
            ++counter;
    };

    if (enter_struct && era.read_enters_struct_lock)
        rw_enter_manual(dn.dn_struct_rwlock, RW_READER);
    db.db_mtx.enter();

    if (db.db_state == DB_CACHED) {
        if ((flags & DB_RF_NO_DECRYPT) == 0 && db.db_buf != nullptr)
            count_calls(Fn::arc_get_compression, 1);
        mutex_exit(db.db_mtx);
        enter_struct = enter_struct && era.read_enters_struct_lock;
        if (prefetch)
            dmu_zfetch(dn, db.db_blkid, 1, true, enter_struct || (flags & DB_RF_HAVESTRUCT) != 0);
        DBUF_STAT_BUMP(stats.hash_hits);
    } else if (db.db_state == DB_UNCACHED) {
        if (enter_struct && !era.read_enters_struct_lock) {
            // Later code looks first and takes the lock only to read; the state may have changed when it has it.
            mutex_exit(db.db_mtx);
            rw_enter_manual(dn.dn_struct_rwlock, RW_READER);
            db.db_mtx.enter();
        }
        DBUF_STAT_BUMP(stats.hash_misses);
        if (db.db_state == DB_UNCACHED)
            dbuf_read_impl(db, dn);
        else
            mutex_exit(db.db_mtx);
        if (prefetch)
            dmu_zfetch(dn, db.db_blkid, 1, true, enter_struct || (flags & DB_RF_HAVESTRUCT) != 0);
    } else {
        mutex_exit(db.db_mtx);
        enter_struct = enter_struct && era.read_enters_struct_lock;
        if (prefetch)
            dmu_zfetch(dn, db.db_blkid, 1, true, enter_struct || (flags & DB_RF_HAVESTRUCT) != 0);
    }
    if (enter_struct)
        rw_exit(dn.dn_struct_rwlock);
    owner.exit();

    if (db.db_state == DB_CACHED || (flags & DB_RF_NEVERWAIT) != 0)
        return {};
    // Somebody else is reading or filling it.
    auto held = mutex_enter(db.db_mtx);
    while (db.db_state == DB_READ || db.db_state == DB_FILL)
        cv_wait(db.db_changed, db.db_mtx);
    if (db.db_state == DB_UNCACHED)
        return SET_ERROR(EIO);
    return {};
}

namespace {

// Whether there is anything to fetch: on disk, not freed, not in memory.
bool worth_fetching(dnode_t &dn, uint8_t level, uint64_t blkid)
{
    const dnode_phys_t &phys = *dn.dn_phys;
    const uint32_t shift = level * (dn.dn_indblkshift - SPA_BLKPTRSHIFT);
    if (blkid > dn.dn_maxblkid >> shift || (level == 0 && dnode_block_freed(dn, blkid)) || level >= phys.dn_nlevels ||
        phys.dn_nblkptr == 0)
        return false;
    if (phys.dn_maxblkid < blkid << shift)
        return false; // beyond what is on disk
    if (dmu_buf_impl_t *db = dbuf_find(*dn.dn_objset, dn.dn_object, level, blkid)) {
        mutex_exit(db->db_mtx);
        return false;
    }
    return true;
}

} // namespace

namespace {

// A block on its way, and where in its tree the reads have come to.
struct dbuf_prefetch_arg_t {
    spa_t &dpa_spa;
    dnode_t *dpa_dnode; // null once a read has gone to the disk: nothing keeps the dnode any more
    uint64_t dpa_blkid; // wanted
    uint8_t dpa_level;
    uint8_t dpa_curlevel; // being read
    uint32_t dpa_epbs;
    bool dpa_predictive;
};
using dbuf_prefetch_arg_ref = std::shared_ptr<dbuf_prefetch_arg_t>;

uint64_t blkid_at(const dbuf_prefetch_arg_t &dpa, uint8_t level)
{
    return dpa.dpa_blkid >> (dpa.dpa_epbs * (level - dpa.dpa_level));
}

// An indirect block that was in the ARC goes into the dbuf cache, too (since 2017).
void dbuf_prefetch_keep_indirect(const dbuf_prefetch_arg_t &dpa)
{
    dnode_t &dn = *dpa.dpa_dnode;
    if (!dn.dn_objset->os_dmu.config.code.dbuf_cache)
        return;
    if (dbuf_hold_t db = dbuf_hold_level(dn, dpa.dpa_curlevel, blkid_at(dpa, dpa.dpa_curlevel)))
        (void)dbuf_read(*db, DB_RF_MUST_SUCCEED | DB_RF_NOPREFETCH | DB_RF_HAVESTRUCT);
}

void dbuf_prefetch_step(const dbuf_prefetch_arg_ref &dpa, const blkptr_t &bp);

// An indirect block above the wanted one is there; bp: what it points at on the way down.
void dbuf_prefetch_indirect_done(const dbuf_prefetch_arg_ref &dpa, const blkptr_t &bp, bool from_disk)
{
    Probe probe{Fn::dbuf_prefetch_indirect_done};
    if (from_disk)
        dpa->dpa_dnode = nullptr;
    else if (dpa->dpa_dnode != nullptr)
        dbuf_prefetch_keep_indirect(*dpa);
    --dpa->dpa_curlevel;
    dbuf_prefetch_step(dpa, bp);
}

// bp: of the block at dpa_curlevel.
void dbuf_prefetch_step(const dbuf_prefetch_arg_ref &dpa, const blkptr_t &bp)
{
    const bool final_step = dpa->dpa_curlevel == dpa->dpa_level;
    if (final_step || BP_IS_HOLE(bp))
        kmem_free(sizeof(dbuf_prefetch_arg_t));
    if (BP_IS_HOLE(bp))
        return;
    if (final_step) {
        Probe probe{Fn::dbuf_issue_final_prefetch};
        arc_prefetch(dpa->dpa_spa, bp, {dpa->dpa_predictive, 0, nullptr});
        return;
    }
    const uint64_t mask = (1ull << dpa->dpa_epbs) - 1;
    const auto child = static_cast<uint32_t>(blkid_at(*dpa, dpa->dpa_curlevel - 1) & mask);
    arc_prefetch(dpa->dpa_spa, bp, {dpa->dpa_predictive, child, [dpa](const blkptr_t &below, bool from_disk) {
                                        dbuf_prefetch_indirect_done(dpa, below, from_disk);
                                    }});
}

} // namespace

void dbuf_prefetch(dnode_t &dn, uint8_t level, uint64_t blkid, prefetch_t why)
{
    Probe probe{Fn::dbuf_prefetch};
    if (!worth_fetching(dn, level, blkid))
        return;
    // The pointer nearest to the block that is in memory.
    const uint32_t epbs = dn.dn_phys->dn_indblkshift - SPA_BLKPTRSHIFT;
    const uint8_t nlevels = dn.dn_phys->dn_nlevels;
    uint8_t curlevel = level;
    uint64_t curblkid = blkid;
    blkptr_t bp;
    for (; curlevel < nlevels - 1; ++curlevel, curblkid >>= epbs) {
        if (auto parent = dbuf_hold_impl(dn, curlevel + 1, curblkid >> epbs, false, true)) {
            settle(); // sync may have changed it
            bp = (*parent)->blkptrs()[curblkid & ((1ull << epbs) - 1)];
            break;
        }
    }
    if (curlevel == nlevels - 1) {
        settle();
        VERIFY3(curblkid, <, dn.dn_phys->dn_nblkptr);
        bp = dn.dn_phys->dn_blkptr[curblkid];
    }
    if (BP_IS_HOLE(bp))
        return;
    zio_t pio;
    kmem_zalloc(sizeof(dbuf_prefetch_arg_t));
    dbuf_prefetch_step(std::make_shared<dbuf_prefetch_arg_t>(dbuf_prefetch_arg_t{
                           dn.dn_objset->os_spa, &dn, blkid, level, curlevel, epbs, why == prefetch_t::predictive}),
                       bp);
    pio.nowait();
}

Result<dbuf_hold_t> dmu_bonus_hold(objset_t &os, uint64_t object)
{
    Probe probe{Fn::dmu_bonus_hold};

    auto held = dnode_hold(os, object);
    if (!held)
        return SET_ERROR(held.error());
    dnode_t &dn = **held;

    auto guard = rw_enter(dn.dn_struct_rwlock, RW_READER);
    if (dn.dn_bonus == nullptr) {
        guard.exit();
        guard = rw_enter(dn.dn_struct_rwlock, RW_WRITER); // until it is held: an eviction may come along
        if (dn.dn_bonus == nullptr)
            dn.dn_bonus = dbuf_create(dn, 0, DMU_BONUS_BLKID, dn.dn_dbuf, nullptr);
    }
    dmu_buf_impl_t &db = *dn.dn_bonus;
    // The first hold of the bonus buffer holds the dnode; the last one gives it back.
    if (zfs_refcount_add(db.db_holds) == 1) {
        const bool added = dnode_add_ref(dn);
        VERIFY(added);
    }
    guard.exit();
    held->rele();
    dbuf_hold_t bonus(&db);
    if (auto read = dbuf_read(db, DB_RF_MUST_SUCCEED | DB_RF_NOPREFETCH); !read)
        return SET_ERROR(read.error());
    return bonus;
}

} // namespace dmu
