#include "sim/blame.h"

#include "sim/scheduler.h"
#include "sim/simulator.h"

#include <algorithm>

namespace sim {

namespace {

void add(LockInstance &instance, uint32_t node, uint64_t ps)
{
    if (ps == 0)
        return;
    std::vector<Blame> &blame = instance.blame;
    uint32_t &place = instance.blame_place[node % instance.blame_place.size()];
    if (place >= blame.size() || blame[place].node != node) [[unlikely]] {
        const auto at = std::find_if(blame.begin(), blame.end(), [&](const Blame &one) { return one.node == node; });
        place = static_cast<uint32_t>(at - blame.begin());
        if (at == blame.end())
            blame.push_back({node, 0});
    }
    blame[place].ps += ps;
}

// The thread that surely holds it, itself on its way through life.
const Thread *known_owner(const LockBase &lock)
{
    return lock.owner == &released_ahead || held_by_readers(lock) ? nullptr : lock.owner;
}

// Since when whoever has the lock has it, within that span; its end: nobody has it. A hold that began before anybody
// waited is no hand-over, though its line may still be on its way.
int64_t held_since(const LockBase &lock, const LockInstance &instance, int64_t from, int64_t until)
{
    if (lock.owner == nullptr)
        return until;
    if (lock.owner == &released_ahead || lock.key == instance.met_key)
        return from;
    return std::clamp(time_of(lock.key).ps, from, until);
}

bool waits_elsewhere(const Thread &thread, const LockBase &lock)
{
    return thread.waits_for != nullptr && thread.waits_for != &lock;
}

// What it has waited for locks until then, the wait that goes on included.
int64_t waited_until(const Thread &thread, int64_t at_ps)
{
    int64_t waited = thread.lock_wait_ps;
    if (thread.waits_for != nullptr)
        waited += std::max<int64_t>(at_ps - std::max(thread.wait_since_ps, hot.counted_from_ps()), 0);
    return waited;
}

uint32_t link_of(uint16_t lock_class, const CallNode &node)
{
    const uint32_t function = node.parent == nullptr ? static_cast<uint32_t>(hot.simulator->tables().functions.size())
                                                     : uint32_t{node.function};
    return uint32_t{lock_class} << 16 | function;
}

WaitChain chain_of(const LockBase &lock, const Thread &owner)
{
    const CallTree &tree = hot.simulator->call_tree();
    WaitChain chain;
    chain.links.fill(WaitChain::none);
    size_t links = 0;
    chain.links[links++] = link_of(lock.lock_class, tree.node(lock.node));
    if (!waits_elsewhere(owner, lock)) { // it has waited meanwhile, and holds the lock again by itself
        chain.links[links] = link_of(owner.last_wait_class, tree.node(owner.last_wait_node));
        return chain;
    }
    const Thread *waiter = &owner;
    while (links < WaitChain::links_max && waiter != nullptr && waiter->waits_for != nullptr) {
        const LockBase &next = *waiter->waits_for;
        chain.links[links++] = link_of(next.lock_class, tree.node(next.node));
        waiter = known_owner(next);
        if (waiter != nullptr && waiter->waits_for == &next) // on its way to it
            break;
    }
    return chain;
}

void account(LockBase &lock, LockInstance &instance, int64_t at_ps)
{
    const int64_t from = std::max(instance.since_ps, hot.counted_from_ps());
    if (at_ps <= from)
        return;
    const int64_t held_from = held_since(lock, instance, from, at_ps);
    instance.hand_over_ps += static_cast<uint64_t>(held_from - from) * instance.waiting;
    add(instance, lock.node, static_cast<uint64_t>(at_ps - held_from) * instance.waiting);

    const Thread *owner = known_owner(lock);
    if (owner == nullptr || held_from == at_ps)
        return;
    int64_t waited = 0;
    if (instance.owner_seen == owner && instance.key_seen == lock.key)
        waited = waited_until(*owner, at_ps) - instance.owner_waited_ps;
    else if (waits_elsewhere(*owner, lock))
        waited = at_ps - std::max(owner->wait_since_ps, held_from);
    waited = std::min(waited, at_ps - held_from);
    if (waited > 0)
        hot.simulator->count_chain(chain_of(lock, *owner), static_cast<uint64_t>(waited) * instance.waiting);
}

// One waiter that is not among the others: the lock, or a CPU, is on its way. Whoever slipped in meanwhile is not to
// blame: the waiter could not have taken the lock.
void account_alone(LockBase &lock, const Thread &thread, int64_t at_ps)
{
    const int64_t from = std::max(thread.alone_since_ps, hot.counted_from_ps());
    if (hot.counting && at_ps > from)
        hot.simulator->instance_of(lock).hand_over_ps += static_cast<uint64_t>(at_ps - from);
}

} // namespace

void blame_until(LockBase &lock, int64_t at_ps)
{
    ++hot.scheduler->dealings;
    if (lock.instance == 0)
        return;
    LockInstance &instance = hot.simulator->instance_of(lock);
    if (hot.broken)
        return;
    VERIFY3(at_ps, >=, instance.since_ps);
    if (instance.waiting > 0 && hot.counting)
        account(lock, instance, at_ps);
    instance.since_ps = at_ps;
    const Thread *owner = known_owner(lock);
    const bool known = owner != nullptr && owner->waits_for != &lock;
    instance.owner_seen = known ? owner : nullptr;
    instance.key_seen = lock.key;
    instance.owner_waited_ps = known ? waited_until(*owner, at_ps) : 0;
}

void blame_joins(LockBase &lock, Thread &thread, int64_t at_ps)
{
    VERIFY(!thread.among_waiters);
    account_alone(lock, thread, at_ps);
    LockInstance &instance = hot.simulator->instance_of(lock);
    blame_until(lock, at_ps);
    if (instance.waiting++ == 0)
        instance.met_key = lock.key;
    thread.among_waiters = true;
}

void blame_leaves(LockBase &lock, Thread &thread, int64_t at_ps)
{
    VERIFY(thread.among_waiters);
    blame_until(lock, at_ps);
    --hot.simulator->instance_of(lock).waiting;
    thread.among_waiters = false;
    thread.alone_since_ps = at_ps;
}

void blame_ends(LockBase &lock, Thread &thread, int64_t at_ps)
{
    if (thread.among_waiters)
        blame_leaves(lock, thread, at_ps);
    else
        account_alone(lock, thread, at_ps);
}

void blame_is_cut(LockBase &lock, Thread &thread, int64_t at_ps)
{
    if (thread.among_waiters) {
        blame_until(lock, at_ps);
    } else {
        account_alone(lock, thread, at_ps);
        thread.alone_since_ps = at_ps;
    }
}

void blame_is_simple(LockBase &lock, const Thread &thread, uint64_t wait_ps)
{
    if (hot.counting && wait_ps > 0)
        add(hot.simulator->instance_of(lock), thread.holder_node, wait_ps);
}

void keep_lock_share(const LockBase &lock, Thread &thread, uint64_t wait_ps, uint64_t spin_ps)
{
    const int64_t blocked = thread.parts[Part::blocked] - thread.wait_blocked_ps;
    const int64_t spin = static_cast<int64_t>(spin_ps);
    const int64_t cpu_wait = static_cast<int64_t>(wait_ps) - spin - blocked;
    VERIFY3(cpu_wait, >=, 0);
    for (LockShare &share : thread.lock_shares) {
        if (share.lock_class == lock.lock_class) {
            share.spin_ps += spin;
            share.blocked_ps += blocked;
            share.cpu_wait_ps += cpu_wait;
            return;
        }
    }
    thread.lock_shares.push_back({lock.lock_class, spin, blocked, cpu_wait});
}

} // namespace sim
