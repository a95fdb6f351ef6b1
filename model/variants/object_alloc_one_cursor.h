// The allocators with one cursor: what they share is everything but where the search at a level-1 boundary begins.
//
// os_obj_lock is held from reading the cursor until the dnode is allocated. The cursor is the last number tried, so it
// is the call after a level-1 block was finished that searches, and the first object of a stretch found is passed over.
// A number that turns out to be taken costs a hold and a search for the next one that is free on disk: of a block whose
// objects are all allocated in memory only, each single one.
#pragma once

#include "model/dmu_object.h"
#include "model/dmu_state.h"
#include "model/dmu_tx.h"
#include "model/objset.h"
#include "model/variants/object_alloc.h"
#include "model/variants/sparse_region.h"
#include "model/visits.h"

namespace dmu {

// search(object): the object to go on from, when the cursor stands on a boundary.
template <class Search>
uint64_t alloc_with_one_cursor(objset_t &os, const dnode_spec &spec, dmu_tx_t &tx, Search search)
{
    const uint64_t l1_objects = objects_per_l1(os);
    const bool by_dnode = os.os_dmu.era.new_object_by_dnode;
    auto held = mutex_enter(os.os_obj_lock);

    bool in_vain = false; // the number before was
    for (;;) {
        uint64_t object = os.os_obj_next;
        if (object % l1_objects == 0)
            object = search(object);
        os.os_obj_next = ++object;
        const bool one_of_many = in_vain && spec.slots == DNODE_MIN_SLOTS;
        if (one_of_many)
            os.os_visits->begin();

        if (auto hold = dnode_hold_impl(os, object, DNODE_MUST_BE_FREE, spec.slots)) {
            dnode_allocate(**hold, spec, tx);
            os.os_obj_next = object + spec.slots - 1;
            if (by_dnode)
                dmu_tx_add_new_object(tx, **hold);
            hold->rele();
            held.exit();
            if (!by_dnode)
                dmu_tx_add_new_object(tx, os, object);
            return object;
        }
        in_vain = true;
        ++os.allocator.visits;
        const object_next_t next = dmu_object_next(os, object, true, 0);
        if (next.error == 0)
            os.os_obj_next = next.object - 1;
        if (one_of_many)
            os.os_obj_next += os.os_visits->and_those_alike(object, next);
    }
}

} // namespace dmu
