// A run: one simulator, one pool, one thread that plays the operator, and the workload.
//
// The operator makes the pool and does the setup in no simulated time, starts the workload, waits for it, and
// afterwards, again in no simulated time, reads the state of the pool, stops it and checks it. A run that ends badly
// (deadlock, broken invariant, ...) leaves threads in the middle of things; their world is set aside, not destroyed,
// because destructors expect a world in order.
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

std::string refusal_text(const std::vector<Refusal> &refusals)
{
    std::string text;
    for (const Refusal &refusal : refusals)
        text += (text.empty() ? "" : "\n") + refusal.step + ": refused with " + refusal.error +
                ", although it must succeed";
    return text;
}

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
    simulator.set_patience(sim::nanoseconds(static_cast<int64_t>(scenario.stop.patience_ns)));
    auto world = std::make_unique<World>(scenario, simulator, options);
    if (series)
        world->course = &course;

    sim::ThreadOptions operator_options;
    operator_options.group = "operator";
    operator_options.counted = false;
    simulator.spawn("operator", operator_options, [&] { operate(*world, result, options); });
    const sim::End end = simulator.run();

    result.end = end_of(end.ending);
    result.ending = end.text;
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
    if (end.ending != sim::Ending::finished) {
        // Reachable for ever, so that a leak checker knows it is on purpose.
        static std::vector<World *> *const abandoned = new std::vector<World *>;
        abandoned->push_back(world.release());
    }
    return result;
}

} // namespace scenarios
