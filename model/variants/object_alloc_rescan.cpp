// object_alloc "rescan": OpenZFS 68cbd56e18 (2016-06).
//
// The same cursor, but the search begins at object 0 only when enough dnodes have been freed since the last time, and
// at most once a txg: where nothing is freed nothing is ever tried twice.
#include "model/variants/object_alloc_forms.h"
#include "model/variants/object_alloc_one_cursor.h"

namespace dmu {

namespace {

class rescan_t final : public object_alloc_t {
public:
    explicit rescan_t(uint64_t threshold) : threshold_(threshold) {}

    uint64_t dmu_object_alloc(objset_t &os, const dnode_spec &spec, dmu_tx_t &tx) const override
    {
        return alloc_with_one_cursor(os, spec, tx, [&](uint64_t object) {
            const sparse_region_t region = sparse_region(os, search_start(os, object), false);
            return region.found ? region.object : object;
        });
    }
    void objset_synced(objset_t &os) const override { arm_rescan(os, threshold_); }

private:
    const uint64_t threshold_;
};

} // namespace

std::unique_ptr<const object_alloc_t> make_object_alloc_rescan(const code_config &code)
{
    return std::make_unique<rescan_t>(code.rescan_threshold);
}

} // namespace dmu
