// dbuf_hold "heap-frame": OpenZFS of 2018 and 2019 (seen in 73cdcc632).
//
// Each level of the recursion works in a piece of heap of its own: what a shallow hold needs is small, but there is
// still one allocation and one free a level.
#include "model/variants/dbuf_hold_body.h"
#include "model/variants/dbuf_hold_forms.h"

namespace dmu {

namespace {

constexpr uint32_t dbuf_hold_arg_bytes = 88;

class heap_frame_t final : public dbuf_hold_variant_t {
public:
    Result<dbuf_hold_t> hold(dnode_t &dn, uint8_t level, uint64_t blkid, bool fail_sparse,
                             bool fail_uncached) const override
    {
        Probe probe{Fn::dbuf_hold_impl_entry};
        return frame(dn, level, blkid, fail_sparse, fail_uncached, 0);
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
        kmem_alloc(dbuf_hold_arg_bytes);
        Probe probe{Fn::dbuf_hold_impl_arg};
        auto held = dbuf_hold_body(dn, level, blkid, fail_sparse, fail_uncached, depth);
        kmem_free(dbuf_hold_arg_bytes);
        return held;
    }
};

} // namespace

std::unique_ptr<const dbuf_hold_variant_t> make_dbuf_hold_heap_frame()
{
    return std::make_unique<heap_frame_t>();
}

} // namespace dmu
