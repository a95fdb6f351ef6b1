#include "model/variants/repeated_visits.h"

#include <algorithm>
#include <bit>

#include "model/dbuf_impl.h"
#include "model/dmu_object.h"
#include "model/objset.h"
#include "model/variants/sparse_region.h"
#include "model/variants/variants.h"

namespace dmu {

namespace {

// What was counted since `before`, `times` more.
template <class Counters>
void count_difference(Counters &now, const Counters &before, uint64_t times)
{
    using numbers = std::array<uint64_t, sizeof(Counters) / sizeof(uint64_t)>;
    static_assert(sizeof(numbers) == sizeof(Counters));
    auto value = std::bit_cast<numbers>(now);
    const auto from = std::bit_cast<numbers>(before);
    for (size_t i = 0; i < value.size(); ++i)
        value[i] += times * (value[i] - from[i]);
    now = std::bit_cast<Counters>(value);
}

} // namespace

repeated_visits_t::counters_t repeated_visits_t::counters() const
{
    return {os_.stats, os_.allocator, os_.os_dmu.dbuf_stats, os_.os_dmu.next_offset_level_calls};
}

void repeated_visits_t::count_again(uint64_t times)
{
    count_difference(os_.stats, before_.dnode, times);
    count_difference(os_.allocator, before_.allocator, times);
    count_difference(os_.os_dmu.dbuf_stats, before_.dbuf, times);
    count_difference(os_.os_dmu.next_offset_level_calls, before_.levels, times);
}

void repeated_visits_t::begin(uint64_t object)
{
    begun_ = false;
    if (pause_ > 0) {
        --pause_;
        return;
    }
    // Behind the last two slots of a block nothing goes alike: the search leaves the block.
    if (object % DNODES_PER_BLOCK + 2 >= DNODES_PER_BLOCK || os_.os_dmu.config.code.arc_buf_access)
        return;
    before_ = counters();
    begun_ = repetition_.begin();
}

uint64_t repeated_visits_t::end(uint64_t object, const object_next_t &next)
{
    if (!begun_)
        return 0;
    begun_ = false;
    const uint64_t times = next.error == 0 && next.object == object + 1 ? alike(object) : 0;
    repetition_.abandon();
    if (times == 0) {
        pause_ = next_pause_;
        next_pause_ = std::min(2 * next_pause_, longest_pause);
        return 0;
    }
    next_pause_ = 1;
    repeated_ += times;
    repetition_.repeat({passed_.data(), times});
    count_again(times);
    return times;
}

// How many objects behind this one, and which locks their visits pass.
uint64_t repeated_visits_t::alike(uint64_t object)
{
    const uint32_t index = object % DNODES_PER_BLOCK;
    dmu_buf_impl_t *db = dbuf_peek(os_, DMU_META_DNODE_OBJECT, 0, object / DNODES_PER_BLOCK);
    if (db == nullptr || db->db_holds.peek() == 0)
        return 0;
    auto *children = static_cast<dnode_children_t *>(dmu_buf_get_user(*db));
    if (children == nullptr)
        return 0;
    const dnode_slots_t &slots = *os_.os_dmu.variants.dnode_slots;
    if (slots.refused_alike(*children, index, 1, passed_.data()) == 0 ||
        os_.stats.dnode_create != before_.dnode.dnode_create || !repetition_.end(*passed_.front()))
        return 0;

    // Behind each of them the search finds the next slot, which is in the block and free on disk; and none of them is
    // the first of a level-1 block, behind which the allocator searches anew.
    uint64_t most = std::min<uint64_t>(DNODES_PER_BLOCK - 2 - index, repetition_.room());
    for (uint64_t slot = 0; slot < most; ++slot) {
        if (db->dnodes()[index + slot + 2].dn_type != DMU_OT_NONE || (object + slot) % objects_per_l1(os_) == 0)
            most = slot;
    }
    return slots.refused_alike(*children, index + 1, static_cast<uint32_t>(most), passed_.data());
}

} // namespace dmu
