#include "sim/repetition.h"

#include "sim/mutex.h"
#include "sim/scheduler.h"
#include "sim/simulator.h"

#include <algorithm>
#include <cstring>

namespace sim {

namespace {

constexpr size_t most_frames = 64; // of one step; a longer one is not worth repeating
constexpr size_t most_holds = 64;

} // namespace

bool Repetition::begin()
{
    VERIFY(!begun_);
    if (hot.repetition != nullptr || hot.hold_accounts != HoldAccounts::counted || hot.watch_frames)
        return false;
    const Simulator &simulator = *hot.simulator;
    begun_ = true;
    too_long_ = false;
    frames_.clear();
    holds_.clear();
    start_ = hot.key;
    horizon_ = hot.horizon;
    thread_ = hot.thread;
    decisions_ = simulator.decisions();
    uncommon_ = hot.uncommon;
    digest_ = thread_->digest;
    calls_before_.assign(hot.calls, hot.calls + simulator.tables().functions.size());
    acquisitions_ = 0;
    for (size_t i = 0; i < simulator.tables().lock_classes.size(); ++i)
        acquisitions_ += hot.lock_counts[i].acquisitions;
    step_ = ++hot.steps_noted;
    hot.node->noted = step_;
    frames_.push_back({hot.node, hot.node->calls, hot.node->charged_ps});
    // Every hold and every frame goes the long way, past passed() and entered().
    hot.repetition = this;
    hot.plain_holds_from = never;
    hot.watch_frames = true;
    return true;
}

void Repetition::abandon()
{
    if (!begun_)
        return;
    begun_ = false;
    if (hot.repetition == this)
        hot.simulator->end_repetition();
}

void Repetition::entered(CallNode &node)
{
    if (node.noted == step_)
        return;
    node.noted = step_;
    if (frames_.size() == most_frames)
        too_long_ = true;
    else
        frames_.push_back({&node, node.calls - 1, node.charged_ps});
}

void Repetition::passed(const LockBase &lock, Key until)
{
    if (holds_.size() == most_holds)
        too_long_ = true;
    else
        holds_.push_back({const_cast<LockBase *>(&lock), lock.key - start_, until - start_, lock.node, false});
}

bool Repetition::end(const Mutex &each)
{
    VERIFY(begun_);
    abandon();
    span_ = hot.key - start_;
    if (!ordinary(each))
        return false;
    note_calls();
    for (Frame &frame : frames_)
        frame = {frame.node, frame.node->calls - frame.calls, frame.node->charged_ps - frame.charged_ps};

    digest_factor_ = 1;
    key_factor_ = 0;
    for (size_t i = 0; i < holds_.size(); ++i) {
        digest_factor_ *= digest_multiplier;
        key_factor_ += digest_factor_;
    }
    digest_rest_ = thread_->digest - digest_ * digest_factor_ - start_ * key_factor_;
    return true;
}

bool Repetition::ordinary(const Mutex &each)
{
    if (too_long_ || hot.thread != thread_ || hot.node != frames_.front().node || hot.horizon != horizon_ ||
        hot.key >= horizon_ || cpu_of(hot.key ^ start_) != 0 || span_ == 0 || hot.uncommon != uncommon_ ||
        hot.simulator->decisions() != decisions_)
        return false;
    for (Hold &hold : holds_) {
        // Taken before the step, or not left for good.
        if (hold.from > span_ || hold.lock->owner != nullptr || hold.lock->waiters != nullptr)
            return false;
        hold.each = hold.lock == &each.base();
    }
    // What was taken is what was left.
    uint64_t acquisitions = 0;
    for (size_t i = 0; i < hot.simulator->tables().lock_classes.size(); ++i)
        acquisitions += hot.lock_counts[i].acquisitions;
    return acquisitions - acquisitions_ == holds_.size();
}

// The calls that are known to no frame too, so every function is looked at: first whether they are those of the step
// before, as they mostly are.
void Repetition::note_calls()
{
    const size_t bytes = calls_before_.size() * sizeof(uint64_t);
    for (const Calls &entry : calls_)
        calls_before_[entry.function] += entry.calls;
    if (std::memcmp(hot.calls, calls_before_.data(), bytes) == 0)
        return;
    for (const Calls &entry : calls_)
        calls_before_[entry.function] -= entry.calls;
    calls_.clear();
    for (uint32_t i = 0; i < calls_before_.size(); ++i) {
        if (hot.calls[i] != calls_before_[i])
            calls_.push_back({i, hot.calls[i] - calls_before_[i]});
    }
}

uint64_t Repetition::room() const
{
    return hot.horizon == never ? ~uint64_t{0} : (hot.horizon - 1 - hot.key) / span_;
}

void Repetition::repeat(std::span<Mutex *const> each)
{
    const uint64_t times = each.size();
    VERIFY3(times, <=, room());
    VERIFY(hot.thread == thread_);
    const Hold *own = nullptr;
    for (const Hold &hold : holds_) {
        LockClassCounts &counts = hot.lock_counts[hold.lock->lock_class];
        counts.acquisitions += times;
        counts.hold->add((hold.until - hold.from) >> limits::cpu_bits, times);
        if (hold.each)
            own = &hold;
        else
            hold.lock->key = hot.key + (times - 1) * span_ + hold.until, hold.lock->node = hold.node;
    }
    VERIFY(own != nullptr);

    uint64_t digest = thread_->digest;
    Key at = hot.key;
    for (Mutex *mutex : each) {
        VERIFY(mutex->owner == nullptr);
        mutex->key = at + own->until;
        mutex->node = own->node;
        digest = digest * digest_factor_ + at * key_factor_ + digest_rest_;
        at += span_;
    }
    hot.key = at;
    thread_->digest = digest;

    for (const Frame &frame : frames_) {
        frame.node->calls += times * frame.calls;
        frame.node->charged_ps += times * frame.charged_ps;
    }
    for (const Calls &entry : calls_)
        hot.calls[entry.function] += times * entry.calls;
}

} // namespace sim
