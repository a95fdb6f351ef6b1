#include "sim/simulator.h"

#include "sim/lock_order.h"
#include "sim/lock_policy.h"
#include "sim/scheduler.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace sim {

namespace {

Key price(int64_t ps)
{
    return key_span({ps});
}

void invariant_is_breaking(const std::string &text)
{
    if (hot.simulator != nullptr)
        hot.simulator->invariant_breaks(text);
}

} // namespace

std::string time_ran_out(const std::string &why)
{
    return "simulated time ran out: " + why + ", and a simulation goes on for " +
           std::to_string(limits::last_time_ps / seconds(1).ps) + " s at most";
}

Simulator::Simulator(const Machine &machine, const Tables &tables, uint64_t seed, Observer *observer)
    : machine_(machine), tables_(tables), seed_(seed), observer_(observer), scheduler_(std::make_unique<Scheduler>()),
      call_tree_(static_cast<uint32_t>(tables.functions.size()), observer != nullptr && observer->wants_frames())
{
    VERIFY(hot.simulator == nullptr); // one at a time
    VERIFY3(tables.functions.size(), <=, limits::functions);
    VERIFY3(tables.lock_classes.size(), <=, limits::lock_classes);
    VERIFY3(machine.cpus, >=, 1u);
    VERIFY3(machine.cpus, <=, limits::cpus);
    VERIFY3(machine.cpus_per_socket, >=, 1u);
    const LockPolicy *policy = find_lock_policy(machine.lock_policy);
    VERIFY(policy != nullptr);

    holds_.resize(tables.lock_classes.size());
    statistics_.functions = static_cast<uint32_t>(tables.functions.size());
    statistics_.waits.resize(tables.lock_classes.size());
    statistics_.waiter_ps.resize(tables.lock_classes.size() * (tables.functions.size() + 1));
    statistics_.holder_ps.resize(statistics_.waiter_ps.size());
    statistics_.hand_over_ps.resize(tables.lock_classes.size());
    for (const FunctionInfo &function : tables.functions)
        function_costs_.push_back(
            price((function.instructions + function.steps * machine_.unrecorded_step_instructions) *
                  machine_.instruction_ps));
    free_function_costs_.resize(function_costs_.size());
    call_tree_.set_costs(free_function_costs_);

    boot_ = std::make_unique<Thread>();
    boot_->name = boot_->group = "setup";
    boot_->where = Where::on_cpu;
    boot_->part = Part::running;
    boot_->calls = new uint64_t[tables.functions.size() + 1]();
    boot_->node = call_tree_.root("setup");
    scheduler_->start(machine_);
    scheduler_->boot = boot_.get();

    hot = Hot{};
    hot.simulator = this;
    hot.scheduler = scheduler_.get();
    hot.policy = policy;
    hot.thread = boot_.get();
    hot.node = boot_->node;
    hot.calls = boot_->calls;
    for (size_t i = 0; i < holds_.size(); ++i)
        hot.lock_counts[i].hold = &holds_[i];
    hot.line_model = machine_.line_model;
    hot.watch_frames = observer_ != nullptr && observer_->wants_frames();
    set_counting(hot.counting);
    while ((machine_.cpus - 1) >> hot.sharer_shift >= 64)
        ++hot.sharer_shift;
    for (uint32_t cpu = 0; cpu < machine_.cpus; ++cpu)
        hot.socket[cpu] = static_cast<uint8_t>(cpu / machine_.cpus_per_socket);
    before_invariant_broken = invariant_is_breaking;
    set_prices();
    // The caller is outside of time until run().
    call_tree_.set_costs(free_function_costs_);
    hot.prices = Prices{};
    hot.free_running = true;
    set_end();
}

Simulator::~Simulator()
{
    before_invariant_broken = nullptr;
    hot = Hot{};
    for (const std::unique_ptr<Thread> &thread : threads_)
        delete[] thread->calls;
    delete[] boot_->calls;
}

