// The next sparse stretch of the meta-dnode, as every allocator asks for it.
#pragma once

#include <cstdint>

namespace dmu {

struct objset_t;

// Objects under one level-1 block of the meta-dnode: where an allocator looks for a better place.
uint64_t objects_per_l1(objset_t &os);

struct sparse_region_t {
    bool found;
    uint64_t object; // its first
};
// The first level-1 block, from object `start` on, that is at most a quarter full on disk. empty_block: the first
// level-0 block without any dnode instead.
sparse_region_t sparse_region(objset_t &os, uint64_t start, bool empty_block);

// One search from object 0 is due once enough dnodes have been freed (since 68cbd56e18): counted as they are synced,
// judged at the end of each sync of the objset, what is above the threshold is forgotten.
void arm_rescan(objset_t &os, uint64_t threshold);
// Where the search begins: object 0, once, when a rescan is due; else `object`.
uint64_t search_start(objset_t &os, uint64_t object);

} // namespace dmu
