// What the operations on files and directories do; one function an operation, named like it.
#pragma once

namespace scenarios {

class Worker;
struct Step;

namespace file_verbs {

void mkdir(Worker &worker, const Step &step);
void rmdir(Worker &worker, const Step &step);
void create(Worker &worker, const Step &step);
void unlink(Worker &worker, const Step &step);
void rename(Worker &worker, const Step &step);
void lookup(Worker &worker, const Step &step);
void stat(Worker &worker, const Step &step);
void readdir(Worker &worker, const Step &step);
void read(Worker &worker, const Step &step);
void write(Worker &worker, const Step &step);
void truncate(Worker &worker, const Step &step);
void dir_stats(Worker &worker, const Step &step);

} // namespace file_verbs
} // namespace scenarios
