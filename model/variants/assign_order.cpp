// assign_order: zfs#8923, cb9e5b7e84 (2019).
//
// "assign-first": the transaction has its txg before the lock is taken, so nobody waits for a txg with the lock in
// hand. "lock-first": a thread that has the lock waits until the txg before, in which the object is claimed, is
// quiesced; that txg waits for a transaction that wants the lock. The three close a ring.
#include "model/variants/assign_order.h"

#include "model/dnode.h"
#include "model/objset.h"

namespace dmu {

namespace {

class assign_order_form_t final : public assign_order_t {
public:
    explicit assign_order_form_t(bool lock_first) : lock_first_(lock_first) {}

    Result<> update(objset_t &os, uint64_t object, Duration work) const override
    {
        Probe probe{Fn::dmu_object_update};
        auto held = dnode_hold(os, object);
        if (!held)
            return SET_ERROR(held.error());
        dnode_t &dn = **held;
        struct_guard_t writer;
        if (lock_first_)
            writer = rw_enter(dn.dn_struct_rwlock, RW_WRITER);
        dmu_tx_ptr tx = dmu_tx_create(os);
        dmu_tx_hold_bonus(*tx, object);
        if (auto assigned = dmu_tx_assign(*tx, TXG_WAIT); !assigned) {
            dmu_tx_abort(std::move(tx));
            return SET_ERROR(assigned.error());
        }
        if (!lock_first_)
            writer = rw_enter(dn.dn_struct_rwlock, RW_WRITER);
        charge(work);
        writer.exit();
        dnode_setdirty(dn, *tx);
        dmu_tx_commit(std::move(tx));
        return {};
    }

private:
    const bool lock_first_;
};

} // namespace

std::unique_ptr<const assign_order_t> make_assign_first()
{
    return std::make_unique<assign_order_form_t>(false);
}

std::unique_ptr<const assign_order_t> make_lock_first()
{
    return std::make_unique<assign_order_form_t>(true);
}

} // namespace dmu
