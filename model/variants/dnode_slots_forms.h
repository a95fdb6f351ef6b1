// The makers that variants.cpp lists, and what two of the forms share.
#pragma once

#include <memory>

#include "model/variants/dnode_slots.h"

namespace dmu {

std::unique_ptr<const dnode_slots_t> make_dnode_slots_by_type();
std::unique_ptr<const dnode_slots_t> make_dnode_slots_walk();

// How a thread that was refused the handle goes on.
enum class slot_retry_t {
    DROP_ONCE,  // without a hold it tries, yields, tries again (8d9e51c084)
    HOLD_AGAIN, // it begins anew and takes a shared hold before each try: 0.7.9
};
// What is locked from the last look at a large dnode's slots until it has them.
enum class slot_locks_t {
    WHOLE_RANGE, // each of them (9631681b75)
    FIRST_SLOT,  // the one it begins in: before
};
// How those who wait for a slot's handle are woken.
enum class slot_wake_t {
    LOCKED,   // under the mutex under which they looked
    UNLOCKED, // without it, so that one may be about to sleep
};
struct slots_how_t {
    slot_retry_t retry;
    slot_locks_t locks;
    slot_wake_t wake;
};
std::unique_ptr<const dnode_slots_t> make_dnode_slots_by_handle(slots_how_t how);

// Holds the slot's dnode, made if need be, unless its state forbids it. type_is_known: the caller has judged dn_type.
Result<dnode_hold_t> hold_slot_by_type(objset_t &os, uint64_t object, dmu_buf_impl_t &db, dnode_children_t &children,
                                       uint32_t flag, bool type_is_known);

} // namespace dmu
