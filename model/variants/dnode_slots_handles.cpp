// dnode_slots by handle: OpenZFS since 2019 (seen in 64b6c47d90 and be7657e3f2).
//
// The handle itself says what its slot holds (free, allocated, the inside of a larger dnode), so nothing is walked and
// no dnode_t is made for a slot that cannot be had. Who has to make one takes the slot's zrlock exclusively; losers
// drop their shared hold first and try again, which is the cure of a livelock (8d9e51c084).
#include "model/dbuf_impl.h"
#include "model/dnode_impl.h"
#include "model/objset.h"
#include "model/variants/dnode_slots_forms.h"

namespace dmu {

namespace {

// Nobody has the slot. A dirty dnode is held by its txg.
bool check_slot_free(dnode_handle_t &dnh)
{
    dnode_t *dn = dnh.dnh_dnode;
    if (dn == nullptr)
        return dnh.dnh_slot == dn_slot_t::FREE;
    auto held = mutex_enter(dn->dn_mtx);
    return dn->dn_type == DMU_OT_NONE && dn->dn_holds.peek() == 0;
}

class slots_by_handle_t final : public dnode_slots_t {
public:
    explicit slots_by_handle_t(slots_how_t how) : how_(how) {}

    void fill(dnode_children_t &children, const dmu_buf_impl_t &db) const override
    {
        const auto *phys = static_cast<const dnode_phys_t *>(db.db_data);
        for (uint32_t slot = 0; slot < DNODES_PER_BLOCK; ++slot) {
            if (phys[slot].dn_type == DMU_OT_NONE) {
                children.dnc_children[slot].dnh_slot = dn_slot_t::FREE;
                continue;
            }
            children.dnc_children[slot].dnh_slot = dn_slot_t::ALLOCATED;
            children.dnc_objset.os_large_dnodes = children.dnc_objset.os_large_dnodes || phys[slot].dn_extra_slots > 0;
            for (uint32_t left = phys[slot].dn_extra_slots; left > 0; --left)
                children.dnc_children[++slot].dnh_slot = dn_slot_t::INTERIOR;
        }
    }

    Result<dnode_hold_t> hold_slot(objset_t &os, uint64_t object, dmu_buf_impl_t &db, dnode_children_t &children,
                                   uint32_t flag, uint32_t slots) const override
    {
        const uint32_t index = object % DNODES_PER_BLOCK;
        if (index + slots > DNODES_PER_BLOCK) {
            ++os.stats.dnode_hold_free_overflow;
            return SET_ERROR(ENOSPC);
        }
        if ((flag & DNODE_MUST_BE_ALLOCATED) != 0)
            return hold_allocated(os, object, db, children.dnc_children[index]);
        return hold_free(os, object, db, &children.dnc_children[index], slots);
    }

private:
    Result<dnode_hold_t> hold_allocated(objset_t &os, uint64_t object, dmu_buf_impl_t &db, dnode_handle_t &dnh) const
    {
        bool exclusive = false;
        dnode_t *dn = nullptr;
        for (;;) {
            zrl_add(dnh.dnh_zrlock);
            dn = dnh.dnh_dnode;
            if (dn != nullptr)
                break;
            const dn_slot_t slot = dnh.dnh_slot;
            zrl_remove(dnh.dnh_zrlock);
            if (slot != dn_slot_t::ALLOCATED) {
                ++os.stats.dnode_hold_alloc_misses;
                return SET_ERROR(slot == dn_slot_t::INTERIOR ? EEXIST : ENOENT);
            }
            exclusive = enter(dnh, os.stats.dnode_hold_alloc_lock_retry);
            if (exclusive)
                break;
        }
        if (exclusive) {
            dn = dnh.dnh_dnode;
            if (dn != nullptr)
                ++os.stats.dnode_hold_alloc_lock_misses;
            else
                dn = dnode_create(os, db.dnodes()[object % DNODES_PER_BLOCK], &db, object, dnh);
        }

        dn->dn_mtx.enter();
        if (dn->dn_type == DMU_OT_NONE || dn->dn_free_txg != 0) {
            ++os.stats.dnode_hold_alloc_type_none;
            mutex_exit(dn->dn_mtx);
            leave(dnh, exclusive);
            return SET_ERROR(ENOENT);
        }
        ++os.stats.dnode_hold_alloc_hits;
        dnode_hold_t held = dnode_hold_found(*dn, db);
        leave(dnh, exclusive);
        return held;
    }

