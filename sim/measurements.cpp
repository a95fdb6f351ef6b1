// The accounts of a run: cut at the beginning and the end of the measured part, and checked to add up.
#include "sim/blame.h"
#include "sim/careful.h"
#include "sim/scheduler.h"
#include "sim/simulator.h"

#include <algorithm>

namespace sim {

const char *const part_names[part_count] = {"running",  "spinning", "blocked", "cpu_wait",
                                            "txg_wait", "disk",     "sleeping"};

int64_t TimeParts::total() const
{
    int64_t sum = 0;
    for (const int64_t part : ps)
        sum += part;
    return sum;
}

TimeParts TimeParts::operator-(const TimeParts &earlier) const
{
    TimeParts result = *this;
    for (size_t i = 0; i < part_count; ++i)
        result.ps[i] -= earlier.ps[i];
    return result;
}

TimeParts &TimeParts::operator+=(const TimeParts &other)
{
    for (size_t i = 0; i < part_count; ++i)
        ps[i] += other.ps[i];
    return *this;
}

TimeParts Thread::parts_now() const
{
    TimeParts result = parts;
    // While a CPU is still on its way the part before goes on.
    const int64_t past = now().ps - since_ps;
    result[past >= 0 ? part : part_before] += past;
    return result;
}

void Simulator::count_wait(LockBase &lock, const CallNode &waiter, uint64_t wait_ps, uint64_t spin_ps)
{
    LockClassWaits &waits = statistics_.waits[lock.lock_class];
    ++waits.contended;
    waits.wait.add(wait_ps);
    waits.spin_ps += spin_ps;
    waits.blocked_ps += wait_ps - spin_ps;
    // One column more than there are functions: the root.
    const size_t row = size_t{lock.lock_class} * (statistics_.functions + 1);
    statistics_.waiter_ps[row + (waiter.parent == nullptr ? statistics_.functions : waiter.function)] += wait_ps;
    LockInstance &instance = instance_of(lock);
    if (instance.label.empty()) [[unlikely]] {
        const LockClassInfo &info = tables_.lock_classes[lock.lock_class];
        instance.label = info.describe != nullptr ? info.describe(&lock) : std::to_string(waits.labels++);
    }
    ++instance.contended;
    instance.wait_ps += wait_ps;
}

void Simulator::make_instance(LockBase &lock)
{
    statistics_.instances.emplace_back().lock_class = lock.lock_class;
    lock.instance = static_cast<uint32_t>(statistics_.instances.size());
}

// A wait that is not over counts as far as it has come.
void Simulator::cut_waits(int64_t until_ps)
{
    for (const std::unique_ptr<Thread> &thread : threads_) {
        Thread &t = *thread;
        if (t.waits_for == nullptr || t.where == Where::finished || is_supposed(*t.waits_for))
            continue;
        const int64_t from = std::max(t.wait_since_ps, measured_from_.ps);
        if (until_ps <= from)
            continue;
        TimeParts parts = t.parts;
        parts[t.since_ps > until_ps ? t.part_before : t.part] += until_ps - t.since_ps;
        const uint64_t wait = static_cast<uint64_t>(until_ps - from);
        const uint64_t spin = static_cast<uint64_t>(parts[Part::spinning] - t.wait_spin_ps);
        VERIFY3(spin, <=, wait);
        t.lock_wait_ps += static_cast<int64_t>(wait);
        t.node->spin_ps += spin;
        t.node->blocked_ps += wait - spin;
        if (!hot.counting)
            continue;
        blame_is_cut(*t.waits_for, t, until_ps);
        count_wait(*t.waits_for, *t.node, wait, spin);
    }
}

// By function, and the call paths by their place among the measured nodes.
void Simulator::take_blame(LockStatistics &locks, const std::vector<uint32_t> &places) const
{
    const size_t columns = size_t{locks.functions} + 1;
    for (LockInstance &instance : locks.instances) {
        for (Blame &blame : instance.blame) {
            const CallNode &node = call_tree_.node(blame.node);
            const size_t column = node.parent == nullptr ? locks.functions : node.function;
            locks.holder_ps[instance.lock_class * columns + column] += blame.ps;
            blame.node = places[blame.node];
        }
        std::sort(instance.blame.begin(), instance.blame.end(),
                  [](const Blame &a, const Blame &b) { return a.node < b.node; });
        locks.hand_over_ps[instance.lock_class] += instance.hand_over_ps;
        if (instance.hand_over_ps > 0)
            instance.blame.push_back({Blame::hand_over, instance.hand_over_ps});
    }
}

void Simulator::begin_measurement()
{
    if (running_)
        settle();
    const int64_t from = now().ps;
    measured_from_ = now();
    measurement_pending_ = false;
    measured_done_ = false;
    set_release_limit();
    hot.counted_from = key_of(measured_from_, 0);
    set_counting(hot.counting);
    call_tree_.clear_counts();
    for (size_t i = 0; i < holds_.size(); ++i) {
        holds_[i].clear();
        LockClassCounts &counts = hot.lock_counts[i];
        counts.acquisitions = counts.owner_changes = counts.writes = 0;
        const uint64_t labels = statistics_.waits[i].labels;
        statistics_.waits[i] = LockClassWaits{};
        statistics_.waits[i].labels = labels;
    }
    std::fill(statistics_.waiter_ps.begin(), statistics_.waiter_ps.end(), 0);
    statistics_.chains.clear();
    for (LockInstance &instance : statistics_.instances) {
        instance.contended = instance.wait_ps = 0;
        instance.blame.clear();
        instance.hand_over_ps = 0;
    }
    for (const std::unique_ptr<Thread> &thread : threads_) {
        Thread &t = *thread;
        t.parts = TimeParts{};
        t.lock_wait_ps = 0;
        t.wait_spin_ps = t.wait_blocked_ps = 0;
        t.lock_shares.clear();
        if (t.where != Where::finished && t.since_ps > from) // a CPU is on its way
            t.parts[t.part_before] = t.since_ps - from;
        else
            t.since_ps = from;
        std::fill_n(t.calls, tables_.functions.size(), 0);
    }
    scheduler_->idle_given_back_ps = 0;
    for (Cpu &cpu : scheduler_->cpus()) {
        cpu.busy_ps = cpu.idle_ps = cpu.switch_ps = 0;
        if (cpu.since_ps > from)
            cpu.idle_ps = cpu.since_ps - from;
        else
            cpu.since_ps = from;
        // It is changing to a thread, which will take some more time.
        if (cpu.thread != nullptr && cpu.thread->since_ps > cpu.since_ps)
            cpu.switch_ps = cpu.thread->since_ps - cpu.since_ps;
    }
}

void Simulator::end_measurement()
{
    if (measured_done_)
        return;
    if (running_)
        settle();
    measured_done_ = true;
    take_measurements();
}

void Simulator::measure_nodes(const CallNode &node, uint32_t parent, std::vector<uint32_t> &places)
{
    uint64_t self = node.charged_ps;
    if (node.parent != nullptr)
        self += node.calls * static_cast<uint64_t>(time_of(function_costs_[node.function]).ps);
    const uint32_t index = static_cast<uint32_t>(measured_.nodes.size());
    places[node.index] = index;
    measured_.nodes.push_back(
        {parent, node.function, node.stack_bytes, node.calls, self, node.spin_ps, node.blocked_ps, ""});
    for (uint32_t function = 0; function < statistics_.functions; ++function) {
        if (node.table[function] != nullptr)
            measure_nodes(*node.table[function], index, places);
    }
}

void Simulator::take_measurements()
{
    Measurements &m = measured_ = Measurements{};
    m.from = measured_from_;
    m.until = now();
    const int64_t until = m.until.ps;

    cut_waits(until);
    call_tree_.sum_charges();

    // Nodes are made in the order of the host's execution, so they are told in an order of their own.
    std::vector<uint32_t> places(call_tree_.nodes().size());
    for (const auto &[group, root] : call_tree_.roots()) {
        const size_t at = m.nodes.size();
        measure_nodes(*root, Measurements::no_node, places);
        m.nodes[at].group = group;
    }
    for (uint32_t i = 0; i < m.nodes.size(); ++i) {
        if (m.nodes[i].calls == 0 && m.nodes[i].parent != Measurements::no_node)
            continue; // before the measured part only
        if (m.deepest_node == Measurements::no_node || m.nodes[i].stack_bytes > m.nodes[m.deepest_node].stack_bytes)
            m.deepest_node = i;
    }

    for (const std::unique_ptr<Thread> &thread : threads_) {
        const Thread &t = *thread;
        TimeParts parts = t.parts;
        if (t.where != Where::finished)
            parts[t.since_ps > until ? t.part_before : t.part] += until - t.since_ps;
        m.threads.push_back({t.name, t.group, t.counted, parts, t.lock_wait_ps,
                             std::vector<uint64_t>(t.calls, t.calls + tables_.functions.size())});
    }
    for (const Cpu &cpu : scheduler_->cpus()) {
        Measurements::PerCpu per_cpu{cpu.busy_ps, cpu.idle_ps, cpu.switch_ps};
        const bool busy = cpu.thread != nullptr && cpu.since_ps <= until;
        (busy ? per_cpu.busy_ps : per_cpu.idle_ps) += until - cpu.since_ps;
        m.cpus.push_back(per_cpu);
    }
    for (CallNode &node : call_tree_.nodes()) {
        for (HoldPlaces *places : {&node.mutex_holds, &node.rwlock_holds})
            for (EqualHolds &equal : *places)
                enter_holds(equal);
    }
    m.holds = holds_;
    m.locks = statistics_;
    take_blame(m.locks, places);
    m.locks.counts.assign(hot.lock_counts, hot.lock_counts + holds_.size());
    for (size_t i = 0; i < holds_.size(); ++i)
        m.locks.counts[i].hold = &m.holds[i];
}

// What was counted twice, in two ways, is equal.
void Simulator::check_conservation() const
{
    const int64_t elapsed = (measured_.until - measured_.from).ps;
    for (const Measurements::PerCpu &cpu : measured_.cpus)
        VERIFY3(cpu.busy_ps + cpu.idle_ps, ==, elapsed);

    uint64_t thread_waits = 0;
    for (const Measurements::PerThread &thread : measured_.threads) {
        for (const int64_t part : thread.parts.ps)
            VERIFY3(part, >=, 0);
        VERIFY3(thread.parts.total(), <=, elapsed);
        thread_waits += static_cast<uint64_t>(thread.lock_wait_ps);
    }
    uint64_t lock_waits = 0;
    const LockStatistics &locks = measured_.locks;
    const size_t columns = size_t{locks.functions} + 1;
    for (size_t i = 0; i < locks.waits.size(); ++i) {
        const LockClassWaits &waits = locks.waits[i];
        VERIFY3(waits.wait.total(), ==, waits.spin_ps + waits.blocked_ps);
        lock_waits += waits.wait.total();
        uint64_t waited = 0;
        uint64_t blamed = locks.hand_over_ps[i];
        for (size_t column = 0; column < columns; ++column) {
            waited += locks.waiter_ps[i * columns + column];
            blamed += locks.holder_ps[i * columns + column];
        }
        VERIFY3(waited, ==, waits.wait.total());
        VERIFY3(blamed, ==, waits.wait.total());
    }
    if (hot.counting)
        VERIFY3(lock_waits, ==, thread_waits);
    uint64_t path_waits = 0;
    for (const Measurements::Node &node : measured_.nodes)
        path_waits += node.spin_ps + node.blocked_ps;
    VERIFY3(path_waits, ==, thread_waits);

    // Every picosecond of a busy CPU is some thread's, or a change of threads.
    int64_t busy = 0;
    int64_t switching = 0;
    for (const Measurements::PerCpu &cpu : measured_.cpus) {
        busy += cpu.busy_ps;
        switching += cpu.switch_ps;
    }
    int64_t used = 0;
    for (const Measurements::PerThread &thread : measured_.threads)
        used += thread.parts[Part::running] + thread.parts[Part::spinning];
    VERIFY3(used, <=, busy);
    VERIFY3(busy - used, <=, switching);
}

} // namespace sim
