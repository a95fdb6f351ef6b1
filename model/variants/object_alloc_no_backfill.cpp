// object_alloc "no-backfill": never merged; a workaround of 2016.
//
// The cursor never goes back: what is freed is not used again until the objset is opened anew.
#include "model/variants/object_alloc_forms.h"
#include "model/variants/object_alloc_one_cursor.h"

namespace dmu {

namespace {

class no_backfill_t final : public object_alloc_t {
public:
    uint64_t dmu_object_alloc(objset_t &os, const dnode_spec &spec, dmu_tx_t &tx) const override
    {
        return alloc_with_one_cursor(os, spec, tx, [&](uint64_t object) {
            const sparse_region_t region = sparse_region(os, object, false);
            return region.found ? region.object : object;
        });
    }
};

} // namespace

std::unique_ptr<const object_alloc_t> make_object_alloc_no_backfill(const code_config &)
{
    return std::make_unique<no_backfill_t>();
}

} // namespace dmu
