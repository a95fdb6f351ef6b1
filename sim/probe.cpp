#include "sim/probe.h"

#include "sim/observer.h"
#include "sim/simulator.h"

namespace sim {

CallNode *probe_new_node(uint16_t function)
{
    Simulator &simulator = *hot.simulator;
    VERIFY3(function, <, simulator.tables().functions.size());
    return simulator.call_tree().make_child(hot.node, function,
                                            simulator.tables().functions[function].frame_bytes +
                                                simulator.tables().functions[function].pushed_bytes);
}

void probe_announce(bool entered)
{
    Observer &observer = *hot.simulator->observer();
    if (entered)
        observer.frame_entered(*hot.thread, *hot.node, now());
    else
        observer.frame_left(*hot.thread, *hot.node, now());
}

} // namespace sim
