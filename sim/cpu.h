// One simulated CPU, and sets of them.
#pragma once

#include "sim/event_queue.h"
#include "sim/limits.h"

#include <array>
#include <bit>
#include <cstdint>

namespace sim {

// A thread's time slice.
struct Slice {
    Key release_ahead = 0; // a lock may be released ahead of the others while the key is below this
    Key end = never;
};

struct alignas(64) Cpu {
    Thread *thread = nullptr; // null: idle
    Key target = never;       // when its thread wants to go on
    Slice slice;
    WinnerTree::Leaf *leaf = nullptr; // where `target` stands, unless it is the CPU whose turn it is
    int64_t since_ps = 0;             // since when it is busy or idle; may lie ahead while a woken thread is on its way
    int64_t busy_ps = 0;
    int64_t idle_ps = 0;
    int64_t switch_ps = 0; // of busy_ps: changing threads
};

class CpuSet {
public:
    static constexpr uint32_t none = ~uint32_t{0};

    static CpuSet all()
    {
        CpuSet set;
        set.words_.fill(~uint64_t{0});
        return set;
    }
    void insert(uint32_t cpu) { words_[cpu / 64] |= uint64_t{1} << (cpu % 64); }
    void erase(uint32_t cpu) { words_[cpu / 64] &= ~(uint64_t{1} << (cpu % 64)); }
    bool contains(uint32_t cpu) const { return (words_[cpu / 64] >> (cpu % 64)) & 1; }
    bool operator==(const CpuSet &) const = default;

    // The smallest member from `from` on and below `end` that is in the other set too, or none.
    uint32_t first_common(const CpuSet &other, uint32_t from, uint32_t end) const
    {
        uint64_t mask = ~uint64_t{0} << (from % 64);
        for (uint32_t word = from / 64; word * 64 < end; ++word, mask = ~uint64_t{0}) {
            const uint64_t both = words_[word] & other.words_[word] & mask;
            if (both != 0) {
                const uint32_t cpu = word * 64 + static_cast<uint32_t>(std::countr_zero(both));
                return cpu < end ? cpu : none;
            }
        }
        return none;
    }

private:
    std::array<uint64_t, (limits::cpus + 63) / 64 + 1> words_{};
};

} // namespace sim
