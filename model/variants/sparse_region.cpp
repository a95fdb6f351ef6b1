// The search trusts the fill counts on disk: what the open txg allocated does not show in them.
#include "model/variants/sparse_region.h"

#include "model/dmu_state.h"
#include "model/objset.h"

namespace dmu {

namespace {

constexpr uint32_t quarter_of_block = DNODES_PER_BLOCK >> 2;

} // namespace

uint64_t objects_per_l1(objset_t &os)
{
    return uint64_t{DNODES_PER_BLOCK} << (DMU_META_DNODE(os).dn_indblkshift - SPA_BLKPTRSHIFT);
}

sparse_region_t sparse_region(objset_t &os, uint64_t start, bool empty_block)
{
    ++os.allocator.searches;
    if (start == 0)
        ++os.allocator.rescans;
    const uint32_t minlvl = empty_block ? 1 : 2;
    const uint64_t blkfill = empty_block ? 1 : quarter_of_block;
    const next_offset_t found =
        dnode_next_offset(DMU_META_DNODE(os), DNODE_FIND_HOLE, start << DNODE_SHIFT, minlvl, blkfill, 0);
    if (os.allocator_trace != nullptr)
        os.allocator_trace->searched(start, minlvl, blkfill, found);
    return {found.error == 0, found.offset >> DNODE_SHIFT};
}

void arm_rescan(objset_t &os, uint64_t threshold)
{
    if (os.os_freed_dnodes < threshold)
        return;
    os.os_rescan_dnodes = true;
    os.os_freed_dnodes = 0;
}

uint64_t search_start(objset_t &os, uint64_t object)
{
    if (!os.os_rescan_dnodes.load())
        return object;
    os.os_rescan_dnodes = false;
    return 0;
}

} // namespace dmu
