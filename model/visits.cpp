#include "model/visits.h"

#include <algorithm>

#include "model/dbuf_impl.h"
#include "model/dmu_object.h"
#include "model/dmu_zfetch.h"
#include "model/variants/dnode_slots.h"
#include "model/variants/sparse_region.h"

namespace dmu {

namespace {

// What a visit calls when the block is in memory and held, where slots are judged by type. All of them leave what they
// find as it was, but for the statistics below.
constexpr Fn functions_of_a_visit[] = {
    Fn::dnode_hold_impl,
    Fn::dbuf_hold,
    Fn::dbuf_hold_level_frame,
    Fn::dbuf_hold_impl_recursive,
    Fn::dbuf_find,
    Fn::multilist_link_active,
    Fn::db_holds,
    Fn::dbuf_read,
    Fn::arc_get_compression,
    Fn::dmu_zfetch,
    Fn::zrl_add,
    Fn::dbuf_rele,
    Fn::arc_buf_freeze,
    Fn::dmu_object_next,
    Fn::dnode_next_offset,
    Fn::dnode_next_offset_level,
};

std::vector<uint16_t> numbers(std::span<const Fn> functions)
{
    std::vector<uint16_t> result;
    for (const Fn function : functions)
        result.push_back(static_cast<uint16_t>(function));
    return result;
}

std::vector<std::span<uint64_t>> statistics_of_a_visit(objset_t &os)
{
    dmu_state_t &dmu = os.os_dmu;
    return {os.allocator.words(),
            os.stats.words(),
            dmu.next_offset_level_calls,
            dmu.zfetch_latency,
            dmu.dbuf_stats.hash_hits.word(),
            dmu.zfetch_stats.zfetch_misses.word()};
}

std::span<const dnode_phys_t> dnodes_on_disk(const dmu_buf_impl_t &db)
{
    return {static_cast<const dnode_phys_t *>(db.db_data), DNODES_PER_BLOCK};
}

} // namespace

visits_t::visits_t(objset_t &os) : os_(os), visit_(statistics_of_a_visit(os), numbers(functions_of_a_visit)) {}

uint64_t visits_t::and_those_alike(uint64_t object, const object_next_t &next)
{
    const uint64_t room = visit_.end();
    const uint64_t l1_objects = objects_per_l1(os_);
    // When the cursor stands on the first number of a level-1 block the allocator searches, so no row goes beyond it.
    const bool on_boundary = object % l1_objects == 0;
    if (next.error != 0 || next.object != object + 1 || on_boundary || os_.os_watched_object != 0)
        return 0;
    const uint64_t times = numbers_alike(object, std::min(room, l1_objects - 1 - object % l1_objects));
    return times > 0 && visit_.again(times) ? times : 0;
}

// How many behind `object`, which has been visited, would be visited in the same way.
uint64_t visits_t::numbers_alike(uint64_t object, uint64_t most) const
{
    const uint64_t first_blkid = object / DNODES_PER_BLOCK;
    const dmu_buf_impl_t *const executed = most > 0 ? block_at_hand(first_blkid) : nullptr;
    if (executed == nullptr)
        return 0;
    const dnode_slots_t &dnode_slots = *os_.os_dmu.variants.dnode_slots;
    const zfetch_t *zf = DMU_META_DNODE(os_).dn_zfetch.get();
    // Block 0 is of no interest to the prefetcher, and a stream of its may wait for just one block.
    const bool beyond_block = first_blkid > 0 && (zf == nullptr || zf->zf_stream.empty());
    const dmu_buf_impl_t *db = executed;
    // The executed one among them: what was executed has to be what is looked for.
    uint64_t alike = 0;
    for (uint64_t at = object; alike <= most;) {
        const uint64_t slot = at % DNODES_PER_BLOCK;
        const uint64_t in_block = std::min(most + 1 - alike, DNODES_PER_BLOCK - slot);
        const auto *children = static_cast<const dnode_children_t *>(dmu_buf_get_user(*db));
        const std::span<const dnode_phys_t> on_disk = dnodes_on_disk(*db);
        const uint64_t refused = dnode_slots.refused_alike({children->dnc_children + slot, in_block});
        // Behind each the next one, free on disk; behind the last slot that is the first of another block.
        const auto behind = on_disk.subspan(slot + 1).first(std::min(refused, DNODES_PER_BLOCK - 1 - slot));
        const auto in_use = [](const dnode_phys_t &dnp) { return dnp.dn_type != DMU_OT_NONE; };
        const auto found = static_cast<uint64_t>(std::find_if(behind.begin(), behind.end(), in_use) - behind.begin());
        alike += found;
        at += found;
        if (found == refused || slot + found != DNODES_PER_BLOCK - 1 || !beyond_block)
            break;
        const dmu_buf_impl_t *const following = block_at_hand(at / DNODES_PER_BLOCK + 1);
        if (following == nullptr || !dbufs_alike(*executed, *following) ||
            dnodes_on_disk(*following)[0].dn_type != DMU_OT_NONE)
            break;
        ++alike;
        ++at;
        db = following;
    }
    return alike > 0 ? alike - 1 : 0;
}

const dmu_buf_impl_t *visits_t::block_at_hand(uint64_t blkid) const
{
    const dmu_buf_impl_t *db = dbuf_at_hand(os_, DMU_META_DNODE(os_).dn_object, 0, blkid);
    return db != nullptr && dmu_buf_get_user(*db) != nullptr ? db : nullptr;
}

} // namespace dmu
