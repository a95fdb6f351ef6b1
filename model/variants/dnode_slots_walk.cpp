// dnode_slots with a walk: OpenZFS 2016-06 to 2018 (seen in 8bea98150 and dbeb879699).
//
// Dnodes may take several slots, so a slot can be the inside of an earlier one: every hold first walks from slot 0 to
// the wanted one, dnode by dnode, taking each handle's zrlock. A hold in the last slot of a block takes 31 of them.
#include "model/dbuf_impl.h"
#include "model/dnode_impl.h"
#include "model/objset.h"
#include "model/variants/dnode_slots_forms.h"

namespace dmu {

namespace {

// In memory where there is a dnode_t, else on disk.
dmu_object_type_t slot_type(dnode_handle_t &dnh, const dnode_phys_t &phys)
{
    zrl_add(dnh.dnh_zrlock);
    const auto type = dnh.dnh_dnode != nullptr ? dnh.dnh_dnode->dn_type : static_cast<dmu_object_type_t>(phys.dn_type);
    zrl_remove(dnh.dnh_zrlock);
    return type;
}

class slots_walk_t final : public dnode_slots_t {
public:
    Result<dnode_hold_t> hold_slot(objset_t &os, uint64_t object, dmu_buf_impl_t &db, dnode_children_t &children,
                                   uint32_t flag, uint32_t slots) const override
    {
        const uint32_t index = object % DNODES_PER_BLOCK;
        if ((flag & DNODE_MUST_BE_FREE) != 0 && !is_free(db, children, index, slots)) {
            ++os.stats.dnode_hold_free_misses;
            return SET_ERROR(ENOSPC);
        }
        if ((flag & DNODE_MUST_BE_ALLOCATED) != 0 && !is_allocated(db, children, index)) {
            ++os.stats.dnode_hold_alloc_misses;
            return SET_ERROR(ENOENT);
        }
        return hold_slot_by_type(os, object, db, children, flag, true);
    }

private:
    // The slot is the inside of an earlier dnode: never, as long as every dnode takes one slot.
    static bool is_consumed(dmu_buf_impl_t &db, dnode_children_t &children, uint32_t index)
    {
        Probe probe{Fn::dnode_is_consumed};
        uint32_t slot = 0;
        while (slot < index) {
            Probe step{Fn::dnode_is_consumed_slot};
            const dmu_object_type_t type = slot_type(children.dnc_children[slot], db.dnodes()[slot]);
            slot += type == DMU_OT_NONE ? 1u : 1u + db.dnodes()[slot].dn_extra_slots;
        }
        return slot > index;
    }

    static bool is_allocated(dmu_buf_impl_t &db, dnode_children_t &children, uint32_t index)
    {
        return !is_consumed(db, children, index) &&
               slot_type(children.dnc_children[index], db.dnodes()[index]) != DMU_OT_NONE;
    }

    static bool is_free(dmu_buf_impl_t &db, dnode_children_t &children, uint32_t index, uint32_t slots)
    {
        if (index + slots > DNODES_PER_BLOCK || is_consumed(db, children, index))
            return false;
        for (uint32_t slot = index; slot < index + slots; ++slot)
            if (slot_type(children.dnc_children[slot], db.dnodes()[slot]) != DMU_OT_NONE)
                return false;
        return true;
    }
};

} // namespace

std::unique_ptr<const dnode_slots_t> make_dnode_slots_walk()
{
    return std::make_unique<slots_walk_t>();
}

} // namespace dmu
