// Independent jobs in forked processes, so that a sweep uses every CPU and one bad point cannot take the others along.
//
// Simulations hold global state on purpose (one simulator a process), hence processes and not threads. Whatever the
// order in which jobs finish, results are handed over in the order of their numbers; how far a job may run ahead of the
// oldest unfinished one is bounded, and with it the memory for what waits.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace cli {

struct JobResult {
    size_t index = 0;
    int status = 0;     // what the job returned
    std::string output; // what it wrote
    std::string fault;  // "killed by signal 9": it did not return; empty otherwise
};

class Workers {
public:
    explicit Workers(size_t parallel) : parallel_(parallel) {}

    // In the child: does the work, appends to `output`, returns a status from 0 to 255.
    using Job = std::function<int(size_t index, std::string &output)>;
    // In the parent.
    using Take = std::function<void(JobResult &&result)>;
    // In the parent, whenever one has finished.
    using Tick = std::function<void(size_t finished)>;

    enum class Order { of_numbers, of_finishing };

    // Runs the jobs of those numbers, which ascend. Returns true when every job was run; false when an interrupt was
    // requested: the running ones are ended, and what had finished is handed over, with gaps.
    bool run(const std::vector<size_t> &jobs, Order order, const Job &job, const Take &take, const Tick &tick);

private:
    size_t parallel_;
};

} // namespace cli
