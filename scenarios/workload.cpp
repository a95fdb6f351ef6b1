#include "scenarios/workload.h"

#include "model/dmu_state.h"

#include "scenarios/course.h"
#include "scenarios/errno_names.h"
#include "scenarios/operation.h"

#include <cstddef>
#include <set>

namespace scenarios {

namespace {

// How long somebody sleeps who waits until nobody else uses the objset. Such waits are rare and their exact end means
// nothing, so looking again and again is good enough.
constexpr int64_t alone_poll_ns = 1000;

// Steps and rounds between two calls of the caller's progress function.
constexpr uint64_t steps_per_progress = 256;

// Steps and rounds of one thread at one instant. Whatever does something takes time, so this many are a script that
// goes round and round for nothing; they take a second of the host's time or two.
constexpr uint64_t steps_at_one_instant = 20'000'000;

size_t index_of(const Step &step)
{
    return static_cast<size_t>(step.operation - operations().data());
}

sim::CpuSet cpu_set(const std::vector<uint32_t> &cpus)
{
    sim::CpuSet set;
    for (const uint32_t cpu : cpus)
        set.insert(cpu);
    return set;
}

bool needs_file_system(const Scenario &scenario)
{
    bool needed = false;
    const auto look = [&](const Step &step) {
        needed = needed || (step.kind == StepKind::op && step.operation->needs == Needs::file_system);
    };
    for_each_step(scenario.setup, look);
    for (const Group &group : scenario.workload)
        for_each_step(group.steps, look);
    return needed;
}

bool chooses_live(const Scenario &scenario)
{
    bool chooses = false;
    for (const Group &group : scenario.workload)
        for_each_step(group.steps,
                      [&](const Step &step) { chooses = chooses || !step.which.empty() || !step.objects.empty(); });
    return chooses;
}

// What a wait_until waits for.
struct CounterWait {
    const World &world;
    const Step &step;
    uint64_t wanted;

