// dnode_hold_impl: from an object number to its dnode in memory.
//
// Find the block of dnodes, read it, find or make its handles, judge the slot (model/variants/dnode_slots.h). A dnode
// with holds keeps its block's dbuf held, with a single hold however many there are. Followed: OpenZFS 81285582b9,
// dnode.c.
#include "model/dbuf_impl.h"
#include "model/dnode_impl.h"
#include "model/objset.h"
#include "model/variants/variants.h"

namespace dmu {

namespace {

// The handles of a block of dnodes, made by whoever needs them first. REQUIRES: db is held and read.
dnode_children_t &children_of(objset_t &os, dmu_buf_impl_t &db)
{
    auto *children = static_cast<dnode_children_t *>(dmu_buf_get_user(db));
    if (children == nullptr) [[unlikely]] {
        kmem_alloc(sizeof(dnode_handle_t) * DNODES_PER_BLOCK);
        charge_copy(dnode_handle_bytes * DNODES_PER_BLOCK); // cleared
        count_calls(Fn::zrl_init, DNODES_PER_BLOCK);
        auto fresh = std::make_unique<dnode_children_t>(os);
        os.os_dmu.variants.dnode_slots->fill(*fresh, db);
        dmu_buf_user_t *winner = dmu_buf_set_user(db, fresh.get());
        children = winner == nullptr ? fresh.release() : static_cast<dnode_children_t *>(winner);
    }
    return *children;
}

// The accounting dnodes are always in memory.
Result<dnode_hold_t> hold_used_dnode(objset_t &os, uint64_t object, uint32_t flag)
{
    dnode_t *dn = dmu_objset_used_dnode(os, object);
    if (dn == nullptr)
        return SET_ERROR(ENOENT);
    const bool allocated = dn->dn_type != DMU_OT_NONE;
    if ((flag & DNODE_MUST_BE_ALLOCATED) != 0 && !allocated)
        return SET_ERROR(ENOENT);
    if ((flag & DNODE_MUST_BE_FREE) != 0 && allocated)
        return SET_ERROR(EEXIST);
    zfs_refcount_add(dn->dn_holds);
    return dnode_hold_t(dn);
}

// at_slot runs when the block is in hand and the slot is not yet touched.
template <class AtSlot>
Result<dnode_hold_t> hold_through_block(objset_t &os, uint64_t object, uint32_t flag, uint32_t slots, AtSlot &&at_slot)
{
    Probe probe{os.os_dmu.era.slots_by_handle ? Fn::dnode_hold_impl_by_handle : Fn::dnode_hold_impl};
    VERIFY((flag & DNODE_MUST_BE_ALLOCATED) == 0 || slots == 0);
    VERIFY((flag & DNODE_MUST_BE_FREE) == 0 || slots > 0);
    if (object == DMU_USERUSED_OBJECT || object == DMU_GROUPUSED_OBJECT) [[unlikely]]
        return hold_used_dnode(os, object, flag);
    if (object == 0 || object >= DN_MAX_OBJECT)
        return SET_ERROR(EINVAL);
    if (object == os.os_watched_object) [[unlikely]]
        ++os.os_watched_holds;

    dnode_t &mdn = DMU_META_DNODE(os);
    dbuf_hold_t db;
    {
        struct_reader_t reader(mdn);
        db = dbuf_hold(mdn, dbuf_whichblock(mdn, 0, object << DNODE_SHIFT));
    }
    if (!db) {
        ++os.stats.dnode_hold_dbuf_hold;
        return SET_ERROR(EIO);
    }
    if (auto read = dbuf_read(*db, DB_RF_CANFAIL | dnode_block_read_flags(os)); !read) {
        ++os.stats.dnode_hold_dbuf_read;
        return SET_ERROR(read.error());
    }
    dnode_children_t &children = children_of(os, *db);
    at_slot();
    return os.os_dmu.variants.dnode_slots->hold_slot(os, object, *db, children, flag, slots);
}

} // namespace

Result<dnode_hold_t> dnode_hold_impl(objset_t &os, uint64_t object, uint32_t flag, uint32_t slots)
{
    return hold_through_block(os, object, flag, slots, [] {});
}

Result<dnode_hold_t> dnode_hold_in_step(objset_t &os, uint64_t object, hrtime_t instant)
{
    return hold_through_block(os, object, DNODE_MUST_BE_ALLOCATED, 0,
                              [instant] { sim::sleep_until(instant, WaitKind::other); });
}

Result<dnode_hold_t> dnode_hold(objset_t &os, uint64_t object)
{
    Probe probe{Fn::dnode_hold};
    return dnode_hold_impl(os, object, DNODE_MUST_BE_ALLOCATED, 0);
}

dnode_hold_t dnode_hold_found(dnode_t &dn, dmu_buf_impl_t &db)
{
    if (zfs_refcount_add(dn.dn_holds) == 1)
        dbuf_add_ref(db);
    mutex_exit(dn.dn_mtx);
    return dnode_hold_t(&dn);
}

} // namespace dmu
