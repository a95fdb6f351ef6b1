// dbuf_hold "stack-frame": illumos, and OpenZFS since 64b6c47d90 (2019).
//
// Plain recursion: nothing is allocated, and every level costs 40 bytes more of kernel stack than a level whose locals
// are elsewhere.
#include "model/variants/dbuf_hold_body.h"
#include "model/variants/dbuf_hold_forms.h"

namespace dmu {

namespace {

class stack_frame_t final : public dbuf_hold_variant_t {
public:
    Result<dbuf_hold_t> hold(dnode_t &dn, uint8_t level, uint64_t blkid, bool fail_sparse,
                             bool fail_uncached) const override
    {
        Probe probe{Fn::dbuf_hold_impl_recursive};
        return dbuf_hold_body(dn, level, blkid, fail_sparse, fail_uncached, 0);
    }

    Result<dbuf_hold_t> hold_parent(dnode_t &dn, uint8_t level, uint64_t blkid, bool fail_sparse,
                                    uint32_t depth) const override
    {
        Probe probe{Fn::dbuf_hold_impl_recursive};
        return dbuf_hold_body(dn, level, blkid, fail_sparse, false, depth);
    }
};

} // namespace

std::unique_ptr<const dbuf_hold_variant_t> make_dbuf_hold_stack_frame()
{
    return std::make_unique<stack_frame_t>();
}

} // namespace dmu
