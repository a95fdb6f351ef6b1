// How dnode_hold_impl judges whether a slot of a dnode block can be held.
#pragma once

#include <cstdint>

#include "model/dnode.h"

namespace dmu {

class dnode_slots_t {
  public:
    virtual ~dnode_slots_t() = default;

    // The dnode in slot idx of db's block, held for the caller with the slot's zrlock and dn_mtx released, or why not.
    // REQUIRES: db is held and read; children are its handles.
    virtual Result<dnode_hold_t> hold_slot(objset_t &os, uint64_t object, dmu_buf_impl_t &db,
                                           dnode_children_t &children, uint32_t flag, uint32_t slots) const = 0;
};

} // namespace dmu
