#include "sim/careful.h"

#include "sim/lock_order.h"
#include "sim/scheduler.h"
#include "sim/simulator.h"

#include <algorithm>
#include <utility>

namespace sim {

namespace {

// One touch of shared state in so many is delayed, and of those one in so many for long.
constexpr uint64_t touches_per_delay = 8;
constexpr uint64_t delays_per_long_delay = 64;
// Powers of two of picoseconds: a nanosecond to sixteen microseconds; a long one is a millisecond.
constexpr uint64_t delay_bits_min = 10;
constexpr uint64_t delay_bits_max = 24;
constexpr uint64_t long_delay_bits = 30;

uint64_t reduced(uint64_t amount, uint32_t times_cheaper)
{
    return times_cheaper == 0 ? 0 : amount / times_cheaper;
}

Key reduced_span(Key span, uint32_t times_cheaper)
{
    return static_cast<Key>(reduced(span >> limits::cpu_bits, times_cheaper)) << limits::cpu_bits;
}

uint32_t times_cheaper(const LockBase &lock)
{
    return hot.lock_counts[lock.lock_class].times_cheaper;
}

Key price_of_line(uint16_t from, uint32_t cpu)
{
    return from == limits::timer_cpu ? hot.prices.rmw_owned : transfer(from, cpu);
}

Key delay(Random &random)
{
    if (random.below(touches_per_delay) != 0)
        return 0;
    uint64_t bits = long_delay_bits;
    if (random.below(delays_per_long_delay) != 0)
        bits = random.between(delay_bits_min, delay_bits_max);
    return static_cast<Key>(uint64_t{1} << bits) << limits::cpu_bits;
}

} // namespace

Duration supposed(const LockBase &lock, Duration cost)
{
    return {static_cast<int64_t>(reduced(static_cast<uint64_t>(cost.ps), times_cheaper(lock)))};
}

Key supposed_release(const LockBase &lock)
{
    return reduced_span(hot.prices.release, times_cheaper(lock));
}

void charge_odd_line(LockBase &lock, uint32_t cpu)
{
    if (lock.line == no_cpu) {
        charge_key(hot.prices.rmw_owned);
        lock.line = static_cast<uint16_t>(cpu);
        return;
    }
    const uint16_t from = cpu_of_line(lock.line);
    if (from == cpu)
        --hot.lock_counts[lock.lock_class].owner_changes; // counted by whoever only compared the two
    charge_key(reduced_span(price_of_line(from, cpu), times_cheaper(lock)));
    lock.line = static_cast<uint16_t>(odd_line | cpu);
}

void touch_supposed_line(const LockBase &lock, Line &line)
{
    const Key before = hot.key;
    line.modify();
    const Key full = hot.key - before;
    const Key part = reduced_span(full, times_cheaper(lock));
    hot.key = before + part;
    hot.node->charged -= full - part;
    line.state = hot.key;
    keep_line_odd(lock, line);
}

void keep_line_odd(const LockBase &lock, Line &line)
{
    if (is_supposed(lock))
        line.sharers = uint64_t{1} << ((cpu_of(line.state) >> hot.sharer_shift) & 63);
}

Duration next_reader_step(const LockBase &lock, uint32_t cpu)
{
    const Duration step{time_of(price_of_line(cpu_of_line(lock.line), cpu)).ps};
    return is_supposed(lock) ? supposed(lock, step) : step;
}

Key supposed_sleep(const LockBase &lock, Key price)
{
    return reduced_span(price, times_cheaper(lock));
}

SupposedWait give_back_wait(const LockBase &lock, Thread &self, uint64_t wait_ps, uint64_t spin_ps)
{
    const uint32_t times = times_cheaper(lock);
    const uint64_t off_cpu = wait_ps - spin_ps;
    const SupposedWait told{reduced(spin_ps, times) + reduced(off_cpu, times), reduced(spin_ps, times)};
    const uint64_t spun = spin_ps - told.spin_ps;
    self.credit_ps += spun;
    self.parts[Part::spinning] -= static_cast<int64_t>(spun);
    self.parts[Part::running] += static_cast<int64_t>(spun);

    const int64_t slept = std::max<int64_t>(self.parts[Part::blocked] - self.wait_blocked_ps, 0);
    if (slept == 0)
        return told;
    Scheduler &scheduler = *hot.scheduler;
    const int64_t idle = scheduler.idle_ps(now().ps);
    const int64_t asleep = slept - static_cast<int64_t>(reduced(static_cast<uint64_t>(slept), times));
    const int64_t given_back =
        std::max<int64_t>(std::min({asleep, idle - self.wait_idle_ps, idle - scheduler.idle_given_back_ps}), 0);
    scheduler.idle_given_back_ps += given_back;
    self.credit_ps += static_cast<uint64_t>(given_back);
    return told;
}

bool take_care(Scheduler &scheduler)
{
    Thread &self = *hot.thread;
    const Key resumed_at = std::exchange(self.resumed_at, never);
    if (resumed_at == never || hot.free_running)
        return false;
    if (self.pending != Pending::resume)
        return false;
    const Cpu &cpu = scheduler.cpus()[self.cpu];
    if (cpu.thread != &self || cpu.target != hot.key)
        return false;

    Key at = hot.key;
    if (Random *random = hot.simulator->disturbance()) {
        const Key length = delay(*random);
        at += length;
        hot.node->charged += length;
    }
    const uint64_t computed = (at - resumed_at) >> limits::cpu_bits;
    const uint64_t given_back = std::min(self.credit_ps, computed);
    self.credit_ps -= given_back;
    at -= static_cast<Key>(given_back) << limits::cpu_bits;
    if (at == hot.key)
        return false;
    hot.key = at;
    scheduler.set_leaf(self.cpu, at);
    return true;
}

void note_taken(LockBase &lock, bool write, bool waits)
{
    if (LockOrder *order = hot.simulator->lock_order(); order != nullptr && !hot.broken)
        order->taken(lock, write, waits);
}

void note_left(LockBase &lock)
{
    if (LockOrder *order = hot.simulator->lock_order(); order != nullptr && !hot.broken)
        order->left(lock);
}

// ---- asking for it ----

void Simulator::be_careful()
{
    VERIFY(!running_);
    scheduler_->set_careful();
    set_release_ahead(false);
}

void Simulator::suppose_lock(uint16_t lock_class, uint32_t times_cheaper)
{
    VERIFY3(lock_class, <, tables_.lock_classes.size());
    LockClassCounts &counts = hot.lock_counts[lock_class];
    VERIFY3(counts.instances, ==, 0u);
    if (times_cheaper == 1)
        return;
    counts.first_line = static_cast<uint16_t>(odd_line | limits::timer_cpu);
    counts.times_cheaper = times_cheaper;
    be_careful();
}

void Simulator::suppose_function(uint16_t function, uint32_t times_cheaper)
{
    VERIFY3(function, <, function_costs_.size());
    function_costs_[function] = reduced_span(function_costs_[function], times_cheaper);
}

void Simulator::disturb(uint64_t schedule)
{
    disturbed_ = true;
    disturbance_ = Random(schedule, "schedule");
    be_careful();
}

void Simulator::watch_lock_order(std::set<uint16_t> apart)
{
    lock_order_ = std::make_unique<LockOrder>(*this, std::move(apart));
    be_careful();
}

} // namespace sim
