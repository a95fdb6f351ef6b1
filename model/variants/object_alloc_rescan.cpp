// object_alloc "rescan": OpenZFS 68cbd56e18 (2016-06).
//
// The same cursor, but the search begins at object 0 only when enough dnodes have been freed since the last time, and
// at most once a txg: where nothing is freed nothing is ever tried twice.
//
// Once dnodes could take several slots (8bea98150, a month later) the cursor became the next number to try, so that the
// search comes before the first object of a stretch and not after it, and a stretch that yields nothing is followed by
// a search for an empty block.
#include "model/variants/object_alloc_forms.h"
#include "model/variants/object_alloc_one_cursor.h"

namespace dmu {

namespace {

class rescan_t final : public object_alloc_t {
public:
    explicit rescan_t(uint64_t threshold) : threshold_(threshold) {}

    uint64_t dmu_object_alloc(objset_t &os, const dnode_spec &spec, dmu_tx_t &tx) const override
    {
        if (os.os_dmu.era.cursor_is_next)
            return alloc_with_next_cursor(os, spec, tx);
        return alloc_with_one_cursor(os, spec, tx, [&](uint64_t object) {
            const sparse_region_t region = sparse_region(os, search_start(os, object), false);
            return region.found ? region.object : object;
        });
    }
    void objset_synced(objset_t &os) const override { arm_rescan(os, threshold_); }

private:
    static uint64_t alloc_with_next_cursor(objset_t &os, const dnode_spec &spec, dmu_tx_t &tx)
    {
        const uint64_t l1_objects = objects_per_l1(os);
        bool searched = false;
        auto held = mutex_enter(os.os_obj_lock);

        for (;;) { // a stretch without a free number leads to the next one, and the objset has an end
            uint64_t object = os.os_obj_next;
            if (object % l1_objects == 0) {
                const sparse_region_t region = sparse_region(os, search_start(os, object), searched);
                searched = true;
                if (region.found)
                    object = region.object;
            }
            os.os_obj_next = object + spec.slots;

            if (auto hold = dnode_hold_impl(os, object, DNODE_MUST_BE_FREE, spec.slots)) {
                dnode_allocate(**hold, spec, tx);
                hold->rele();
                held.exit();
                dmu_tx_add_new_object(tx, os, object);
                return object;
            }
            ++os.allocator.visits;
            const object_next_t next = dmu_object_next(os, object, true, 0);
            os.os_obj_next = next.error == 0 ? next.object : (object / DNODES_PER_BLOCK + 1) * DNODES_PER_BLOCK;
        }
    }

    const uint64_t threshold_;
};

} // namespace

std::unique_ptr<const object_alloc_t> make_object_alloc_rescan(const code_config &code)
{
    return std::make_unique<rescan_t>(code.rescan_threshold);
}

} // namespace dmu
