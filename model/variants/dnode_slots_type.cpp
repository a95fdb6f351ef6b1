// dnode_slots by type: OpenZFS until 2016-06 (seen in 81285582b9), illumos.
//
// One slot, one dnode. The handle's zrlock keeps the dnode in place; dn_type, dn_free_txg and the hold count say
// whether it can be had. A hold of a free slot makes a dnode_t in it, whatever comes of it.
#include "model/dbuf_impl.h"
#include "model/dnode_impl.h"
#include "model/objset.h"
#include "model/variants/dnode_slots_forms.h"

#include <algorithm>

namespace dmu {

Result<dnode_hold_t> hold_slot_by_type(objset_t &os, uint64_t object, dmu_buf_impl_t &db, dnode_children_t &children,
                                       uint32_t flag, bool type_is_known)
{
    const uint32_t index = object % DNODES_PER_BLOCK;
    dnode_handle_t &dnh = children.dnc_children[index];
    zrl_add(dnh.dnh_zrlock);
    dnode_t *dn = dnh.dnh_dnode;
    if (dn == nullptr)
        dn = dnode_create(os, db.dnodes()[index], &db, object, dnh);

    dn->dn_mtx.enter();
    const dmu_object_type_t type = dn->dn_type;
    bool refused = dn->dn_free_txg != 0;
    if ((flag & DNODE_MUST_BE_FREE) != 0)
        refused = refused || dn->dn_holds.peek() > 0 || (type != DMU_OT_NONE && !type_is_known);
    else if ((flag & DNODE_MUST_BE_ALLOCATED) != 0)
        refused = refused || (type == DMU_OT_NONE && !type_is_known);
    if (refused) {
        mutex_exit(dn->dn_mtx);
        zrl_remove(dnh.dnh_zrlock);
        return SET_ERROR(type == DMU_OT_NONE ? ENOENT : EEXIST);
    }
    dnode_hold_t held = dnode_hold_found(*dn, db);
    zrl_remove(dnh.dnh_zrlock);
    return held;
}

namespace {

class slots_by_type_t final : public dnode_slots_t {
public:
    Result<dnode_hold_t> hold_slot(objset_t &os, uint64_t object, dmu_buf_impl_t &db, dnode_children_t &children,
                                   uint32_t flag, uint32_t) const override
    {
        return hold_slot_by_type(os, object, db, children, flag, false);
    }

    uint32_t refused_alike(std::span<const dnode_handle_t> handles) const override
    {
        const auto is_one = [](const dnode_handle_t &dnh) {
            const dnode_t *dn = dnh.dnh_dnode;
            return dn != nullptr && dnh.dnh_zrlock.at_hand() && dn->dn_mtx.at_hand() &&
                   (dn->dn_type != DMU_OT_NONE || dn->dn_free_txg != 0 || dn->dn_holds.peek() > 0);
        };
        return static_cast<uint32_t>(std::find_if_not(handles.begin(), handles.end(), is_one) - handles.begin());
    }
};

} // namespace

std::unique_ptr<const dnode_slots_t> make_dnode_slots_by_type()
{
    return std::make_unique<slots_by_type_t>();
}

} // namespace dmu
