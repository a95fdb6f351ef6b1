// The exit status of every command.
#pragma once

#include "scenarios/run.h"

#include <algorithm>

namespace cli {

enum Exit : int {
    done = 0,             // and every expectation held, every trace agreed
    could_not_finish = 1, // output that cannot be written, out of memory, a limit reached
    bad_input = 2,        // bad usage or bad input of any kind
    not_held = 3,         // an expectation or a trace did not hold
    deadlocked = 4,       // the simulated system: the wait-for ring was printed
    invariant_broken = 5, // the simulated system broke a rule of its own
    no_progress = 6,      // livelock, lost wake-up, a transaction that can never be assigned
    interrupted = 130,    // what had finished is kept
};

// Where several hold, the graver one: a broken invariant spoils everything after it, a deadlock explains a lost wait.
inline int graver(int left, int right)
{
    static constexpr int order[] = {interrupted, could_not_finish, bad_input, invariant_broken,
                                    deadlocked,  no_progress,      not_held,  done};
    auto rank = [](int status) { return std::find(std::begin(order), std::end(order), status); };
    return rank(left) <= rank(right) ? left : right;
}

inline int exit_status(scenarios::End end)
{
    switch (end) {
    case scenarios::End::completed:
        return done;
    case scenarios::End::refused:
        return not_held;
    case scenarios::End::deadlock:
        return deadlocked;
    case scenarios::End::lost_wakeup:
    case scenarios::End::livelock:
        return no_progress;
    case scenarios::End::invariant:
        return invariant_broken;
    case scenarios::End::limit:
        return could_not_finish;
    case scenarios::End::interrupted:
        return interrupted;
    }
    return invariant_broken;
}

} // namespace cli
