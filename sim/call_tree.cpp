#include "sim/call_tree.h"

#include "sim/limits.h"
#include "sim/verify.h"

namespace sim {

CallTree::CallTree(uint32_t functions, bool watched)
    : functions_(functions), watched_(watched), childless_(functions, nullptr)
{
}

CallNode *CallTree::root(const std::string &group)
{
    for (auto &[name, node] : roots_) {
        if (name == group)
            return node;
    }
    const uint32_t index = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({childless_.data(), nullptr, 0, 0, 0, 0, 0, 0, index, 0, 0, 0, childless_.data(), {}, {}});
    roots_.emplace_back(group, &nodes_.back());
    return &nodes_.back();
}

CallNode *CallTree::make_child(CallNode *parent, uint16_t function, uint32_t frame_bytes)
{
    VERIFY3(function, <, functions_);
    VERIFY3(nodes_.size(), <, limits::call_nodes);
    VERIFY3(parent->depth, <, limits::call_depth);
    if (parent->table == childless_.data())
        parent->table = child_tables_.emplace_back(functions_, nullptr).data();
    if (!watched_)
        parent->children = parent->table;

    const uint32_t index = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({childless_.data(),
                      parent,
                      0,
                      costs_[function],
                      0,
                      0,
                      0,
                      0,
                      index,
                      parent->stack_bytes + frame_bytes,
                      function,
                      static_cast<uint16_t>(parent->depth + 1),
                      childless_.data(),
                      {},
                      {}});
    CallNode *node = &nodes_.back();
    parent->table[function] = node;
    return node;
}

void CallTree::set_costs(std::span<const Key> costs)
{
    VERIFY3(costs.size(), ==, functions_);
    costs_ = costs;
    for (CallNode &node : nodes_)
        node.cost = node.parent != nullptr ? costs[node.function] : 0;
}

void CallTree::sum_charges()
{
    for (CallNode &node : nodes_) {
        node.charged_ps += node.charged >> limits::cpu_bits;
        node.charged = 0;
    }
}

void CallTree::clear_counts()
{
    for (CallNode &node : nodes_) {
        node.calls = node.charged = node.charged_ps = node.spin_ps = node.blocked_ps = 0;
        for (HoldPlaces *places : {&node.mutex_holds, &node.rwlock_holds})
            for (EqualHolds &equal : *places)
                equal.times = 0;
    }
}

} // namespace sim
