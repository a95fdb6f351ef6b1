// The makers that variants.cpp lists, and what two of the forms share.
#pragma once

#include <memory>

#include "model/variants/dnode_slots.h"

namespace dmu {

std::unique_ptr<const dnode_slots_t> make_dnode_slots_by_type();
std::unique_ptr<const dnode_slots_t> make_dnode_slots_walk();
std::unique_ptr<const dnode_slots_t> make_dnode_slots_by_handle(); // waits without a hold (8d9e51c084)
std::unique_ptr<const dnode_slots_t>
make_dnode_slots_by_handle_hold_again(); // holds the slot again before each try (0.7.9)

// Holds the slot's dnode, made if need be, unless its state forbids it. type_is_known: the caller has judged dn_type.
Result<dnode_hold_t> hold_slot_by_type(objset_t &os, uint64_t object, dmu_buf_impl_t &db, dnode_children_t &children,
                                       uint32_t flag, bool type_is_known);

} // namespace dmu
