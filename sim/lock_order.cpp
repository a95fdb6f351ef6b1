#include "sim/lock_order.h"

#include "sim/simulator.h"

#include <algorithm>

namespace sim {

void LockOrder::taken(LockBase &lock, bool write, bool waits)
{
    if (hot.free_running || apart_.contains(lock.lock_class))
        return;
    Thread &self = *hot.thread;
    if (waits && !self.held.empty()) {
        std::vector<uint32_t> all;
        for (const HeldLock &held : self.held) {
            simulator_.instance_of(*held.lock);
            all.push_back(held.lock->instance);
        }
        simulator_.instance_of(lock);
        for (const HeldLock &held : self.held)
            if (held.lock != &lock)
                note(*held.lock, held, lock, write, all);
    }
    self.held.push_back({&lock, hot.node->index, write});
}

void LockOrder::left(const LockBase &lock)
{
    const auto remove = [&](Thread &thread) {
        const auto at = std::find_if(thread.held.rbegin(), thread.held.rend(),
                                     [&](const HeldLock &held) { return held.lock == &lock; });
        if (at == thread.held.rend())
            return false;
        thread.held.erase(std::next(at).base());
        return true;
    };
    if (remove(*hot.thread))
        return;
    // Taken by one thread and left by another, or taken before anybody watched.
    for (const std::unique_ptr<Thread> &thread : simulator_.threads())
        if (remove(*thread))
            return;
}

void LockOrder::note(LockBase &outer, const HeldLock &held, LockBase &inner, bool write,
                     const std::vector<uint32_t> &all)
{
    const Pair pair{outer.instance, inner.instance};
    auto [at, fresh] = nestings_.try_emplace(pair);
    Nesting &nesting = at->second;
    if (fresh) {
        nesting = {held.write, write, held.node, hot.node->index, hot.thread->id, {}};
        for (const uint32_t number : all)
            if (number != pair.first && number != pair.second)
                nesting.always_held.push_back(number);
    } else {
        nesting.outer_write = nesting.outer_write || held.write;
        nesting.inner_write = nesting.inner_write || write;
        std::erase_if(nesting.always_held,
                      [&](uint32_t number) { return std::find(all.begin(), all.end(), number) == all.end(); });
    }

    const auto other = nestings_.find({pair.second, pair.first});
    if (other == nestings_.end())
        return;
    const Nesting &reverse = other->second;
    if (!(nesting.outer_write || reverse.inner_write) || !(nesting.inner_write || reverse.outer_write))
        return;
    for (const uint32_t number : nesting.always_held)
        if (std::find(reverse.always_held.begin(), reverse.always_held.end(), number) != reverse.always_held.end())
            return;
    if (told_.size() >= limits::order_warnings)
        return;
    const Pair classes = std::minmax(uint32_t{outer.lock_class}, uint32_t{inner.lock_class});
    if (told_.insert(classes).second)
        simulator_.warn(text(outer, inner, nesting, reverse));
}

std::string LockOrder::text(const LockBase &first, const LockBase &second, const Nesting &one,
                            const Nesting &other) const
{
    const CallTree &tree = simulator_.call_tree();
    const auto taken = [&](const LockBase &lock, uint32_t node) {
        return simulator_.lock_name(lock) + " in " + simulator_.path_text(&tree.node(node));
    };
    const auto name = [&](const Nesting &nesting) { return simulator_.threads()[nesting.thread]->name; };
    return "lock-order inversion, which did not strike this time: thread " + name(one) + " took " +
           taken(first, one.outer_node) + ", then " + taken(second, one.inner_node) + "; thread " + name(other) +
           " took " + taken(second, other.outer_node) + ", then " + taken(first, other.inner_node);
}

} // namespace sim
