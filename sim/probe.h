// A frame of a simulated function, as the first line of its body: charges its own cost and becomes the current call
// path.
//
// In: a child by table, two counters, one addition to the clock. Out: back to the parent. The time of a function is
// worked out from the tree afterwards (call_tree.h).
#pragma once

#include "sim/kernel.h"

namespace sim {

// The first call on this path, or somebody watches frames.
SIM_OUT_OF_LINE CallNode *probe_enter_slow(uint16_t function);
SIM_OUT_OF_LINE void probe_leave_slow();

struct Probe {
    SIM_ALWAYS_INLINE explicit Probe(uint16_t function) : caller_(hot.node)
    {
        CallNode *node = caller_->children[function];
        if (node == nullptr) [[unlikely]]
            node = probe_enter_slow(function);
        hot.node = node;
        ++node->calls;
        ++hot.calls[function];
        hot.key += node->cost;
    }
    template <class E>
    requires std::is_enum_v<E> SIM_ALWAYS_INLINE explicit Probe(E function) : Probe(static_cast<uint16_t>(function)) {}
    Probe(const Probe &) = delete;
    Probe &operator=(const Probe &) = delete;
    SIM_ALWAYS_INLINE ~Probe()
    {
        if (hot.watch_frames) [[unlikely]]
            probe_leave_slow();
        hot.node = caller_;
    }

private:
    CallNode *const caller_;
};

} // namespace sim