void Simulator::set_prices()
{
    hot.free_running = free_;
    hot.charged_bits = free_ ? 0 : ~uint64_t{0};
    call_tree_.set_costs(free_ ? free_function_costs_ : function_costs_);
    hot.prices = Prices{};
    if (free_)
        return;
    Prices &p = hot.prices;
    p.rmw_owned = price(machine_.rmw_owned_ps);
    p.load_hit = price(machine_.load_hit_ps);
    p.transfer[0] = price(machine_.transfer_same_socket_ps);
    p.transfer[1] = price(machine_.transfer_other_socket_ps);
    p.crowd = price(machine_.crowd_ps);
    p.release = hot.policy->leaves_by_store ? p.load_hit : p.rmw_owned;
    p.block = price(machine_.block_ps);
    p.wake = price(machine_.wake_ps);
    p.wake_latency = price(machine_.wake_latency_ps);
    p.context_switch = price(machine_.context_switch_ps);
    for (size_t far = 0; far < std::size(p.data); ++far)
        p.data[far] = p.transfer[far] * static_cast<Key>(machine_.data_lines);
    p.miss = price(mean_miss_ps(machine_));
    p.allocate = price(machine_.allocate_instructions * machine_.instruction_ps);
    p.free = price(machine_.free_instructions * machine_.instruction_ps);
}

void Simulator::set_counting(bool yes)
{
    hot.counting = yes;
    hot.hold_accounts = !yes                                               ? HoldAccounts::none
                        : observer_ != nullptr && observer_->wants_holds() ? HoldAccounts::announced
                                                                           : HoldAccounts::counted;
    hot.plain_holds_from = hot.hold_accounts == HoldAccounts::counted ? hot.counted_from : never;
}

// ---- threads ----

Thread &Simulator::spawn(std::string name, ThreadOptions options, std::function<void()> body)
{
    if (running_)
        settle();
    if (threads_.size() == limits::threads)
        throw LimitReached("more than " + std::to_string(limits::threads) + " simulated threads in one run");
    Thread &thread = *threads_.emplace_back(std::make_unique<Thread>());
    thread.id = static_cast<uint32_t>(threads_.size()) - 1;
    thread.name = std::move(name);
    thread.group = std::move(options.group);
    thread.counted = options.counted;
    thread.body = std::move(body);
    thread.root = thread.node = call_tree_.root(thread.group);
    thread.calls = new uint64_t[tables_.functions.size() + 1]();
    thread.run_queue = scheduler_->make_run_queue(options.cpus, thread.cpus);
    thread.since_ps = now().ps;
    // Spread over the CPUs it may use, in the order of making.
    uint32_t cpu = thread.id % machine_.cpus;
    const uint32_t allowed = thread.cpus->first_common(CpuSet::all(), cpu, machine_.cpus);
    cpu = allowed != CpuSet::none ? allowed : thread.cpus->first_common(CpuSet::all(), 0, machine_.cpus);
    thread.cpu = static_cast<uint16_t>(cpu);
    thread.stack = stacks_.take();
    thread.fiber.start(thread.stack, thread_entry, &thread);
    ++scheduler_->live;
    if (options.start > now()) {
        scheduler_->add_timer(thread, options.start);
    } else {
        thread.fresh = false;
        scheduler_->ready(thread, now(), true);
    }
    return thread;
}

void Simulator::thread_entry(void *argument)
{
    Thread &thread = *static_cast<Thread *>(argument);
    hot.node = thread.root;
    hot.calls = thread.calls;
    hot.simulator->run_body(thread);
    hot.scheduler->finish();
}

void Simulator::run_body(Thread &thread)
{
    if (observer_ != nullptr)
        observer_->thread_started(thread, now());
    try {
        thread.body();
    } catch (const InvariantBroken &) {
        stop(Ending::invariant, broken_text_);
    } catch (const LimitReached &reached) {
        stop(Ending::limit, reached.what());
    } catch (...) {
        if (!thrown_)
            thrown_ = std::current_exception();
        stop(Ending::stopped, "");
    }
    hot.node = thread.root;
}

void Simulator::thread_finished(Thread &thread)
{
    end_key_ = std::max(end_key_, hot.key);
    if (observer_ != nullptr)
        observer_->thread_finished(thread, now());
    stacks_.give_back(thread.stack);
}

// ---- the run ----

