// A run: one simulator, one pool, one thread that plays the operator, and the workload.
//
// The operator makes the pool and does the setup in no simulated time, starts the workload, waits for it, and
// afterwards, again in no simulated time, reads the state of the pool, stops it and checks it. A run that ends badly
// (deadlock, broken invariant, a number that cannot be, ...) leaves threads in the middle of things; their world is set
// aside, not destroyed, because destructors expect a world in order.
#include "scenarios/run.h"

#include "scenarios/check.h"
#include "scenarios/course.h"
#include "scenarios/result.h"
#include "scenarios/workload.h"

#include <cstddef>

namespace scenarios {

namespace {

End end_of(sim::Ending ending)
{
    switch (ending) {
    case sim::Ending::finished:
        return End::completed;
    case sim::Ending::stopped:
        return End::interrupted;
    case sim::Ending::deadlock:
        return End::deadlock;
    case sim::Ending::lost_wakeup:
        return End::lost_wakeup;
    case sim::Ending::livelock:
        return End::livelock;
    case sim::Ending::invariant:
        return End::invariant;
    case sim::Ending::limit:
        return End::limit;
    }
    return End::invariant;
}

std::string describe_script_lock(const void *lock)
{
    static_assert(offsetof(ScriptLock, lock) == 0);
    return static_cast<const ScriptLock *>(lock)->name;
}

// The model's tables, with the script's locks known by their names.
struct RunTables {
    std::vector<sim::LockClassInfo> lock_classes;
    sim::Tables tables;

    RunTables()
    {
        tables = dmu::model_tables();
        lock_classes.assign(tables.lock_classes.begin(), tables.lock_classes.end());
        for (sim::LockClassInfo &info : lock_classes)
            if (std::string_view(info.name) == "script_lock")
                info.describe = describe_script_lock;
        tables.lock_classes = lock_classes;
    }
};

// A dirty record's own lock is taken by open transactions until their txg is quiesced, with the dbuf's lock held, and
// by sync afterwards, which then takes the dbufs' locks below it: opposite orders that never meet.
std::set<uint16_t> classes_apart(const sim::Tables &tables)
{
    std::set<uint16_t> apart;
    for (size_t i = 0; i < tables.lock_classes.size(); ++i)
        if (std::string_view(tables.lock_classes[i].name) == "dr_mtx")
            apart.insert(static_cast<uint16_t>(i));
    return apart;
}

// Of classes and functions that share a name, all.
void apply_suppositions(const Scenario &scenario, sim::Simulator &simulator, const sim::Tables &tables)
{
    for (const Supposition &one : scenario.suppose) {
        const uint32_t factor = static_cast<uint32_t>(one.factor);
        for (size_t i = 0; i < tables.lock_classes.size(); ++i)
            if (one.lock == tables.lock_classes[i].name)
                simulator.suppose_lock(static_cast<uint16_t>(i), factor);
        for (size_t i = 0; i < tables.functions.size(); ++i)
            if (one.function == tables.functions[i].name)
                simulator.suppose_function(static_cast<uint16_t>(i), factor);
    }
}

std::string refusal_text(const std::vector<Refusal> &refusals)
{
    std::string text;
    for (const Refusal &refusal : refusals)
        text += (text.empty() ? "" : "\n") + refusal.step + ": refused with " + refusal.error +
                ", although it must succeed";
    return text;
}

// Sets a world aside. It stays reachable for ever, so that a leak checker knows it is on purpose.
struct Abandon {
    void operator()(World *world) const
    {
        static std::vector<World *> *const abandoned = new std::vector<World *>;
        abandoned->push_back(world);
    }
};

void operate(World &world, RunResult &result, const RunOptions &options)
{
    world.create();
    world.start_workload();
    world.wait_for_workload();
    world.simulator.set_free(true);
    add_pool(result, world, options.kstats);
    world.stop();
    check_pool(world);
    check_counters(world);
    world.close();
}

} // namespace

RunResult run(const Scenario &scenario, const RunOptions &options)
{
    RunResult result;
    result.scenario = scenario_json(scenario).dump();
    const RunTables tables;
    Course course(scenario.machine.cpus, tables.lock_classes.size(), options.observer);
    const bool series = scenario.records("series");
    sim::Simulator simulator(scenario.machine, tables.tables, scenario.seed, series ? &course : options.observer);
    simulator.set_release_ahead(options.release_ahead);
    simulator.set_repeats(options.repeats);
    apply_suppositions(scenario, simulator, tables.tables);
    if (scenario.schedule != 0)
        simulator.disturb(scenario.schedule);
    if (scenario.records("lock_order"))
        simulator.watch_lock_order(classes_apart(tables.tables));
    simulator.set_patience(sim::nanoseconds(static_cast<int64_t>(scenario.stop.patience_ns)));
    std::unique_ptr<World, Abandon> world(new World(scenario, simulator, options));
    if (series)
        world->course = &course;

    sim::ThreadOptions operator_options;
    operator_options.group = "operator";
    operator_options.counted = false;
    simulator.spawn("operator", operator_options, [&] { operate(*world, result, options); });
    const sim::End end = simulator.run();

    result.end = end_of(end.ending);
    result.ending = end.text;
    result.warnings = simulator.warnings();
    add_measurements(result, simulator, scenario);
    add_world(result, *world);
    if (series)
        for (Series &one : course.series(tables.lock_classes))
            result.series.push_back(std::move(one));
    if (result.end == End::completed && !world->refusals.empty()) {
        result.end = End::refused;
        result.ending = refusal_text(world->refusals);
    }
    result.complete = result.end == End::completed || result.end == End::refused;
    if (!result.complete && !world->measuring() && world->epoch() != 0)
        result.warnings.push_back("the run ended within its " + world->warmup_text() + ", which is what is counted");
    if (end.ending == sim::Ending::finished)
        delete world.release();
    return result;
}

} // namespace scenarios
