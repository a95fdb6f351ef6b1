// Where dbuf_hold_impl keeps what each level of its recursion needs.
//
// The recursion climbs from a block to the first ancestor in memory. Kernel stacks are small, so the code of 2010 moved
// the frames to the heap, in one piece; 2018 gave each level its own piece; 2019 put them back on the stack.
#pragma once

#include <cstdint>

#include "model/dbuf.h"

namespace dmu {

class dbuf_hold_variant_t {
public:
    virtual ~dbuf_hold_variant_t() = default;

    // The outermost call.
    virtual Result<dbuf_hold_t> hold(dnode_t &dn, uint8_t level, uint64_t blkid, bool fail_sparse,
                                     bool fail_uncached) const = 0;
    // The call for the parent, from within dbuf_findbp at `depth`.
    virtual Result<dbuf_hold_t> hold_parent(dnode_t &dn, uint8_t level, uint64_t blkid, bool fail_sparse,
                                            uint32_t depth) const = 0;
};

} // namespace dmu
