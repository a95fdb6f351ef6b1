// How dnode_next_offset walks the block tree.
#pragma once

#include <cstdint>

#include "model/dnode.h"

namespace dmu {

class next_offset_variant_t {
public:
    virtual ~next_offset_variant_t() = default;

    // REQUIRES: dn_struct_rwlock is held; the object is on disk and its block size is a power of two.
    virtual next_offset_t search(dnode_t &dn, uint32_t flags, uint64_t offset, uint32_t minlvl, uint64_t blkfill,
                                 uint64_t txg) const = 0;
};

} // namespace dmu
