// queued: the mutex of Linux. Spinners stand in a queue, each on a line of its own, while the owner runs.
//
// Only the head of the queue looks at the lock, so a hand-over is two transfers whatever the crowd. A spinner whose
// owner goes off its CPU sleeps in a list; leaving wakes the first of the list, which competes with the spinners and,
// when it loses, sleeps again at the head of the list.
#include "sim/lock_policy.h"

namespace sim {

const LockPolicy queued = {
    "queued",
    "Linux: spin in a queue while the owner runs, then sleep; leaving wakes the first sleeper",
    true,
    false,
    false,
    false,
    [](const Machine &, int64_t transfer, int64_t) { return 2 * transfer; },
};

} // namespace sim
