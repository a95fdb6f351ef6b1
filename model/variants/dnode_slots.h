// How dnode_hold_impl judges whether a slot of a dnode block can be held.
#pragma once

#include <cstdint>
#include <span>

#include "model/dnode.h"

namespace dmu {

class dnode_slots_t {
public:
    virtual ~dnode_slots_t() = default;

    // New handles are told what their slots hold on disk. REQUIRES: db is held and read.
    virtual void fill(dnode_children_t &, const dmu_buf_impl_t &) const {}
    // The dnode of object in its slot of db's block, held, or why it cannot be.
    // REQUIRES: db is held and read; children are its handles.
    virtual Result<dnode_hold_t> hold_slot(objset_t &os, uint64_t object, dmu_buf_impl_t &db,
                                           dnode_children_t &children, uint32_t flag, uint32_t slots) const = 0;
    // Of those handles, from the first on, how many would be refused as one free slot and all in the same way: through
    // their dnode, with every lock free and near (sim/repeat.h). Free of charge and order. 0: each slot goes its own
    // way.
    virtual uint32_t refused_alike(std::span<const dnode_handle_t>) const { return 0; }
};

} // namespace dmu
