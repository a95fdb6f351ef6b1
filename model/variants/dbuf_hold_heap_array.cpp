// dbuf_hold "heap-array": OpenZFS of 2010 to 2018 (seen in 81285582b9).
//
// The outermost call allocates 20 frames at once, whatever the depth will be, so a hold costs one allocation and one
// free even when the dbuf is found at once.
#include "model/variants/dbuf_hold_body.h"
#include "model/variants/dbuf_hold_forms.h"

namespace dmu {

namespace {

constexpr uint32_t dbuf_hold_impl_data_bytes = 96; // one frame of the real array

class heap_array_t final : public dbuf_hold_variant_t {
public:
    Result<dbuf_hold_t> hold(dnode_t &dn, uint8_t level, uint64_t blkid, bool fail_sparse,
                             bool fail_uncached) const override
    {
        Probe probe{Fn::dbuf_hold_impl};
        kmem_alloc(dbuf_hold_impl_data_bytes * DBUF_HOLD_IMPL_MAX_DEPTH);
        auto held = frame(dn, level, blkid, fail_sparse, fail_uncached, 0);
        kmem_free(dbuf_hold_impl_data_bytes * DBUF_HOLD_IMPL_MAX_DEPTH);
        return held;
    }

    Result<dbuf_hold_t> hold_parent(dnode_t &dn, uint8_t level, uint64_t blkid, bool fail_sparse,
                                    uint32_t depth) const override
    {
        return frame(dn, level, blkid, fail_sparse, false, depth);
    }

private:
    static Result<dbuf_hold_t> frame(dnode_t &dn, uint8_t level, uint64_t blkid, bool fail_sparse, bool fail_uncached,
                                     uint32_t depth)
    {
        Probe probe{Fn::dbuf_hold_impl_frame};
        return dbuf_hold_body(dn, level, blkid, fail_sparse, fail_uncached, depth);
    }
};

} // namespace

std::unique_ptr<const dbuf_hold_variant_t> make_dbuf_hold_heap_array()
{
    return std::make_unique<heap_array_t>();
}

} // namespace dmu
