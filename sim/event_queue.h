// Who is next: one 64-bit key per CPU, a winner tree over the keys, and a heap of timers beside it.
//
// A key is a time above a CPU number, so the order of events, by time and then by CPU, is one comparison, and no event is
// ever allocated. The root of the winner tree is the next CPU; the smallest key on the way up from a leaf, siblings only, is
// the first instant at which any *other* CPU has to be looked at. This is the one place where ties are broken.
//
// Timers are kept apart, since there may be one for every thread. A timer that wakes a thread carries the largest CPU number:
// it comes after all CPUs of its instant. A timer for the release of a lock (mutex.h) carries the number of the CPU that
// releases.
#pragma once

#include "sim/limits.h"
#include "sim/time.h"

#include <cstdint>
#include <vector>

namespace sim {

struct Thread;
struct LockBase;

using Key = uint64_t;

inline constexpr Key never = ~Key{0};

constexpr Key key_of(Time time, uint32_t cpu) { return (static_cast<uint64_t>(time.ps) << limits::cpu_bits) | cpu; }
constexpr Key key_span(Duration length) { return static_cast<uint64_t>(length.ps) << limits::cpu_bits; }
constexpr Time time_of(Key key) { return {static_cast<int64_t>(key >> limits::cpu_bits)}; }
constexpr uint32_t cpu_of(Key key) { return static_cast<uint32_t>(key) & limits::timer_cpu; }

class WinnerTree {
public:
    void resize(uint32_t cpus);

    void set(uint32_t cpu, Key key)
    {
        Key *const tree = tree_;
        uint32_t i = leaves_ + cpu;
        tree[i] = key;
        const auto level = [&] {
            const Key sibling = tree[i ^ 1];
            key = sibling < key ? sibling : key;
            i >>= 1;
            tree[i] = key;
        };
        level();
        level();
        level();
        level();
        while (i > 1) [[unlikely]]
            level();
    }
    Key get(uint32_t cpu) const { return tree_[leaves_ + cpu]; }
    Key first() const { return tree_[1]; }
    // The smallest key of all CPUs but this one.
    Key first_of_others(uint32_t cpu) const
    {
        const Key *const tree = tree_;
        uint32_t i = leaves_ + cpu;
        Key least = tree[i ^ 1];
        const auto level = [&] {
            i >>= 1;
            const Key sibling = tree[i ^ 1];
            least = sibling < least ? sibling : least;
        };
        level();
        level();
        level();
        while (i > 3) [[unlikely]]
            level();
        return least;
    }

private:
    // Four levels are written out, so there are always as many: most machines have 9 to 16 CPUs.
    static constexpr uint32_t least_leaves = 16;


    uint32_t leaves_ = 1;
    Key *tree_ = nullptr;
    std::vector<Key> storage_;
};

// A binary heap in which a thread knows its place, so that a timer that is no longer wanted is taken out, not left behind.
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
    static bool before(const Entry &a, const Entry &b)
    {
        return a.key != b.key ? a.key < b.key : a.order < b.order;
    }
    void put(uint32_t slot, const Entry &entry);
    void up(uint32_t slot, Entry entry);
    void down(uint32_t slot, Entry entry);
    void erase(uint32_t slot);

    std::vector<Entry> heap_;
    uint64_t releases_ = 0;
};

} // namespace sim