    static std::string text(const void *subject)
    {
        const CounterWait &wait = *static_cast<const CounterWait *>(subject);
        return "the counter " + wait.step.counter + ", which is " +
               std::to_string(wait.world.counter(wait.step.counter)) + " and not at least " +
               std::to_string(wait.wanted) + " (" + wait.step.path + ")";
    }
};

std::set<std::string> barrier_names(const Steps &steps)
{
    std::set<std::string> names;
    for_each_step(steps, [&](const Step &step) {
        if (step.kind == StepKind::barrier)
            names.insert(step.barrier);
    });
    return names;
}

} // namespace

// ---- World ----

World::World(const Scenario &scenario_in, sim::Simulator &simulator_in, const RunOptions &options)
    : scenario(scenario_in), simulator(simulator_in), tallies(operations().size()), options_(options),
      record_objects_(scenario_in.records("objects")), record_series_(scenario_in.records("series")),
      needs_file_system_(needs_file_system(scenario_in)), orders_live_(chooses_live(scenario_in))
{
    // Where no step is ever done, too.
    simulator.set_watch([this] {
        if (!caller_goes_on())
            simulator.stop(sim::Ending::stopped, "interrupted");
    });
}

void World::create()
{
    simulator.set_free(true);
    spa_ = std::make_unique<dmu::spa_t>(scenario.config);
    spa_->dsl_pool().dp_tx.tx_keep_rows =
        scenario.records("txgs") ||
        std::find(options_.kstats.begin(), options_.kstats.end(), "txgs") != options_.kstats.end();
    spa_->spa_create();

    if (needs_file_system_) {
        filesystem_ = dmu::zfs_create_fs(objset());
        dmu::txg_wait_synced(spa_->dsl_pool(), spa_->dsl_pool().dp_tx.tx_open_txg);
        objects_in_use = dmu::meta_dnode_report(objset()).used_objects; // its own
    }
    static const Group setup_group{"setup", 1, {}, 0, {}};
    GroupState setup{&setup_group, 0, {}};
    Worker(*this, setup, 0, simulator.random("setup")).run(scenario.setup);
    if (!scenario.setup.empty() && held.empty())
        dmu::txg_wait_synced(spa_->dsl_pool(), spa_->dsl_pool().dp_tx.tx_open_txg);
}

void World::make_barriers()
{
    for (const Group &group : scenario.workload)
        for (const std::string &name : barrier_names(group.steps)) {
            std::unique_ptr<Barrier> &barrier = barriers_[name];
            if (barrier == nullptr)
                barrier = std::make_unique<Barrier>();
            barrier->parties += group.threads;
        }
}

void World::start_workload()
{
    make_barriers();
    simulator.set_free(false);
    const sim::Time start = sim::now();
    if (scenario.stop.simulated_ns != 0)
        stop_at_ = start + sim::nanoseconds(static_cast<int64_t>(scenario.stop.simulated_ns));
    const bool warms_up = scenario.warmup.for_ns != 0 || !scenario.warmup.op.empty();
    if (warms_up)
        simulator.expect_measurement();
    begin_measurement();
    measuring_ = !warms_up;

    groups_.reserve(scenario.workload.size());
    for (const Group &group : scenario.workload)
        groups_.push_back({&group, 0, {}});
    for (GroupState &state : groups_)
        workers_ += state.group->threads;
    for (GroupState &state : groups_) {
        const Group &group = *state.group;
        for (uint64_t i = 0; i < group.threads; ++i) {
            sim::ThreadOptions options;
            options.group = group.name;
            if (!group.cpus.empty())
                options.cpus = cpu_set(group.cpus);
            options.start = start + sim::nanoseconds(static_cast<int64_t>(group.start_ns));
            simulator.progress_until(options.start);
            simulator.spawn(group.name + "-" + std::to_string(i), options, [this, &state, i] {
                sim::curthread().keeps_lock_shares = true;
                Worker(*this, state, i, simulator.random(state.group->name, i)).run(state.group->steps);
                thread_leaves(state);
            });
        }
    }
    if (scenario.warmup.for_ns != 0) {
        sim::ThreadOptions options;
        options.group = "warmup";
        options.counted = false;
        options.start = start + sim::nanoseconds(static_cast<int64_t>(scenario.warmup.for_ns));
        simulator.spawn("warmup", options, [this] {
            if (workers_ != 0)
                begin_measurement();
        });
    }
}

void World::begin_measurement()
{
    simulator.begin_measurement();
    measured_from_ = sim::now();
    if (course != nullptr)
        course->begin(measured_from_);
    measuring_ = true;
    ++epoch_;
    for (Tally &tally : tallies)
        tally = Tally{};
    handed_out.clear();
    kstats_before_ = kstats();
    hold_zap_before_ = spa_->dsl_pool().dp_hold_zap_holds;
    zfetch_latency_before_ = spa_->spa_dmu->zfetch_latency;
    alloc_next_offsets_before_ = spa_->spa_dmu->alloc_next_offsets;
    alloc_holds_before_ = spa_->spa_dmu->alloc_holds;
}

std::string World::warmup_text() const
{
    const Warmup &warmup = scenario.warmup;
    return "warmup (" +
           (warmup.op.empty() ? duration_text(warmup.for_ns)
                              : in_quotes(warmup.op) + " " + std::to_string(warmup.count) + " times") +
           ")";
}

void World::operation_done(const Step &step, Tally &tally)
{
    if (record_series_)
        tally.timeline.add(static_cast<uint64_t>((sim::now() - measured_from_).ps));
    if (!measuring_ && step.operation->name == scenario.warmup.op && tally.count >= scenario.warmup.count)
        begin_measurement();
    ++operations_;
}

bool World::caller_goes_on() const
{
    return options_.progress == nullptr ||
           options_.progress({static_cast<uint64_t>((sim::now() - measured_from_).ps), operations_});
}

void World::step_done()
{
    simulator.progress();
    if (++polls_ % steps_per_progress == 0 && !caller_goes_on())
        give_up(sim::Ending::stopped, "interrupted");
}

void World::give_up(sim::Ending ending, std::string text)
{
    simulator.stop(ending, std::move(text));
    sim::settle();
    PANIC("a thread went on after the end of the run");
}

void World::make_live(uint64_t object)
{
    if (orders_live_)
        sim::settle(); // whoever chooses sees what lives at that instant
    live.add(object);
}

void World::allocated(uint64_t object)
{
    make_live(object);
    ++objects_in_use;
    if (!record_objects_)
        return;
    sim::settle(); // the list is in the order of simulated time
    handed_out.add(object);
}

void World::thread_leaves(const GroupState &group)
{
    for (const std::string &name : barrier_names(group.group->steps)) {
        Barrier &barrier = *barriers_.at(name);
        auto held_lock = mutex_enter(barrier.lock);
        if (--barrier.parties != 0 && barrier.waiting == barrier.parties) {
            barrier.waiting = 0;
            ++barrier.generation;
            dmu::cv_broadcast(barrier.opened);
        }
    }
    sim::settle();
    if (--workers_ != 0)
        return;
    if (!measuring_) { // the warm-up was all there was: the measured part is empty
        begin_measurement();
        simulator.warn("the workload ended before its " + warmup_text() + ": nothing is counted");
    }
    simulator.end_measurement(); // exactly when the last one has finished
    if (course != nullptr)
        course->end(sim::now());
    auto held_lock = mutex_enter(done_lock_);
    dmu::cv_broadcast(all_done_);
}

void World::wait_for_workload()
{
    auto held_lock = mutex_enter(done_lock_);
    while (workers_ != 0)
        dmu::cv_wait(all_done_, done_lock_, sim::WaitKind::other);
}

void World::stop()
{
    while (!held.empty()) {
        dmu::dmu_tx_ptr tx = std::move(held.begin()->second);
        held.erase(held.begin());
        dmu::dmu_tx_commit(std::move(tx));
    }
    open_files.clear();
    if (filesystem_ != nullptr)
        dmu::zfs_umount(std::move(filesystem_));
    spa_->spa_stop();
}

void World::close()
{
    kstats_at_end_ = kstats();
    spa_->spa_close();
}

// ---- Worker ----

Worker::Worker(World &world, GroupState &group, uint64_t index, sim::Random random)
    : world_(world), group_(group), index_(index), random_(random)
{
}

uint64_t Worker::value(const Step &step, const Quantity &quantity)
{
    try {
        return quantity.get(*this, world_.scenario.params);
    } catch (const NumberError &error) {
        throw InputError(world_.scenario.name.empty() ? "scenario" : world_.scenario.name, {}, step.path, error.what());
    }
}

uint64_t Worker::group_number()
{
    Round &round = rounds_.empty() ? outside_ : rounds_.back();
    if (!round.numbered) {
        sim::settle();
        round.number = group_.numbers_given++;
        round.numbered = true;
    }
    return round.number;
}

void Worker::run(const Steps &steps)
{
    for (const Step &step : steps) {
        if (stopping())
            return;
        perform(step);
    }
}

void Worker::perform(const Step &step)
{
    switch (step.kind) {
    case StepKind::op:
        step.operation->perform(*this, step);
        return;
    case StepKind::repeat:
        repeat(step);
        return;
    case StepKind::choose:
        choose(step);
        return;
    case StepKind::barrier:
        meet(step);
        break;
    case StepKind::sleep:
        rest(sim::nanoseconds(static_cast<int64_t>(value(step, step.pause))));
        break;
    case StepKind::think:
        sim::charge(sim::nanoseconds(static_cast<int64_t>(value(step, step.pause))));
        if (sim::now().ps >= sim::limits::last_time_ps)
            sim::settle(); // the end; the next charge would go beyond what an instant can be
        break;
    case StepKind::wait_until:
        wait_until(step);
        break;
    }
    went_on(step);
}

void Worker::rest(sim::Duration length)
{
    world_.simulator.progress_until(sim::now() + length);
    sim::sleep_for(length, sim::WaitKind::other);
}

void Worker::went_on(const Step &step)
{
    world_.step_done();
    if (sim::now() != stood_at_) {
        stood_at_ = sim::now();
        steps_standing_ = 0;
        return;
    }
    // In the setup time may stand still for long, as long as there is an end to it.
    if (++steps_standing_ < steps_at_one_instant || (world_.epoch() == 0 && uncounted_ == 0))
        return;
    world_.give_up(sim::Ending::livelock, "no simulated time passes: thread " + sim::curthread().name + " is at " +
                                              step.path + " after " + std::to_string(steps_standing_) +
                                              " steps and rounds at one instant");
}

void Worker::repeat(const Step &step)
{
    const uint64_t rounds = step.counted ? value(step, step.rounds) : UINT64_MAX;
    const sim::Time begin = sim::now();
    const uint64_t visit = step.shared ? visits_[step.id]++ : 0;
    SharedRounds *const shared = step.shared ? &group_.shared[step.id] : nullptr;
    sim::Time next = begin;
    uncounted_ += step.counted ? 0 : 1;
    rounds_.emplace_back();
    for (uint64_t i = 0; !stopping(); ++i) {
        if (step.for_ns != 0 && sim::now() >= begin + sim::nanoseconds(static_cast<int64_t>(step.for_ns)))
            break;
        uint64_t index = i;
        if (shared != nullptr ? !take_shared(*shared, visit, rounds, index) : i >= rounds)
            break;
        if (step.every_ns != 0) {
            world_.simulator.progress_until(next);
            sim::sleep_until(next, sim::WaitKind::other);
            next = next + sim::nanoseconds(static_cast<int64_t>(step.every_ns));
        }
        rounds_.back() = {index, false, 0};
        run(step.steps);
        went_on(step);
    }
    rounds_.pop_back();
    uncounted_ -= step.counted ? 0 : 1;
    went_on(step);
}

bool Worker::take_shared(SharedRounds &shared, uint64_t visit, uint64_t rounds, uint64_t &index)
{
    sim::settle();
    if (visit >= shared.given.size())
        shared.given.resize(visit + 1);
    if (shared.given[visit] >= rounds)
        return false;
    index = shared.given[visit]++;
    return true;
}

void Worker::choose(const Step &step)
{
    uint64_t sum = 0;
    for (const Alternative &alternative : step.alternatives)
        sum += alternative.weight;
    uint64_t drawn = random_.below(sum);
    for (const Alternative &alternative : step.alternatives) {
        if (drawn < alternative.weight) {
            run(alternative.steps);
            return;
        }
        drawn -= alternative.weight;
    }
    PANIC("choose: a draw above the sum of the weights");
}

void Worker::meet(const Step &step)
{
    Barrier &barrier = world_.barrier(step.barrier);
    auto held_lock = mutex_enter(barrier.lock);
    if (++barrier.waiting == barrier.parties) {
        barrier.waiting = 0;
        ++barrier.generation;
        dmu::cv_broadcast(barrier.opened);
        return;
    }
    const uint64_t generation = barrier.generation;
    while (generation == barrier.generation)
        dmu::cv_wait(barrier.opened, barrier.lock, sim::WaitKind::other);
}

void Worker::wait_until(const Step &step)
{
    const uint64_t wanted = value(step, step.at_least);
    const CounterWait wait{world_, step, wanted};
    sim::WaitsBecause because({CounterWait::text, [](const void *) -> const sim::Thread * { return nullptr; }, &wait});
    while (!stopping()) {
        sim::settle();
        if (world_.counter(step.counter) >= wanted)
            return;
        sim::sleep_for(sim::nanoseconds(static_cast<int64_t>(step.poll_ns)), sim::WaitKind::other);
    }
}

void Worker::finish(const Step &step, const Mark &begin, int error)
{
    went_on(step);
    const bool whole = begin.epoch == world_.epoch(); // or the measured part began within this operation
    const sim::Time from = whole ? begin.time : world_.measured_from();
    Tally &tally = world_.tallies[index_of(step)];
    tally.latency.add(static_cast<uint64_t>((sim::now() - from).ps));
    const sim::TimeParts parts = sim::curthread().parts_now();
    tally.parts += whole ? parts - begin.parts : parts;
    for (const sim::LockShare &share : sim::curthread().lock_shares) {
        sim::LockShare &sum = tally.locks[share.lock_class];
        sum.spin_ps += share.spin_ps;
        sum.blocked_ps += share.blocked_ps;
        sum.cpu_wait_ps += share.cpu_wait_ps;
    }
    if (error == 0) {
        ++tally.count;
        world_.operation_done(step, tally);
        return;
    }
    ++tally.errors[error];
    if (step.must) {
        world_.refusals.push_back({step.path, errno_name(error)});
        world_.end_run();
    }
}

void Worker::wait_for_the_one_alone()
{
    sim::sleep_for(sim::nanoseconds(alone_poll_ns), sim::WaitKind::other);
}

void Worker::begin_alone()
{
    sim::settle();
    while (world_.waiting_alone != 0)
        wait_for_the_one_alone();
    ++world_.waiting_alone;
    while (world_.operations_running != 0)
        wait_for_the_one_alone();
}

} // namespace scenarios
