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

// Takes the handle's lock exclusively, trying until it is had, and counts the refusals. REQUIRES: no hold of one's own.
using enter_t = void (*)(dnode_handle_t &dnh, uint64_t &retries);

void enter_dropped_once(dnode_handle_t &dnh, uint64_t &retries)
{
    for (; !zrl_tryenter(dnh.dnh_zrlock); ++retries)
        kpreempt();
}

// The code before the cure: whoever is refused begins anew, which takes the shared hold again before the next try. The
// more threads try, the seldomer is there an instant without any hold, and only then can one of them get in.
void enter_holding_again(dnode_handle_t &dnh, uint64_t &retries)
{
    for (; !zrl_tryenter(dnh.dnh_zrlock); ++retries) {
        zrl_add(dnh.dnh_zrlock);
        zrl_remove(dnh.dnh_zrlock);
    }
}

class slots_by_handle_t final : public dnode_slots_t {
public:
    explicit slots_by_handle_t(enter_t enter) : enter_(enter) {}

    void fill(dnode_children_t &children, const dmu_buf_impl_t &db) const override
    {
        const auto *phys = static_cast<const dnode_phys_t *>(db.db_data);
        for (uint32_t slot = 0; slot < DNODES_PER_BLOCK; ++slot)
            children.dnc_children[slot].dnh_slot =
                phys[slot].dn_type == DMU_OT_NONE ? dn_slot_t::FREE : dn_slot_t::ALLOCATED;
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
        return hold_free(os, object, db, children.dnc_children[index]);
    }

private:
    Result<dnode_hold_t> hold_allocated(objset_t &os, uint64_t object, dmu_buf_impl_t &db, dnode_handle_t &dnh) const
    {
        zrl_add(dnh.dnh_zrlock);
        dnode_t *dn = dnh.dnh_dnode;
        bool exclusive = false;
        if (dn == nullptr) {
            const dn_slot_t slot = dnh.dnh_slot;
            zrl_remove(dnh.dnh_zrlock);
            if (slot != dn_slot_t::ALLOCATED) {
                ++os.stats.dnode_hold_alloc_misses;
                return SET_ERROR(slot == dn_slot_t::INTERIOR ? EEXIST : ENOENT);
            }
            enter_(dnh, os.stats.dnode_hold_alloc_lock_retry);
            exclusive = true;
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

    Result<dnode_hold_t> hold_free(objset_t &os, uint64_t object, dmu_buf_impl_t &db, dnode_handle_t &dnh) const
    {
        zrl_add(dnh.dnh_zrlock);
        const bool looks_free = check_slot_free(dnh);
        zrl_remove(dnh.dnh_zrlock);
        if (!looks_free) {
            ++os.stats.dnode_hold_free_misses;
            return SET_ERROR(ENOSPC);
        }
        enter_(dnh, os.stats.dnode_hold_free_lock_retry);
        if (!check_slot_free(dnh)) {
            ++os.stats.dnode_hold_free_lock_misses;
            zrl_exit(dnh.dnh_zrlock);
            return SET_ERROR(ENOSPC);
        }
        dnode_t *dn = dnh.dnh_dnode;
        if (dn == nullptr)
            dn = dnode_create(os, db.dnodes()[object % DNODES_PER_BLOCK], &db, object, dnh);

        dn->dn_mtx.enter();
        if (dn->dn_holds.peek() > 0 || dn->dn_free_txg != 0) {
            ++os.stats.dnode_hold_free_refcount;
            mutex_exit(dn->dn_mtx);
            zrl_exit(dnh.dnh_zrlock);
            return SET_ERROR(EEXIST);
        }
        ++os.stats.dnode_hold_free_hits;
        dnode_hold_t held = dnode_hold_found(*dn, db);
        zrl_exit(dnh.dnh_zrlock);
        return held;
    }

    static void leave(dnode_handle_t &dnh, bool exclusive)
    {
        if (exclusive)
            zrl_exit(dnh.dnh_zrlock);
        else
            zrl_remove(dnh.dnh_zrlock);
    }

    const enter_t enter_;
};

} // namespace

std::unique_ptr<const dnode_slots_t> make_dnode_slots_by_handle()
{
    return std::make_unique<slots_by_handle_t>(enter_dropped_once);
}

std::unique_ptr<const dnode_slots_t> make_dnode_slots_by_handle_hold_again()
{
    return std::make_unique<slots_by_handle_t>(enter_holding_again);
}

} // namespace dmu
