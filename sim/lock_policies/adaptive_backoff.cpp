// adaptive-backoff: the adaptive mutex of illumos. A spinner looks at the lock, pauses, looks again.
//
// With pauses the pollers hardly disturb one another: a hand-over is two transfers, and the rest of the pause that
// happens to end first. Among n pollers with a mean pause b the first of them looks after about b / (n + 1). Leaving is
// a plain store; sleepers are all woken, and none is handed the lock.
#include "sim/lock_policy.h"

namespace sim {

const LockPolicy adaptive_backoff = {
    "adaptive-backoff",
    "illumos: poll with pauses while the owner runs, otherwise sleep; leaving wakes all sleepers",
    true,
    true,
    false,
    true,
    [](const Machine &m, int64_t transfer, int64_t waiters) { return 2 * transfer + m.backoff_ps / (waiters + 1); },
};

} // namespace sim
