// What the operations on objects and txgs do; one function an operation, named like it.
#pragma once

namespace scenarios {

class Worker;
struct Step;

namespace object_verbs {

void alloc(Worker &worker, const Step &step);
void free(Worker &worker, const Step &step);
void claim(Worker &worker, const Step &step);
void sync(Worker &worker, const Step &step);
void reopen(Worker &worker, const Step &step);
void export_import(Worker &worker, const Step &step);
void evict(Worker &worker, const Step &step);
void hold_tx(Worker &worker, const Step &step);
void quiesce(Worker &worker, const Step &step);
void release_tx(Worker &worker, const Step &step);
void hold(Worker &worker, const Step &step);
void object_read(Worker &worker, const Step &step);
void object_update(Worker &worker, const Step &step);
void object_write(Worker &worker, const Step &step);
void next_offset(Worker &worker, const Step &step);

} // namespace object_verbs
} // namespace scenarios
