// Visits of taken objects, one after the other, that all go alike.
//
// An allocator with one cursor walks through whole blocks of dnodes that the open txg has taken: a hold that is
// refused and a search that finds the very next slot, thousands of times. Within a block such a visit depends on the
// one dnode alone, so after one that ran the following ones are entered as repetitions of it (sim/repetition.h), as far
// as their dnodes are in the same state, the search will find the next slot too, and nobody else comes between. What is
// simulated is the same to the picosecond; only the host is spared.
#pragma once

#include <array>
#include <cstdint>

#include "model/dbuf.h"
#include "model/dnode.h"
#include "model/kstats.h"

namespace dmu {

struct objset_t;
struct object_next_t;

class repeated_visits_t {
public:
    explicit repeated_visits_t(objset_t &os) : os_(os) {}

    // `object` is about to be tried. REQUIRES: os_obj_lock held until end().
    void begin(uint64_t object);
    // It was taken, and this is what the search found. Returns how many of the objects behind it have been visited
    // likewise.
    uint64_t end(uint64_t object, const object_next_t &next);
    // The object was had, or is no longer tried.
    void abandon()
    {
        begun_ = false;
        repetition_.abandon();
    }

    // Visits that were entered as repetitions so far.
    uint64_t repeated() const { return repeated_; }

private:
    // What visits count, beside the kernel's accounts.
    struct counters_t {
        dnode_stats_t dnode;
        allocator_stats_t allocator;
        dbuf_stats_t dbuf;
        std::array<uint64_t, 16> levels;
    };
    static constexpr uint64_t longest_pause = 4096;

    counters_t counters() const;
    void count_again(uint64_t times);
    uint64_t alike(uint64_t object);

    objset_t &os_;
    repetition_t repetition_;
    bool begun_ = false;
    uint64_t pause_ = 0;      // visits until it is worth trying again
    uint64_t next_pause_ = 1; // after one more that was not
    uint64_t repeated_ = 0;
    counters_t before_{};
    std::array<sim_mutex_t *, DNODES_PER_BLOCK> passed_{};
};

} // namespace dmu
