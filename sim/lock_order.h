// Pairs of locks that are taken in both orders: a deadlock that did not happen this time.
//
// Whenever a thread enters a lock in a way that can wait, each lock it holds already stands before the new one. The
// other order, seen earlier or seen later, is an inversion, unless readers alone meet, or the same third lock was held
// both times and keeps the two apart. Locks are told apart one by one, not by class: many classes are nested in
// themselves, in an order that the numbers of objects or the levels of a tree settle. Setting up counts for nothing:
// there is one thread then.
#pragma once

#include "sim/lock.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sim {

class Simulator;

class LockOrder {
public:
    // Locks of the classes `apart` are not watched.
    LockOrder(Simulator &simulator, std::set<uint16_t> apart) : simulator_(simulator), apart_(std::move(apart)) {}

    // Of the running thread. `waits`: it would have waited, had the lock not been free.
    void taken(LockBase &lock, bool write, bool waits);
    void left(const LockBase &lock);

private:
    // One lock was taken while another was held.
    struct Nesting {
        bool outer_write = false; // at least once
        bool inner_write = false;
        uint32_t outer_node = 0; // call nodes
        uint32_t inner_node = 0;
        uint32_t thread = 0;
        std::vector<uint32_t> always_held; // by number, besides the two
    };
    using Pair = std::pair<uint32_t, uint32_t>; // numbers of locks: outer, inner

    void note(LockBase &outer, const HeldLock &held, LockBase &inner, bool write, const std::vector<uint32_t> &all);
    std::string text(const LockBase &first, const LockBase &second, const Nesting &one, const Nesting &other) const;

    Simulator &simulator_;
    std::set<uint16_t> apart_;
    std::map<Pair, Nesting> nestings_;
    std::set<Pair> told_; // classes
};

} // namespace sim
