#include "scenarios/check.h"

#include "scenarios/operation.h"

namespace scenarios {

void check_pool(World &world)
{
    VERIFY(world.held.empty());
    const dmu::meta_dnode_report_t kept = dmu::meta_dnode_report(world.objset());
    const dmu::meta_dnode_report_t counted = dmu::meta_dnode_report(world.objset(), true);
    VERIFY3(kept.levels.size(), ==, counted.levels.size());
    for (size_t i = 0; i < kept.levels.size(); ++i)
        VERIFY(kept.levels[i].fills == counted.levels[i].fills);
    VERIFY(kept.level0 == counted.level0);
    VERIFY3(kept.used_objects, ==, counted.used_objects);
    VERIFY3(kept.used_objects, ==, world.objects_in_use);
    if (dmu::dmu_objset_userused_enabled(world.objset()))
        VERIFY(dmu::userused_report(world.objset()) == dmu::userused_recounted(world.objset()));
    for (uint64_t txg = 0; txg < dmu::TXG_SIZE; ++txg)
        VERIFY(!dmu::dmu_objset_is_dirty(world.objset(), txg));
}

void check_counters(const World &world)
{
    for (size_t i = 0; i < operations().size(); ++i) {
        const Tally &tally = world.tallies[i];
        uint64_t refused = 0;
        for (const auto &[error, count] : tally.errors)
            refused += count;
        VERIFY3(tally.latency.count(), ==, tally.count + refused);
    }
}

} // namespace scenarios
