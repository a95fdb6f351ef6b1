// Dnodes of several slots: their invariant, and what becomes of their slots when they are gone.
//
// A dnode of s slots begins in one slot and has the s - 1 behind it, all in one block of 32. The handles of those are
// marked INTERIOR. Followed: OpenZFS since 9631681b75 (2017), which closed a race in which two dnodes got one slot.
#include "model/dbuf_impl.h"
#include "model/dnode_impl.h"
#include "model/objset.h"

namespace dmu {

void dnode_verify_slots(const dnode_t &dn)
{
    const uint32_t index = dn.dn_object % DNODES_PER_BLOCK;
    const unsigned long long block = dn.dn_object - index;
    const dnode_handle_t *children = dn.dn_handle - index;
    const auto collide = [&](uint32_t slot, const char *what) {
        PANIC("the %u slots of object %llu overlap %s %llu", unsigned{dn.dn_num_slots},
              static_cast<unsigned long long>(dn.dn_object), what, block + slot);
    };
    if (index + dn.dn_num_slots > DNODES_PER_BLOCK)
        PANIC("the %u slots of object %llu cross the end of its block", unsigned{dn.dn_num_slots},
              static_cast<unsigned long long>(dn.dn_object));
    // Somebody else's dnode, in memory or on disk, in a slot of this one.
    for (uint32_t slot = index + 1; slot < index + dn.dn_num_slots; ++slot) {
        const dnode_t *other = children[slot].dnh_dnode;
        if (other != nullptr && (other->dn_type != DMU_OT_NONE || other->dn_holds.peek() > 0))
            collide(slot, "object");
        if (other == nullptr && children[slot].dnh_slot != dn_slot_t::INTERIOR)
            collide(slot, "slot");
    }
    // This one in somebody else's slots.
    for (uint32_t slot = 0; slot < index; ++slot) {
        const dnode_t *other = children[slot].dnh_dnode;
        uint32_t slots = 0;
        if (other != nullptr)
            slots = other->dn_type != DMU_OT_NONE ? other->dn_num_slots : 0;
        else if (children[slot].dnh_slot == dn_slot_t::ALLOCATED)
            slots = DNODE_MIN_SLOTS + dn.dn_dbuf->dnodes()[slot].dn_extra_slots;
        if (slot + slots > index)
            collide(slot, "object");
    }
}

void dnode_free_interior_slots(dnode_t &dn)
{
    const uint32_t slots = std::exchange(dn.dn_num_slots, static_cast<uint8_t>(DNODE_MIN_SLOTS));
    for (uint32_t i = 1; i < slots; ++i) {
        dnode_handle_t &dnh = dn.dn_handle[i];
        while (!zrl_tryenter(dnh.dnh_zrlock)) // bounded by whoever looks at the slot
            kpreempt();
        if (dnh.dnh_dnode == nullptr)
            dnh.dnh_slot = dn_slot_t::FREE;
        zrl_exit(dnh.dnh_zrlock);
    }
}

} // namespace dmu
