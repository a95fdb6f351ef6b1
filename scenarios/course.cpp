#include "scenarios/course.h"

#include "sim/lock.h"

#include <algorithm>

namespace scenarios {

Course::Course(size_t cpus, size_t lock_classes, sim::Observer *next) : next_(next), cpus_(cpus), waits_(lock_classes)
{
}

void Course::begin(sim::Time at)
{
    from_ = at;
    busy_ = Timeline{};
    std::fill(waits_.begin(), waits_.end(), Timeline{});
}

void Course::end(sim::Time at)
{
    for (Cpu &cpu : cpus_)
        if (cpu.busy)
            add(busy_, cpu.since, at);
    until_ = at;
}

void Course::add(Timeline &timeline, sim::Time from, sim::Time until) const
{
    from = std::max(from, from_);
    until = std::min(until, until_);
    if (from < until)
        timeline.add_span(static_cast<uint64_t>(from.ps - from_.ps), static_cast<uint64_t>(until.ps - from_.ps));
}

void Course::switched(uint32_t cpu, const sim::Thread *to, sim::Time at)
{
    Cpu &c = cpus_[cpu];
    if (c.busy && at < until_)
        add(busy_, c.since, at);
    c.busy = to != nullptr;
    c.since = at;
    if (next_ != nullptr)
        next_->switched(cpu, to, at);
}

void Course::waited(const sim::LockWait &wait)
{
    add(waits_[wait.lock_class], wait.from, wait.until);
    if (next_ != nullptr)
        next_->waited(wait);
}

void Course::thread_started(const sim::Thread &thread, sim::Time at)
{
    if (next_ != nullptr)
        next_->thread_started(thread, at);
}

void Course::thread_finished(const sim::Thread &thread, sim::Time at)
{
    if (next_ != nullptr)
        next_->thread_finished(thread, at);
}

void Course::held(const sim::LockHold &hold)
{
    if (next_ != nullptr)
        next_->held(hold);
}

void Course::slept(const sim::Thread &thread, sim::Time from, sim::Time until, const sim::CallNode &node)
{
    if (next_ != nullptr)
        next_->slept(thread, from, until, node);
}

void Course::frame_entered(const sim::Thread &thread, const sim::CallNode &node, sim::Time at)
{
    if (next_ != nullptr)
        next_->frame_entered(thread, node, at);
}

void Course::frame_left(const sim::Thread &thread, const sim::CallNode &node, sim::Time at)
{
    if (next_ != nullptr)
        next_->frame_left(thread, node, at);
}

std::vector<Series> Course::series(std::span<const sim::LockClassInfo> classes) const
{
    static constexpr uint64_t ps_per_ns = 1000;
    const uint64_t length = until_.ps == INT64_MAX ? 0 : static_cast<uint64_t>(until_.ps - from_.ps);
    if (length == 0)
        return {};
    std::vector<Series> all = {{"CPUs busy", "ns of CPU time an interval", busy_.samples(length, ps_per_ns)}};
    std::vector<size_t> order;
    for (size_t i = 0; i < waits_.size(); ++i)
        if (waits_[i].total() > 0)
            order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return waits_[a].total() > waits_[b].total(); });
    if (order.size() > classes_shown)
        order.resize(classes_shown);
    for (size_t i : order)
        all.push_back({classes[i].name, "ns waited an interval, all threads", waits_[i].samples(length, ps_per_ns)});
    return all;
}

} // namespace scenarios
