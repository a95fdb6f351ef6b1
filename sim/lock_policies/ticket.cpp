// ticket: draw a number, spin until it is called. Nobody sleeps, nobody overtakes.
//
// The served waiter needs one transfer for the word that all poll; on average half of the other waiters fetch it first.
// A waiter that is called while it is not running holds everybody up: that is the nature of the lock, not of this
// model.
#include "sim/lock_policy.h"

namespace sim {

const LockPolicy ticket = {
    "ticket",
    "strictly first come, first served, spinning on one word; nobody sleeps",
    false,
    false,
    true,
    false,
    [](const Machine &m, int64_t transfer, int64_t waiters) { return transfer + m.crowd_ps * waiters / 2; },
};

} // namespace sim
