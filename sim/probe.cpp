#include "sim/probe.h"

#include "sim/observer.h"
#include "sim/simulator.h"

namespace sim {

CallNode *probe_enter_slow(uint16_t function)
{
    Simulator &simulator = *hot.simulator;
    VERIFY3(function, <, simulator.tables().functions.size());
    CallNode *node = hot.node->table[function];
    if (node == nullptr)
        node = simulator.call_tree().make_child(hot.node, function,
                                                simulator.tables().functions[function].frame_bytes +
                                                    simulator.tables().functions[function].pushed_bytes);
    if (hot.watch_frames)
        simulator.observer()->frame_entered(*hot.thread, *node, now());
    return node;
}

void probe_leave_slow()
{
    hot.simulator->observer()->frame_left(*hot.thread, *hot.node, now());
}

} // namespace sim
