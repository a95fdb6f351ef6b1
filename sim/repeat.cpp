#include "sim/repeat.h"

#include "sim/lock.h"
#include "sim/simulator.h"

#include <algorithm>

namespace sim {

namespace {

// So many stretches in a row unlike the one kept, and another one is learned.
constexpr uint32_t strangers_enough = 4;
// Learning costs as much as executing a few stretches, so where nothing comes of it, it is tried ever more rarely:
// after 2^n stretches, up to this n.
constexpr uint64_t rarest = 12;

// Moves whenever others run, or the running thread has to do with them.
uint64_t company_so_far()
{
    return hot.simulator->decisions() + hot.simulator->dealings();
}

template <class Adds>
void look(Adds &adds)
{
    for (auto &add : adds)
        add.before = *add.what;
}

template <class Adds>
auto difference(const Adds &adds)
{
    decltype(adds.front().delta) different = 0;
    for (const auto &add : adds)
        different |= *add.what - add.before - add.delta;
    return different;
}

template <class Adds>
void add_all(const Adds &adds, uint64_t times)
{
    for (const auto &add : adds)
        *add.what += add.delta * times;
}

bool same_kind(const EqualHolds &one, const EqualHolds &other)
{
    return one.span == other.span && one.lock_class == other.lock_class;
}

} // namespace

Repeat::Repeat(std::vector<std::span<uint64_t>> counters, std::span<const uint16_t> functions)
{
    rows_.push_back({nullptr, std::vector<uint64_t>(hot.simulator->tables().functions.size()), {}});
    for (const std::span<uint64_t> &counter : counters)
        rows_.push_back({counter.data(), std::vector<uint64_t>(counter.size()), {}});
    for (const uint16_t function : functions)
        allowed_.set(function);
}

void Repeat::begin()
{
    watched_ = false;
    if (hot.simulator->repeats() == Repeats::executed)
        return;
    // Careful runs have no horizon; and who hears of every frame and hold wants to hear of all.
    if (hot.horizon == 0 || hot.free_running || hot.watch_frames || hot.hold_accounts != HoldAccounts::counted)
        return;
    if (skip_ > 0) {
        --skip_;
        return;
    }
    watched_ = true;
    thread_ = hot.thread;
    root_ = hot.node;
    from_ = hot.key;
    digest_ = hot.thread->digest;
    company_ = company_so_far();
    rows_.front().now = hot.calls;
    learning_ = known_root_ != root_ || strangers_ >= strangers_enough;
    if (learning_) {
        strangers_ = 0;
        adds_.clear();
        charges_.clear();
        places_.clear();
        for (Row &row : rows_)
            row.moves.clear();
        start_learning();
    }
    look(adds_);
    look(charges_);
    for (Row &row : rows_) {
        std::copy_n(row.now, row.expected.size(), row.expected.begin());
        for (const Move &move : row.moves)
            row.expected[move.index] += move.delta;
    }
}

uint64_t Repeat::end()
{
    if (!watched_)
        return 0;
    watched_ = false;
    if (hot.thread != thread_ || hot.node != root_) // another one's, which did not come to its end
        return 0;
    const uint64_t company = company_so_far();
    // Nobody came between it and the one before, either.
    const bool follows = from_ == ended_at_ && company_ == ended_company_;
    ended_at_ = hot.key;
    ended_company_ = company;
    if (company != company_) {
        VERIFY(promised_ == 0);
        return 0;
    }
    if (learning_) {
        known_root_ = root_;
        confirmed_ = false;
        if (!learn())
            give_up();
        return 0;
    }
    const bool alike = same();
    if (!confirmed_) {
        // It may have found lines elsewhere. The one right behind it does not: whatever both did is what all do.
        confirmed_ = alike && follows;
        if (!confirmed_) {
            give_up();
            return 0;
        }
    }
    if (!alike) {
        VERIFY(promised_ == 0);
        ++strangers_;
        return 0;
    }
    strangers_ = 0;
    fruitless_ = 0;
    if (promised_ > 0) {
        --promised_;
        return 0;
    }
    return room();
}

// Nothing is kept, and the next ones are not looked at.
void Repeat::give_up()
{
    known_root_ = nullptr;
    skip_ = uint64_t{1} << std::min(fruitless_++, rarest);
}

bool Repeat::again(uint64_t times)
{
    VERIFY(hot.node == root_);
    VERIFY3(times, <=, room());
    repeated_ += times;
    if (hot.simulator->repeats() == Repeats::checked) {
        promised_ = times;
        return false;
    }
    add_all(adds_, times);
    add_all(charges_, times);
    for (const Row &row : rows_)
        for (const Move &move : row.moves)
            row.now[move.index] += move.delta * times;
    hot.thread->digest = digest_after(hot.thread->digest, hot.key, times);
    hot.key += span_ * times;
    return true;
}

// A stretch maps digest and time to f * digest + t * time + r and time + span: linear, so any number of them is, and it
// is found by doubling.
uint64_t Repeat::digest_after(uint64_t digest, Key from, uint64_t times) const
{
    uint64_t factor = digest_factor_, of_time = digest_from_, rest = digest_rest_;
    Key span = span_;
    for (; times != 0; times >>= 1) {
        if ((times & 1) != 0) {
            digest = digest * factor + from * of_time + rest;
            from += span;
        }
        rest = rest * factor + span * of_time + rest;
        of_time = of_time * factor + of_time;
        factor *= factor;
        span += span;
    }
    return digest;
}

// Every instant in it has to lie before anybody else's turn.
uint64_t Repeat::room() const
{
    if (span_ == 0 || hot.key >= hot.horizon)
        return 0;
    return (hot.horizon - 1 - hot.key) / span_;
}

bool Repeat::same() const
{
    if (hot.key - from_ != span_ || hot.thread->digest != digest_after(digest_, from_, 1))
        return false;
    if (difference(adds_) != 0 || difference(charges_) != 0)
        return false;
    const auto place_is_same = [](const Place &place) { return same_kind(*place.equal, place.learned); };
    const auto row_is_same = [](const Row &row) {
        return std::equal(row.expected.begin(), row.expected.end(), row.now);
    };
    return std::all_of(places_.begin(), places_.end(), place_is_same) &&
           std::all_of(rows_.begin(), rows_.end(), row_is_same);
}

void Repeat::start_learning()
{
    const auto &nodes = hot.simulator->call_tree().nodes();
    everything_.nodes.assign(nodes.begin(), nodes.end());
    const size_t classes = hot.simulator->tables().lock_classes.size();
    everything_.locks.assign(hot.lock_counts, hot.lock_counts + classes);
}

// False: it did something that cannot be added.
bool Repeat::learn()
{
    span_ = hot.key - from_;
    for (Row &row : rows_)
        for (size_t i = 0; i < row.expected.size(); ++i)
            if (row.now[i] != row.expected[i])
                row.moves.push_back({i, row.now[i] - row.expected[i]});
    for (const Move &move : rows_.front().moves)
        if (!allowed_[move.index])
            return false;
    std::vector<uint64_t> holds(everything_.locks.size());
    if (!learn_nodes(holds) || !learn_locks(holds))
        return false;

    // One event for each acquisition, all at instants that are fixed from the beginning on.
    uint64_t events = 0;
    for (size_t i = 0; i < everything_.locks.size(); ++i)
        events += hot.lock_counts[i].acquisitions - everything_.locks[i].acquisitions;
    digest_factor_ = 1;
    digest_from_ = 0;
    for (uint64_t i = 0; i < events; ++i) {
        digest_factor_ *= digest_multiplier;
        digest_from_ += digest_factor_;
    }
    digest_rest_ = hot.thread->digest - digest_ * digest_factor_ - from_ * digest_from_;
    return true;
}

bool Repeat::learn_nodes(std::vector<uint64_t> &holds)
{
    static const CallNode unvisited{};
    size_t number = 0;
    for (CallNode &node : hot.simulator->call_tree().nodes()) {
        const CallNode &before = number < everything_.nodes.size() ? everything_.nodes[number] : unvisited;
        ++number;
        if (node.spin_ps != before.spin_ps || node.blocked_ps != before.blocked_ps)
            return false;
        const auto learn_word = [this](uint64_t &word, uint64_t was) {
            if (word != was)
                adds_.push_back({&word, word - was, 0});
        };
        learn_word(node.calls, before.calls);
        if (node.charged != before.charged)
            charges_.push_back({&node.charged, node.charged - before.charged, 0});
        learn_word(node.charged_ps, before.charged_ps);
        for (HoldPlaces CallNode::*places : {&CallNode::mutex_holds, &CallNode::rwlock_holds}) {
            for (size_t i = 0; i < hold_places; ++i) {
                EqualHolds &equal = (node.*places)[i];
                const EqualHolds &was = (before.*places)[i];
                if (!same_kind(equal, was))
                    return false;
                if (equal.times == was.times)
                    continue;
                places_.push_back({&equal, equal});
                learn_word(equal.times, was.times);
                holds[equal.lock_class] += equal.times - was.times;
            }
        }
    }
    return true;
}

bool Repeat::learn_locks(const std::vector<uint64_t> &holds)
{
    for (size_t i = 0; i < everything_.locks.size(); ++i) {
        LockClassCounts &counts = hot.lock_counts[i];
        const LockClassCounts &before = everything_.locks[i];
        const uint64_t acquisitions = counts.acquisitions - before.acquisitions;
        // A line came from elsewhere, or a lock was made.
        if (counts.owner_changes != before.owner_changes || counts.instances != before.instances)
            return false;
        // A lock was not left, was held in two modes, or its hold went into the histogram, where it is not seen.
        if (holds[i] != acquisitions)
            return false;
        if (acquisitions != 0)
            adds_.push_back({&counts.acquisitions, acquisitions, 0});
        if (counts.writes != before.writes)
            adds_.push_back({&counts.writes, counts.writes - before.writes, 0});
    }
    return true;
}

} // namespace sim
