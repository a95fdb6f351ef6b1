// Making, allocating, freeing and dirtying dnodes.
//
// Followed: OpenZFS 81285582b9 (2016-05), dnode.c.
#include "model/dnode.h"

#include <algorithm>
#include <bit>

#include "model/dbuf_impl.h"
#include "model/dmu_tx.h"
#include "model/dnode_impl.h"
#include "model/dsl_pool.h"
#include "model/objset.h"
#include "model/spa.h"
#include "model/variants/variants.h"

namespace dmu {

namespace {

void dnode_setdblksz(dnode_t &dn, uint32_t size)
{
    VERIFY3(size, >=, 1u << SPA_MINBLOCKSHIFT);
    VERIFY(size % (1u << SPA_MINBLOCKSHIFT) == 0);
    dn.dn_datablksz = size;
    dn.dn_datablkszsec = static_cast<uint16_t>(size >> SPA_MINBLOCKSHIFT);
    dn.dn_datablkshift = std::has_single_bit(size) ? static_cast<uint8_t>(std::bit_width(size) - 1) : 0;
}

// referenced: the caller has a reference of the slot's zrlock, which goes with the dnode.
void dnode_destroy(dnode_t &dn, bool referenced = true)
{
    Probe probe{Fn::dnode_destroy};
    objset_t &os = *dn.dn_objset;
    dnode_handle_t &dnh = *dn.dn_handle;
    VERIFY(dn.dn_holds.peek() == 0);
    VERIFY(dn.dn_tx_holds.peek() == 0);
    VERIFY((dn.dn_id_flags & DN_ID_NEW_EXIST) == 0);
    for (const list_node_t &link : dn.dn_dirty_link)
        VERIFY(!list_link_active(link)); // neither dirty nor to be accounted for

    if (!DMU_OBJECT_IS_SPECIAL(dn.dn_object)) {
        auto held = mutex_enter(os.os_lock);
        os.os_dnodes.remove(&dn);
        if (os.os_dnodes.empty())
            cv_broadcast(os.os_evicted);
    }
    if (referenced)
        zrl_remove(dnh.dnh_zrlock);
    if (dn.dn_bonus != nullptr) {
        dn.dn_bonus->db_mtx.enter();
        dbuf_destroy(*std::exchange(dn.dn_bonus, nullptr));
    }
    kmem_free(sizeof(dnode_t));
    arc_space_return(os.os_dmu, dnode_bytes);
    ++os.stats.dnode_destroy;
    delete &dn;
}

} // namespace

dnode_t *dnode_create(objset_t &os, dnode_phys_t &dnp, dmu_buf_impl_t *db, uint64_t object, dnode_handle_t &dnh)
{
    Probe probe{Fn::dnode_create};
    kmem_alloc(sizeof(dnode_t));
    touch_fresh(dnode_bytes);
    touch_fresh(cache_line_bytes); // the slot in its block

    auto fresh = std::make_unique_for_overwrite<dnode_t>(); // each member has its initializer
    os.os_dmu.variants.struct_lock->prepare(fresh->dn_struct_rwlock);
    dnode_t &dn = *fresh;
    dn.dn_object = object;
    dn.dn_dbuf = db;
    dn.dn_handle = &dnh;
    dn.dn_phys = &dnp;
    if (dnp.dn_datablkszsec != 0)
        dnode_setdblksz(dn, uint32_t{dnp.dn_datablkszsec} << SPA_MINBLOCKSHIFT);
    dn.dn_indblkshift = dnp.dn_indblkshift;
    dn.dn_nlevels = dnp.dn_nlevels;
    dn.dn_type = static_cast<dmu_object_type_t>(dnp.dn_type);
    dn.dn_num_slots = static_cast<uint8_t>(DNODE_MIN_SLOTS + dnp.dn_extra_slots);
    dn.dn_nblkptr = dnp.dn_nblkptr;
    dn.dn_bonustype = static_cast<dmu_object_type_t>(dnp.dn_bonustype);
    dn.dn_bonuslen = dnp.dn_bonuslen;
    dn.dn_maxblkid = dnp.dn_maxblkid;
    dn.dn_objset = &os;

    auto held = mutex_enter(os.os_lock);
    if (dnh.dnh_dnode != nullptr) {
        kmem_free(sizeof(dnode_t));
        return dnh.dnh_dnode; // somebody was faster
    }
    if (!DMU_OBJECT_IS_SPECIAL(object))
        os.os_dnodes.insert_head(&dn);
    dnh.dnh_dnode = &dn;
    ++os.stats.dnode_create;
    fresh.release();
    held.exit();
    arc_space_consume(os.os_dmu, dnode_bytes);
    return &dn;
}

dnode_children_t::~dnode_children_t()
{
    Probe probe{Fn::dnode_buf_evict_async};
    for (dnode_handle_t &dnh : dnc_children) {
        if (dnh.dnh_dnode == nullptr)
            continue;
        zrl_add(dnh.dnh_zrlock);
        dnode_destroy(*std::exchange(dnh.dnh_dnode, nullptr));
    }
    ++dnc_objset.stats.dnode_buf_evict;
    kmem_free(sizeof(dnode_handle_t) * DNODES_PER_BLOCK);
}

void dnode_special_open(objset_t &os, dnode_phys_t &dnp, uint64_t object, dnode_handle_t &dnh)
{
    dnode_create(os, dnp, nullptr, object, dnh);
}

void dnode_special_close(dnode_handle_t &dnh)
{
    // The last dbuf's hold may be given up by another thread just now.
    while (dnh.dnh_dnode->dn_holds.peek() > 0)
        kpreempt();
    zrl_add(dnh.dnh_zrlock);
    dnode_destroy(*std::exchange(dnh.dnh_dnode, nullptr));
}

void dnode_reclaim(dnode_handle_t &dnh)
{
    dnode_destroy(*std::exchange(dnh.dnh_dnode, nullptr), false);
}

bool dnode_add_ref(dnode_t &dn)
{
    Probe probe{Fn::dnode_add_ref};
    auto held = mutex_enter(dn.dn_mtx);
    if (dn.dn_holds.peek() == 0)
        return false;
    zfs_refcount_add(dn.dn_holds);
    return true;
}

void dnode_rele(dnode_t &dn)
{
    Probe probe{Fn::dnode_rele};
    dn.dn_mtx.enter();
    dnode_rele_and_unlock(dn);
}

void dnode_rele_and_unlock(dnode_t &dn)
{
    dmu_buf_impl_t *db = dn.dn_dbuf; // dn may go with its last hold
    VERIFY(dn.dn_holds.peek() > 0);
    const uint64_t refs = zfs_refcount_remove(dn.dn_holds);
    mutex_exit(dn.dn_mtx);
    if (refs == 0 && db != nullptr)
        dbuf_rele(*db);
}

void dnode_allocate(dnode_t &dn, const dnode_spec &spec, dmu_tx_t &tx)
{
    Probe probe{Fn::dnode_allocate};
    objset_t &os = *dn.dn_objset;
    const size_t slot = tx.tx_txg & TXG_MASK;
    constexpr uint32_t sector = 1u << SPA_MINBLOCKSHIFT;
    const uint32_t blocksize = spec.blocksize == 0 ? sector : (spec.blocksize + sector - 1) / sector * sector;
    const uint32_t default_shift = dn.dn_object == DMU_META_DNODE_OBJECT ? os.os_dmu.config.dataset.meta_indirect_shift
                                                                         : os.os_dmu.config.dataset.indirect_shift;
    const uint32_t ibs = spec.indirect_blockshift == 0 ? default_shift : spec.indirect_blockshift;

    VERIFY(spec.type != DMU_OT_NONE);
    VERIFY(dn.dn_type == DMU_OT_NONE);
    VERIFY(dn.dn_phys->dn_type == DMU_OT_NONE);
    VERIFY(dn.dn_maxblkid == 0);
    VERIFY(dn.dn_allocated_txg == 0);
    VERIFY(dn.dn_assigned_txg == 0);
    VERIFY(dn.dn_tx_holds.peek() == 0);
    VERIFY3(dn.dn_holds.peek(), <=, 1u);
    VERIFY(dn.dn_dbufs == nullptr || dn.dn_dbufs->empty());
    VERIFY3(spec.bonuslen, <=, DN_MAX_BONUSLEN);
    VERIFY3(spec.slots, >=, DNODE_MIN_SLOTS);
    VERIFY3(spec.slots, <=, DNODE_MAX_SLOTS);

    dn.dn_type = spec.type;
    dn.dn_num_slots = static_cast<uint8_t>(spec.slots);
    os.os_large_dnodes = os.os_large_dnodes || spec.slots > DNODE_MIN_SLOTS;
    if (os.os_large_dnodes)
        dnode_verify_slots(dn);
    dnode_setdblksz(dn, blocksize);
    dn.dn_indblkshift = static_cast<uint8_t>(ibs);
    dn.dn_nlevels = 1;
    // An SA bonus gets all the room there is; else what the bonus leaves is for block pointers.
    dn.dn_nblkptr = spec.bonustype == DMU_OT_SA
                        ? 1
                        : static_cast<uint8_t>(1 + ((DN_MAX_BONUSLEN - spec.bonuslen) >> SPA_BLKPTRSHIFT));
    dn.dn_bonustype = spec.bonustype;
    dn.dn_bonuslen = static_cast<uint16_t>(spec.bonuslen);
    dn.dn_dirtyctx = DN_UNDIRTIED;
    dn.dn_free_txg = 0;
    dn.dn_id_flags = 0;
    dn.dn_allocated_txg = tx.tx_txg;
    ++os.stats.dnode_allocate;
    if (!DMU_OBJECT_IS_SPECIAL(dn.dn_object)) {
        dsl_pool_t &dp = *os.os_spa.spa_dsl_pool;
        ++txg_row(dp, tx.tx_txg).allocated;
        ++dp.dp_tx.tx_allocated;
    }

    dnode_setdirty(dn, tx);
    dn.dn_next_indblkshift[slot] = dn.dn_indblkshift;
    dn.dn_next_bonuslen[slot] = dn.dn_bonuslen;
    dn.dn_next_bonustype[slot] = dn.dn_bonustype;
    dn.dn_next_blksz[slot] = dn.dn_datablksz;
}

void dnode_setdirty(dnode_t &dn, dmu_tx_t &tx)
{
    Probe probe{Fn::dnode_setdirty};
    objset_t &os = *dn.dn_objset;
    const size_t slot = tx.tx_txg & TXG_MASK;
    if (DMU_OBJECT_IS_SPECIAL(dn.dn_object)) {
        dsl_dataset_dirty(*os.os_dsl_dataset, tx);
        return;
    }
    if (dmu_objset_userused_enabled(os))
        dmu_objset_userquota_get_ids(dn, true, tx);
    if (os.os_dmu.variants.dirty_check->listed(dn, slot))
        return;
    {
        auto held = mutex_enter(os.dirty_list_lock());
        if (list_link_active(dn.dn_dirty_link[slot]))
            return;
        VERIFY(dn.dn_holds.peek() > 0);
        VERIFY(dn.dn_datablksz != 0);
        const bool freed = dn.dn_free_txg > 0 && dn.dn_free_txg <= tx.tx_txg;
        if (freed && os.freed_listed_apart)
            os.os_free_dnodes[slot].insert_tail(&dn);
        else
            os.os_dirty_dnodes[slot].insert_tail(&dn);
    }
    // A hold for the txg, so that the dnode is still there when it has been synced.
    const bool added = dnode_add_ref(dn);
    VERIFY(added);
    dbuf_dirty(*dn.dn_dbuf, tx);
    dsl_dataset_dirty(*os.os_dsl_dataset, tx);
}

void dnode_free(dnode_t &dn, dmu_tx_t &tx)
{
    Probe probe{Fn::dnode_free};
    objset_t &os = *dn.dn_objset;
    const size_t slot = tx.tx_txg & TXG_MASK;
    {
        auto held = mutex_enter(dn.dn_mtx);
        if (dn.dn_type == DMU_OT_NONE || dn.dn_free_txg != 0)
            return;
        dn.dn_free_txg = tx.tx_txg;
    }
    ++os.stats.dnode_free;
    ++txg_row(*os.os_spa.spa_dsl_pool, tx.tx_txg).freed;
    if (os.freed_listed_apart) {
        auto held = mutex_enter(os.os_lock);
        if (list_link_active(dn.dn_dirty_link[slot])) {
            os.os_dirty_dnodes[slot].remove(&dn);
            os.os_free_dnodes[slot].insert_tail(&dn);
            return;
        }
    }
    dnode_setdirty(dn, tx);
}

Result<> dnode_set_blksz(dnode_t &dn, uint64_t size, uint32_t ibs, dmu_tx_t &tx)
{
    Probe probe{Fn::dnode_set_blksz};
    constexpr uint64_t sector = 1u << SPA_MINBLOCKSHIFT;
    size = size == 0 ? sector : (size + sector - 1) / sector * sector;
    if (ibs == dn.dn_indblkshift)
        ibs = 0;
    if (size >> SPA_MINBLOCKSHIFT == dn.dn_datablkszsec && ibs == 0)
        return {};

    auto writer = rw_enter(dn.dn_struct_rwlock, RW_WRITER);
    if (dn.dn_maxblkid != 0)
        return SET_ERROR(ENOTSUP);
    {
        auto listing = mutex_enter(dn.dn_dbufs_mtx);
        if (dn.dn_dbufs != nullptr)
            for (const dmu_buf_impl_t *db : *dn.dn_dbufs)
                if (db->db_blkid != 0)
                    return SET_ERROR(ENOTSUP);
    }
    if (ibs != 0 && dn.dn_nlevels != 1)
        return SET_ERROR(ENOTSUP);

    auto first = dbuf_hold_impl(dn, 0, 0, true, false);
    if (first)
        dbuf_new_size(**first, static_cast<uint32_t>(size), tx);
    else if (first.error() != ENOENT)
        return SET_ERROR(ENOTSUP);
    settle(); // a writer of the file looks at it without the lock
    dnode_setdblksz(dn, static_cast<uint32_t>(size));
    dnode_setdirty(dn, tx);
    dn.dn_next_blksz[tx.tx_txg & TXG_MASK] = static_cast<uint32_t>(size);
    if (ibs != 0) {
        dn.dn_indblkshift = static_cast<uint8_t>(ibs);
        dn.dn_next_indblkshift[tx.tx_txg & TXG_MASK] = static_cast<uint8_t>(ibs);
    }
    return {};
}

void dnode_new_blkid(dnode_t &dn, uint64_t blkid, dmu_tx_t &tx, bool have_read)
{
    Probe probe{Fn::dnode_new_blkid};
    if (have_read) {
        if (blkid <= dn.dn_maxblkid)
            return;
        const bool may_upgrade = dn.dn_objset->os_dmu.config.code.rw_upgrade_can_succeed;
        if (!rw_tryupgrade(dn.dn_struct_rwlock, may_upgrade)) {
            rw_exit(dn.dn_struct_rwlock);
            rw_enter_manual(dn.dn_struct_rwlock, RW_WRITER);
        }
    }
    if (blkid > dn.dn_maxblkid) {
        dn.dn_maxblkid = blkid;
        const uint32_t epbs = dn.dn_indblkshift - SPA_BLKPTRSHIFT;
        uint8_t nlevels = 1;
        for (uint64_t room = dn.dn_nblkptr; room <= blkid && room >= dn.dn_nblkptr; room <<= epbs)
            ++nlevels;
        if (nlevels > dn.dn_nlevels)
            dnode_grow(dn, nlevels, tx);
    }
    if (have_read)
        rw_downgrade(dn.dn_struct_rwlock);
}

void dnode_grow(dnode_t &dn, uint8_t nlevels, dmu_tx_t &tx)
{
    const size_t slot = tx.tx_txg & TXG_MASK;
    const uint8_t before = dn.dn_nlevels;
    dn.dn_nlevels = nlevels;
    VERIFY3(nlevels, >, dn.dn_next_nlevels[slot]);
    dn.dn_next_nlevels[slot] = nlevels;

    // What was the top is now below an indirect block, and so are its dirty records.
    dbuf_dirty_record_t *above = nullptr;
    {
        auto db = dbuf_hold_level(dn, before, 0);
        VERIFY(db);
        above = dbuf_dirty(*db, tx);
    }
    auto held = mutex_enter(dn.dn_mtx);
    auto children = mutex_enter(above->di->dr_mtx);
    list_t<dbuf_dirty_record_t> &list = *dn.dn_dirty_records[slot];
    for (dbuf_dirty_record_t *dr = list.head(); dr != nullptr;) {
        dbuf_dirty_record_t *next = list.next(dr);
        if (dr->dr_dbuf->db_level != nlevels - 1 && dr->dr_dbuf->db_blkid != DMU_BONUS_BLKID) {
            VERIFY3(dr->dr_dbuf->db_level, ==, before - 1);
            list.remove(dr);
            above->di->dr_children.insert_tail(dr);
            dr->dr_parent = above;
        }
        dr = next;
    }
}

void dnode_list_dirty_record(dnode_t &dn, dbuf_dirty_record_t &dr)
{
    auto &list = dn.dn_dirty_records[dr.dr_txg & TXG_MASK];
    if (list == nullptr)
        list = std::make_unique<list_t<dbuf_dirty_record_t>>(member_offset(&dbuf_dirty_record_t::dr_dirty_node));
    list->insert_tail(&dr);
}

} // namespace dmu
