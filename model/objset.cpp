// Opening, creating and evicting objsets.
//
// Followed: OpenZFS 81285582b9, dmu_objset.c.
#include "model/objset.h"

#include "model/dbuf_impl.h"
#include "model/dmu_state.h"
#include "model/dmu_tx.h"
#include "model/dnode_impl.h"
#include "model/dsl_pool.h"
#include "model/spa.h"
#include "model/variants/variants.h"
#include "model/visits.h"

namespace dmu {

namespace {

// A list a txg, each of which uses the link of its txg.
per_txg<list_t<dnode_t>> lists_of_dirty()
{
    static_assert(TXG_SIZE == 4, "one list a slot");
    return {dnode_list_of_slot(0), dnode_list_of_slot(1), dnode_list_of_slot(2), dnode_list_of_slot(3)};
}

// Only a file system has a way to tell whose an object is (dmu_objset_register_type).
void open_accounting(objset_t &os)
{
    if (os.os_phys->os_type != DMU_OST_ZFS || os.os_dmu.variants.make_userquota_task == nullptr)
        return;
    dnode_special_open(os, os.os_phys->os_userused_dnode, DMU_USERUSED_OBJECT, os.os_userused_dnode);
    dnode_special_open(os, os.os_phys->os_groupused_dnode, DMU_GROUPUSED_OBJECT, os.os_groupused_dnode);
}

} // namespace

objset_t::objset_t(spa_t &spa, dsl_dataset_t &ds)
    : os_spa(spa), os_dmu(*spa.spa_dmu), os_dsl_dataset(&ds), os_id(++os_dmu.objsets_opened * 4096),
      os_synced_dnodes(lists_of_dirty()), os_dnodes(member_offset(&dnode_t::dn_link)), os_free_dnodes(lists_of_dirty()),
      os_dirty_dnodes(lists_of_dirty()), freed_listed_apart(os_dmu.era.freed_dnodes_listed_apart),
      os_obj_next_percpu(max_ncpus()), os_visits(std::make_unique<visits_t>(*this))
{
}

objset_t::~objset_t() = default;

std::unique_ptr<objset_t> dmu_objset_open_impl(spa_t &spa, dsl_dataset_t &ds)
{
    auto os = std::make_unique<objset_t>(spa, ds);
    os->os_rootbp = ds.ds_bp;
    if (BP_IS_HOLE(ds.ds_bp)) {
        os->os_phys_buf = block_ref::make(block_kind::objset, OBJSET_OLD_PHYS_SIZE);
    } else {
        spa.spa_dsl_pool->dp_vdev.zio_read(ds.ds_bp.blk_lsize);
        os->os_phys_buf = os->os_dmu.store.read(ds.ds_bp.blk_dva).copy();
    }
    os->os_phys = os->os_phys_buf->objset();
    dnode_special_open(*os, os->os_phys->os_meta_dnode, DMU_META_DNODE_OBJECT, os->os_meta_dnode);
    open_accounting(*os);
    return os;
}

void dmu_objset_make_file_system(objset_t &os)
{
    VERIFY(os.os_phys->os_type == DMU_OST_NONE);
    os.os_phys->os_type = DMU_OST_ZFS;
    open_accounting(os);
    if (dmu_objset_userused_enabled(os))
        os.os_phys_buf->size = sizeof(objset_phys_t);
}

std::unique_ptr<objset_t> dmu_objset_create_impl(spa_t &spa, dsl_dataset_t &ds, dmu_tx_t &tx)
{
    VERIFY(dmu_tx_is_syncing(tx));
    auto os = dmu_objset_open_impl(spa, ds);
    dnode_t &mdn = DMU_META_DNODE(*os);

    dnode_spec spec;
    spec.type = DMU_OT_DNODE;
    spec.blocksize = 1u << DNODE_BLOCK_SHIFT;
    dnode_allocate(mdn, spec, tx);

    // All the levels it can ever need, so that they never grow while transactions are open.
    const uint32_t epbs = mdn.dn_indblkshift - SPA_BLKPTRSHIFT;
    uint8_t levels = 1;
    while (uint64_t{mdn.dn_nblkptr} << (DNODES_PER_BLOCK_SHIFT + (levels - 1) * epbs) < DN_MAX_OBJECT)
        ++levels;
    mdn.dn_nlevels = levels;
    mdn.dn_next_nlevels[tx.tx_txg & TXG_MASK] = levels;
    dsl_dataset_dirty(ds, tx);
    return os;
}

void dmu_objset_evict_dbufs(objset_t &os)
{
    Probe probe{Fn::dmu_objset_evict_dbufs};
    // The one in hand stays held until the next one is, so that it keeps its place in the list meanwhile.
    dnode_hold_t in_hand;
    auto held = mutex_enter(os.os_lock);
    for (dnode_t *dn = os.os_dnodes.head(); dn != nullptr; dn = os.os_dnodes.next(dn)) {
        if (dn->dn_type == DMU_OT_NONE || !dnode_add_ref(*dn))
            continue; // free, or held by nobody: it has no dbufs
        held.exit();
        in_hand = dnode_hold_t(dn);
        dnode_evict_dbufs(*dn);
        held = mutex_enter(os.os_lock);
    }
    held.exit();
    in_hand.rele();
    for (const uint64_t object : accounting_objects)
        if (dnode_t *dn = dmu_objset_used_dnode(os, object))
            dnode_evict_dbufs(*dn);
    dnode_evict_dbufs(DMU_META_DNODE(os));
}

void dmu_objset_evict(std::unique_ptr<objset_t> os)
{
    for (uint64_t slot = 0; slot < TXG_SIZE; ++slot) {
        VERIFY(!dmu_objset_is_dirty(*os, slot));
        VERIFY(os->os_synced_dnodes[slot].empty());
    }
    dmu_objset_evict_dbufs(*os);
    {
        auto held = mutex_enter(os->os_lock);
        while (!os->os_dnodes.empty())
            cv_wait(os->os_evicted, os->os_lock);
    }
    for (dnode_handle_t *dnh : {&os->os_userused_dnode, &os->os_groupused_dnode})
        if (dnh->dnh_dnode != nullptr)
            dnode_special_close(*dnh);
    dnode_special_close(os->os_meta_dnode);
}

bool dmu_objset_is_dirty(const objset_t &os, uint64_t txg)
{
    return !os.os_dirty_dnodes[txg & TXG_MASK].empty() || !os.os_free_dnodes[txg & TXG_MASK].empty();
}

} // namespace dmu
