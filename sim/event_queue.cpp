#include "sim/event_queue.h"

#include "sim/thread.h"

#include <algorithm>
#include <bit>

namespace sim {

void WinnerTree::resize(uint32_t leaves)
{
    const size_t count = std::max(1u << written_levels, std::bit_ceil(leaves));
    large_ = count > 1u << written_levels;
    tree_.assign(count, never);
    root_ = never;
    row_.assign(count, Leaf{});
    for (size_t leaf = 0; leaf < count; ++leaf) {
        Leaf &way = row_[leaf];
        way.sibling[0] = &row_[leaf ^ 1].key;
        size_t i = (count + leaf) / 2;
        way.parent[0] = &tree_[i];
        for (unsigned level = 1; level < written_levels; ++level) {
            way.sibling[level] = &tree_[i ^ 1];
            i /= 2;
            way.parent[level] = &tree_[i];
        }
    }
}

Key WinnerTree::set_above(const Leaf &leaf, Key key)
{
    size_t i = static_cast<size_t>(leaf.parent[written_levels - 1] - tree_.data());
    tree_[i] = key;
    while (i > 1) {
        key = std::min(key, tree_[i ^ 1]);
        i >>= 1;
        tree_[i] = key;
    }
    return key;
}

void Timers::put(uint32_t slot, const Entry &entry)
{
    heap_[slot] = entry;
    if (entry.thread != nullptr)
        entry.thread->timer_slot = slot;
}

void Timers::up(uint32_t slot, Entry entry)
{
    while (slot > 0) {
        const uint32_t parent = (slot - 1) / 2;
        if (!before(entry, heap_[parent]))
            break;
        put(slot, heap_[parent]);
        slot = parent;
    }
    put(slot, entry);
}

void Timers::down(uint32_t slot, Entry entry)
{
    const uint32_t size = static_cast<uint32_t>(heap_.size());
    for (uint32_t child; (child = 2 * slot + 1) < size; slot = child) {
        if (child + 1 < size && before(heap_[child + 1], heap_[child]))
            ++child;
        if (!before(heap_[child], entry))
            break;
        put(slot, heap_[child]);
    }
    put(slot, entry);
}

void Timers::erase(uint32_t slot)
{
    const Entry last = heap_.back();
    heap_.pop_back();
    if (slot == heap_.size())
        return;
    if (slot > 0 && before(last, heap_[(slot - 1) / 2]))
        up(slot, last);
    else
        down(slot, last);
}

void Timers::add(Thread &thread, Time at)
{
    VERIFY3(thread.timer_slot, ==, none);
    heap_.emplace_back();
    up(static_cast<uint32_t>(heap_.size()) - 1, {key_of(at, limits::timer_cpu), thread.id, &thread, nullptr});
}

void Timers::add_release(LockBase &lock, Key at)
{
    heap_.emplace_back();
    up(static_cast<uint32_t>(heap_.size()) - 1, {at, releases_++, nullptr, &lock});
}

void Timers::remove(Thread &thread)
{
    if (thread.timer_slot == none)
        return;
    erase(thread.timer_slot);
    thread.timer_slot = none;
}

Timers::Entry Timers::pop()
{
    const Entry first = heap_.front();
    erase(0);
    if (first.thread != nullptr)
        first.thread->timer_slot = none;
    return first;
}

} // namespace sim
