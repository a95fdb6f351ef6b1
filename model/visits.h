// Visits in vain: numbers that an allocator tries, one after the other, and finds taken.
//
// Where all dnodes are allocated in the open txg every single one is tried: a hold that is refused, in the block of the
// number, and a search that finds the next number free on disk, in the block of that one. These visits differ in
// nothing but slot and block, and 100,000 objects in one txg cost the legacy allocator a million of them. So the first
// ones are executed (sim/repeat.h); of each further one it is looked whether its slot and its blocks stand as theirs
// do, in memory and on disk, with their locks free and near. Only then is it added instead of executed. What all visits
// share (the meta-dnode's locks, the prefetcher's) has just been left by an executed one, and nobody else has run.
#pragma once

#include "model/spl.h"

namespace dmu {

struct dmu_buf_impl_t;
struct objset_t;
struct object_next_t;

class visits_t {
public:
    explicit visits_t(objset_t &os);

    // The number is about to be tried.
    void begin() { visit_.begin(); }
    // It was refused, as a dnode of one slot, and dmu_object_next has answered. How many numbers behind it have been
    // visited with it, each with the answer that the next number is free on disk.
    uint64_t and_those_alike(uint64_t object, const object_next_t &next);

    // Visits that were not executed, or executed for comparison only (Repeat::repeated).
    uint64_t repeated() const { return visit_.repeated(); }

private:
    uint64_t numbers_alike(uint64_t object, uint64_t most) const;
    const dmu_buf_impl_t *block_at_hand(uint64_t blkid) const;

    objset_t &os_;
    Repeat visit_;
};

} // namespace dmu
