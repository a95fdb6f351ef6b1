// object_alloc "legacy": OpenZFS before 68cbd56e18 (2016-06), seen in 81285582b9.
//
// Whenever the cursor has finished a level-1 block, the search begins at object 0, once per call. Everything that the
// open txg has allocated since then looks free on disk and is tried, object by object, with os_obj_lock held: N
// allocations in one txg cost O(N^2).
#include "model/variants/object_alloc_forms.h"
#include "model/variants/object_alloc_one_cursor.h"

namespace dmu {

namespace {

class legacy_t final : public object_alloc_t {
public:
    uint64_t dmu_object_alloc(objset_t &os, const dnode_spec &spec, dmu_tx_t &tx) const override
    {
        bool restarted = false;
        return alloc_with_one_cursor(os, spec, tx, [&](uint64_t object) {
            const uint64_t start = restarted ? object : 0;
            restarted = true;
            // Nothing sparse from there on: the cursor goes on where it stands, wherever the search began.
            const sparse_region_t region = sparse_region(os, start, false);
            return region.found ? region.object : object;
        });
    }
};

} // namespace

std::unique_ptr<const object_alloc_t> make_object_alloc_legacy(const code_config &)
{
    return std::make_unique<legacy_t>();
}

} // namespace dmu
