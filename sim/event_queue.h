// Who is next: one 64-bit key per CPU, a winner tree over the keys, and a heap of timers beside it.
//
// A key is a time above a CPU number, so the order of events, by time and then by CPU, is one comparison, and no event
// is ever allocated. The winner tree holds the keys of all CPUs but the one whose turn it is, so its root is the first
// instant at which any *other* CPU has to be looked at. This is the one place where ties are broken.
//
// Timers are kept apart, since there may be one for every thread. A timer that wakes a thread carries the largest CPU
// number: it comes after all CPUs of its instant. A timer for the release of a lock (mutex.h) carries the number of the
// CPU that releases.
#pragma once

#include "sim/limits.h"
#include "sim/time.h"

#include <cstdint>
#include <vector>

namespace sim {

struct Thread;
struct LockBase;

// A type of its own among the 64-bit ones: a store to a counter cannot be a store to a clock, so clocks stay in
// registers.
using Key = unsigned long long;

inline constexpr Key never = ~Key{0};

constexpr Key key_of(Time time, uint32_t cpu)
{
    return (static_cast<uint64_t>(time.ps) << limits::cpu_bits) | cpu;
}
constexpr Key key_span(Duration length)
{
    return static_cast<uint64_t>(length.ps) << limits::cpu_bits;
}
constexpr Time time_of(Key key)
{
    return {static_cast<int64_t>(key >> limits::cpu_bits)};
}
constexpr uint32_t cpu_of(Key key)
{
    return static_cast<uint32_t>(key) & limits::timer_cpu;
}

// Each node is the lesser of its two children. A leaf belongs to no CPU for good: the CPU whose turn it is has none,
// and when another one's turn comes it takes that one's leaf. So one way up serves for two, and the root is the
// horizon. The way up from a leaf is written down, four levels of it, since working out the places costs more than the
// comparisons; larger machines work out the rest.
class WinnerTree {
public:
    static constexpr unsigned written_levels = 4;

    // A leaf, and the way up from it.
    struct Leaf {
        Key key = never;
        Key *sibling[written_levels] = {};
        Key *parent[written_levels] = {}; // the last of them is written in large trees only
    };

    void resize(uint32_t leaves);
    // Valid until resize().
    Leaf *leaf(uint32_t index) { return &row_[index]; }

    // Returns the first key.
    Key set(Leaf &leaf, Key key)
    {
        leaf.key = key;
        for (unsigned level = 0;; ++level) {
            const Key sibling = *leaf.sibling[level];
            key = sibling < key ? sibling : key;
            if (level + 1 == written_levels)
                break;
            *leaf.parent[level] = key;
        }
        return root_ = large_ ? set_above(leaf, key) : key;
    }
    Key first() const { return root_; }

private:
    Key set_above(const Leaf &leaf, Key key);

    Key root_ = never;
    bool large_ = false;    // more levels than are written down
    std::vector<Key> tree_; // above the leaves: the root at 1, the children of i at 2i and 2i + 1
    std::vector<Leaf> row_;
};

// A binary heap in which a thread knows its place, so that a timer that is no longer wanted is taken out, not left
// behind.
class Timers {
public:
    static constexpr uint32_t none = ~uint32_t{0};

    struct Entry {
        Key key;
        uint64_t order; // thread number, or for a release the number of releases so far: equal keys stay in one order
        Thread *thread; // one of the two
        LockBase *release;
    };

    bool empty() const { return heap_.empty(); }
    Key first() const { return heap_.empty() ? never : heap_.front().key; }
    void add(Thread &thread, Time at);
    void add_release(LockBase &lock, Key at);
    void remove(Thread &thread);
    Entry pop();

private:
    static bool before(const Entry &a, const Entry &b) { return a.key != b.key ? a.key < b.key : a.order < b.order; }
    void put(uint32_t slot, const Entry &entry);
    void up(uint32_t slot, Entry entry);
    void down(uint32_t slot, Entry entry);
    void erase(uint32_t slot);

    std::vector<Entry> heap_;
    uint64_t releases_ = 0;
};

} // namespace sim
