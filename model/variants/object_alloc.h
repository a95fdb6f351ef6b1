// How dmu_object_alloc finds a free object number.
#pragma once

#include <cstdint>

#include "model/dnode.h"

namespace dmu {

class object_alloc_t {
public:
    virtual ~object_alloc_t() = default;

    // A number free on entry and taken for tx on return.
    virtual uint64_t dmu_object_alloc(objset_t &os, const dnode_spec &spec, dmu_tx_t &tx) const = 0;
    // The dnodes of a txg have been synced; os_freed_dnodes is up to date.
    virtual void objset_synced(objset_t &) const {}
};

// How a thread takes a number from its CPU's cursor (part of the allocator with a cursor per CPU).
class percpu_cursor_t {
public:
    virtual ~percpu_cursor_t() = default;

    // The chunk ends before `slots` more are found at object.
    virtual bool chunk_spent(uint64_t object, uint32_t slots, uint64_t chunk_objects) const = 0;
    // The number to try, which was read as `object` before.
    virtual uint64_t take(atomic_uint64_t &cursor, uint64_t object, uint32_t slots) const = 0;
    // `object` has been allocated.
    virtual void taken(atomic_uint64_t &cursor, uint64_t object, uint32_t slots) const = 0;
};

} // namespace dmu
