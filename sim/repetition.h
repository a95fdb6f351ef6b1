// A step that a thread takes again and again, alike each time, while nobody else comes: run once, then repeated by
// arithmetic.
//
// Problem: a simulated loop that does the same to thousands of objects costs the host the whole step each time, though
// nothing in it can go differently. Approach: one step runs as ever, between begin() and end(), and what it leaves in
// the accounts is written down: the time, the calls of each frame, the locks it passed and for how long. If it was an
// ordinary one (nobody else ran, no lock was waited for, no cache line came from elsewhere, whatever was taken was left
// again), the same step by the same thread takes exactly as long as long as the key stays below the horizon, and
// repeat() enters the sums.
//
// Each result is the same with and without, to the picosecond and in every account; the digest too: it is a chain
// d' = (d + key + class) * c over the acquisitions, so over a step of n of them it is d * c^n + key * (c + ... + c^n)
// plus something that depends on the step alone, which the step that ran has shown. Whether the next step really is
// the same is for the caller to know: the model's state is not the kernel's.
//
// With an observer every step runs: it hears of each hold.
#pragma once

#include "sim/kernel.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sim {

class Mutex;
struct LockBase;

class Repetition {
public:
    Repetition() = default;
    Repetition(const Repetition &) = delete;
    Repetition &operator=(const Repetition &) = delete;
    ~Repetition() { abandon(); }

    // The step begins. False: it will not be written down (somebody listens, or another step is being).
    bool begin();
    // The step is over. `each`: a mutex that it passed and that every repetition has another of. True: it can be
    // repeated. REQUIRES: begun.
    [[nodiscard]] bool end(const Mutex &each);
    // It is not, or it does not matter.
    void abandon();
    // How many repetitions there is time for before anybody else has to be looked at. REQUIRES: nothing has been done
    // since it ended.
    uint64_t room() const;
    // One repetition for each of these, in their order. REQUIRES: at most room() of them, each free and near.
    void repeat(std::span<Mutex *const> each);

    // ---- for sim/: while a step is written down ----
    void entered(CallNode &node);
    void passed(const LockBase &lock, Key until);

private:
    struct Frame {
        CallNode *node;
        uint64_t calls; // before, then of the step
        uint64_t charged_ps;
    };
    struct Hold {
        LockBase *lock;
        Key from, until; // from the step's beginning
        uint32_t node;
        bool each;
    };
    struct Calls {
        uint32_t function;
        uint64_t calls;
    };
    bool ordinary(const Mutex &each);
    void note_calls();

    bool begun_ = false;
    bool too_long_ = false;
    uint32_t step_ = 0;
    Key start_ = 0;
    Key span_ = 0;
    Key horizon_ = 0;
    Thread *thread_ = nullptr;
    uint64_t decisions_ = 0;
    uint64_t uncommon_ = 0;
    uint64_t digest_ = 0;
    uint64_t digest_factor_ = 0, key_factor_ = 0, digest_rest_ = 0;
    uint64_t acquisitions_ = 0; // of all classes
    std::vector<uint64_t> calls_before_;
    std::vector<Frame> frames_;
    std::vector<Hold> holds_;
    std::vector<Calls> calls_;
};

} // namespace sim
