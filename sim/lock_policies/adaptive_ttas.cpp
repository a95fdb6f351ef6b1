// adaptive-ttas: spin by reading until the lock looks free, then try; sleep if the owner does not run.
//
// When the owner leaves, its store takes the line from all readers, every reader fetches it back and all try: the one
// that gets it needs two transfers (its reload and its upgrade), and each poller in the way costs one crowd step more.
// So a lock between hands is slower the more CPUs want it. Whoever sleeps is woken at the next exit, and competes with
// everybody.
#include "sim/lock_policy.h"

namespace sim {

const LockPolicy adaptive_ttas = {
    "adaptive-ttas",
    "test and test-and-set while the owner runs, otherwise sleep; leaving wakes all sleepers",
    true,
    true,
    false,
    false,
    [](const Machine &m, int64_t transfer, int64_t waiters) { return 2 * transfer + m.crowd_ps * waiters; },
};

} // namespace sim
