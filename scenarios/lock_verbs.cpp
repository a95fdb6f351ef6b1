#include "scenarios/lock_verbs.h"

#include "scenarios/workload.h"

namespace scenarios {

namespace {

ScriptLock &named(Worker &worker, const Step &step)
{
    const std::string name = worker.text(step.name);
    std::unique_ptr<ScriptLock> &lock = worker.world().locks[name];
    if (lock == nullptr)
        lock = std::make_unique<ScriptLock>(name);
    return *lock;
}

} // namespace

void lock_verbs::lock(Worker &worker, const Step &step)
{
    ScriptLock &named_lock = named(worker, step);
    worker.operate(step, [&] {
        if (MUTEX_HELD(named_lock.lock))
            return EDEADLK;
        mutex_enter_manual(named_lock.lock);
        return 0;
    });
}

void lock_verbs::unlock(Worker &worker, const Step &step)
{
    ScriptLock &named_lock = named(worker, step);
    worker.operate(step, [&] {
        if (!MUTEX_HELD(named_lock.lock))
            return EPERM;
        mutex_exit(named_lock.lock);
        return 0;
    });
}

} // namespace scenarios