    // The handles of a dnode's slots, the first one its own.
    Result<dnode_hold_t> hold_free(objset_t &os, uint64_t object, dmu_buf_impl_t &db, dnode_handle_t *range,
                                   uint32_t slots) const
    {
        // How much of it is locked from the last look until the dnode has its slots.
        const uint32_t locked = how_.locks == slot_locks_t::WHOLE_RANGE ? slots : 1;
        do {
            for (uint32_t i = 0; i < slots; ++i)
                zrl_add(range[i].dnh_zrlock);
            const bool looks_free = all_free(range, slots);
            for (uint32_t i = 0; i < slots; ++i)
                zrl_remove(range[i].dnh_zrlock);
            if (!looks_free) {
                ++os.stats.dnode_hold_free_misses;
                return SET_ERROR(ENOSPC);
            }
        } while (!enter_range(range, locked, os.stats.dnode_hold_free_lock_retry));
        if (!all_free(range, locked)) {
            ++os.stats.dnode_hold_free_lock_misses;
            exit_range(range, locked);
            return SET_ERROR(ENOSPC);
        }
        dnode_t *dn = range->dnh_dnode;
        if (dn == nullptr)
            dn = dnode_create(os, db.dnodes()[object % DNODES_PER_BLOCK], &db, object, *range);

        dn->dn_mtx.enter();
        if (dn->dn_holds.peek() > 0 || dn->dn_free_txg != 0) {
            ++os.stats.dnode_hold_free_refcount;
            mutex_exit(dn->dn_mtx);
            exit_range(range, locked);
            return SET_ERROR(EEXIST);
        }
        ++os.stats.dnode_hold_free_hits;
        dnode_hold_t held = dnode_hold_found(*dn, db);
        for (uint32_t i = 1; i < slots; ++i)
            make_interior(range[i]);
        exit_range(range, locked);
        return held;
    }

    static bool all_free(dnode_handle_t *range, uint32_t slots)
    {
        for (uint32_t i = 0; i < slots; ++i)
            if (!check_slot_free(range[i]))
                return false;
        return true;
    }

    // A dnode that is free may stay in the slot where the new one begins; elsewhere it goes.
    static void make_interior(dnode_handle_t &dnh)
    {
        if (dnh.dnh_dnode != nullptr && dnh.dnh_dnode->dn_type == DMU_OT_NONE && dnh.dnh_dnode->dn_holds.peek() == 0)
            dnode_reclaim(dnh);
        dnh.dnh_slot = dn_slot_t::INTERIOR;
    }

    bool enter_range(dnode_handle_t *range, uint32_t slots, uint64_t &retries) const
    {
        for (uint32_t i = 0; i < slots; ++i) {
            if (zrl_tryenter(range[i].dnh_zrlock))
                continue;
            // Two that want each other's slots must not wait for one another.
            exit_range(range, i);
            ++retries;
            if (how_.retry == slot_retry_t::HOLD_AGAIN)
                return false;
            kpreempt();
            i = ~0u; // from the first one on
        }
        return true;
    }
    void exit_range(dnode_handle_t *range, uint32_t slots) const
    {
        for (uint32_t i = 0; i < slots; ++i)
            exit(range[i]);
    }

    // Takes the handle's lock exclusively. REQUIRES: no hold of one's own. False: refused, and the caller begins anew.
    bool enter(dnode_handle_t &dnh, uint64_t &retries) const { return enter_range(&dnh, 1, retries); }
    void exit(dnode_handle_t &dnh) const
    {
        if (how_.wake == slot_wake_t::LOCKED)
            zrl_exit(dnh.dnh_zrlock);
        else
            zrl_exit_unlocked(dnh.dnh_zrlock);
    }

    void leave(dnode_handle_t &dnh, bool exclusive) const
    {
        if (exclusive)
            exit(dnh);
        else
            zrl_remove(dnh.dnh_zrlock);
    }

    const slots_how_t how_;
};

} // namespace

std::unique_ptr<const dnode_slots_t> make_dnode_slots_by_handle(slots_how_t how)
{
    return std::make_unique<slots_by_handle_t>(how);
}

} // namespace dmu
