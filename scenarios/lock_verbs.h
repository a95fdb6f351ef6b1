// What the operations on named mutexes do.
#pragma once

namespace scenarios {

class Worker;
struct Step;

namespace lock_verbs {

void lock(Worker &worker, const Step &step);
void unlock(Worker &worker, const Step &step);

} // namespace lock_verbs
} // namespace scenarios
