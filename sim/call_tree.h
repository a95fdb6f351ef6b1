// Calling contexts: one node for each distinct path of simulated functions.
//
// A Probe only moves to a child and counts a call. Nothing is timed at exit: the time of a node is its calls times the
// function's own cost, plus whatever primitives charged and waits burned while it was the current node. Self and total
// times, flame graphs and the deepest stack are all read from the tree afterwards.
#pragma once

#include "sim/event_queue.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sim {

struct FunctionInfo {
    const char *name;
    uint32_t instructions; // its own, without callees, locks, atomics and allocation; recorded
    uint32_t frame_bytes;
    bool recorded;             // false: the cost is assumed
    uint32_t steps = 0;        // what is assumed: so many steps, each of Machine::unrecorded_step_instructions
    uint32_t pushed_bytes = 0; // of its arguments, by its caller, as part of the caller's frame
};

// Holds that ended in a frame: most are equal to one of the last few, and a comparison is less than an entry in a
// histogram. They are entered there when another one needs the place or somebody wants to read it (lock.h).
struct alignas(32) EqualHolds {
    Key span = 0; // from taking to leaving, on one CPU
    uint64_t times = 0;
    uint32_t lock_class = 0;
};
inline constexpr uint32_t hold_places = 4;
using HoldPlaces = std::array<EqualHolds, hold_places>;

struct CallNode {
    CallNode **children; // by function; where frames are watched always empty, so that every entry is noticed (probe.h)
    CallNode *parent;    // null: the root of a thread group
    uint64_t calls;
    Key cost;            // of one call, as a key span; 0 while nothing costs time
    Key charged;         // by primitives, while this node was current: a key span, since a shift at each would show
    uint64_t charged_ps; // what came of it until CallTree::sum_charges(), and what was computed (charge())
    uint64_t spin_ps;    // burned waiting for locks
    uint64_t blocked_ps; // of such waits, off the CPU
    uint32_t index;      // in CallTree::nodes
    uint32_t stack_bytes;
    uint16_t function; // meaningless in a root
    uint16_t depth;
    CallNode **table; // the true children
    HoldPlaces mutex_holds{};
    HoldPlaces rwlock_holds{};
};

class CallTree {
public:
    explicit CallTree(uint32_t functions, bool watched = false);
    CallTree(const CallTree &) = delete;
    CallTree &operator=(const CallTree &) = delete;

    CallNode *root(const std::string &group);
    CallNode *make_child(CallNode *parent, uint16_t function, uint32_t frame_bytes);
    std::deque<CallNode> &nodes() { return nodes_; }
    const CallNode &node(uint32_t index) const { return nodes_[index]; }
    const std::vector<std::pair<std::string, CallNode *>> &roots() const { return roots_; }
    // Brings charged_ps up to date. A node's `charged` has room for 2^54 ps, so it is called now and then.
    void sum_charges();
    void clear_counts();
    // What a call costs from now on, by function.
    void set_costs(std::span<const Key> costs);

private:
    uint32_t functions_;
    bool watched_;
    std::span<const Key> costs_;
    std::vector<CallNode *> childless_; // shared by all nodes that have no child yet
    std::deque<CallNode> nodes_;
    std::deque<std::vector<CallNode *>> child_tables_;
    std::vector<std::pair<std::string, CallNode *>> roots_;
};

} // namespace sim