End Simulator::run()
{
    VERIFY(!running_);
    running_ = true;
    scheduler_->stop_now(false);
    set_prices();
    const Key from = hot.key;
    hot.thread = boot_.get();
    scheduler_->dispatch();

    // Back: nothing can happen any more, or nothing may.
    running_ = false;
    hot.thread = boot_.get();
    hot.node = boot_->node;
    hot.calls = boot_->calls;
    hot.broken = false;
    const Key last = std::max({end_key_, hot.key & ~Key{limits::timer_cpu}, from});
    hot.key = last;
    hot.horizon = never;
    if (end_.ending == Ending::finished && scheduler_->live > 0) {
        if (scheduler_->something_to_do()) {
            hot.key = scheduler_->stop_key();
            if (now().ps >= limits::last_time_ps)
                end_ = {Ending::limit, time_ran_out("the run has come to its end"), {}};
            else if (now() < stop_at_ && workload_sleeps(*this))
                end_ = stuck_end();
            else if (now() < stop_at_)
                end_ = {Ending::livelock,
                        "no step of the workload was completed in " + std::to_string(patience_.ns()) +
                            " ns of simulated time\n" + stuck_text("what each thread is at:"),
                        {}};
            else
                end_ = {Ending::stopped, "the time set for the end has come", {}};
        } else {
            end_ = stuck_end();
        }
    }
    end_.at = now();
    end_measurement();
    free_ = true;
    set_prices();
    if (thrown_)
        std::rethrow_exception(std::exchange(thrown_, nullptr));
    if (end_.ending == Ending::finished || end_.ending == Ending::stopped) {
        try {
            check_conservation();
        } catch (const InvariantBroken &broken) {
            end_.ending = Ending::invariant;
            end_.text = broken.what();
        }
    }
    return end_;
}

void Simulator::stop(Ending ending, std::string text)
{
    if (end_.ending == Ending::finished) {
        end_.ending = ending;
        end_.text = std::move(text);
    }
    scheduler_->stop_now(true);
    hot.horizon = 0;
}

void Simulator::stop_at(Time at)
{
    stop_at_ = at;
    set_end();
}

void Simulator::set_patience(Duration patience)
{
    patience_ = patience;
    set_end();
}

// Progress is made far too often to move the end each time: when it is due, it is looked whether it still is.
void Simulator::set_end()
{
    const int64_t patient_until = patience_.ps > 0 ? (last_progress_ + patience_).ps : limits::last_time_ps;
    const int64_t until = std::min({stop_at_.ps, patient_until, limits::last_time_ps});
    scheduler_->stop_at(key_of({until}, 0));
    set_release_limit();
}

bool Simulator::put_off_end()
{
    const Key due = scheduler_->stop_key();
    set_end();
    return scheduler_->stop_key() > due;
}

void Simulator::set_release_ahead(bool yes)
{
    release_ahead_ = yes;
    set_release_limit();
}

// Ahead of time only where no measurement begins meanwhile, and not while setting up.
void Simulator::set_release_limit()
{
    const bool allowed = release_ahead_ && !free_ && !measurement_pending_;
    scheduler_->set_release_limit(allowed ? scheduler_->stop_key() : 0);
}

void Simulator::set_free(bool yes)
{
    if (running_)
        settle();
    free_ = yes;
    set_release_limit();
    if (!running_)
        return;
    set_prices();
    scheduler_->run_free(yes);
}

void Simulator::progress()
{
    progress_until(now());
    scheduler_->decisions_at_progress = scheduler_->decisions();
}

void Simulator::check_progress()
{
    call_tree_.sum_charges();
    if (watch_ != nullptr)
        watch_();
    if (scheduler_->decisions() - scheduler_->decisions_at_progress > limits::decisions_without_progress)
        stop(Ending::livelock, "no step of the workload was completed in " +
                                   std::to_string(limits::decisions_without_progress) +
                                   " scheduling decisions: threads are busy, and none gets anywhere");
}

void Simulator::invariant_breaks(const std::string &text)
{
    if (!running_)
        return;
    if (!hot.broken) {
        broken_text_ = text + place_text();
        hot.broken = true;
        hot.horizon = hot.slice.end = never; // unwinding leaves locks; nobody else may run meanwhile
    }
    if (std::uncaught_exceptions() == 0 || left_unwinding_)
        return;
    // What is being unwound may not throw again. The first failure is the one to tell, and this thread's stack is left
    // as it is, like those of all others.
    left_unwinding_ = true;
    stop(Ending::invariant, broken_text_);
    settle();
}

uint64_t Simulator::digest() const
{
    uint64_t all = 0x243f6a8885a308d3ull;
    for (const std::unique_ptr<Thread> &thread : threads_)
        all = (all ^ thread->digest) * 0x9e3779b97f4a7c15ull + thread->id;
    return all;
}

uint64_t Simulator::decisions() const
{
    return scheduler_->decisions();
}

uint64_t Simulator::dealings() const
{
    return scheduler_->dealings;
}

} // namespace sim
