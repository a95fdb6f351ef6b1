// A step of a script, as read: what a simulated thread is told to do next.
//
// A step is an operation on the simulated system ({"op": "alloc", ...}) or steers the script (repeat, choose, barrier,
// sleep, think, wait_until). Which of them it is follows from the one key that names it. Steps are plain data; the
// interpreter (workload.h) runs them, the operations (operation.h) know their verbs.
#pragma once

#include "scenarios/placeholder.h"
#include "scenarios/run.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scenarios {

struct Operation;
struct Step;
using Steps = std::vector<Step>;

struct Alternative {
    uint64_t weight = 1;
    Steps steps;
};

enum class StepKind { op, repeat, choose, barrier, sleep, think, wait_until };

// Only the fields that the step's kind and operation declare mean anything.
struct Step {
    StepKind kind = StepKind::op;
    std::string path; // workload.0.steps.1, for messages
    uint32_t id = 0;  // of all steps, counted in reading order: the interpreter's key for what it keeps about a step

    // repeat
    bool counted = false; // "repeat" was given
    Quantity rounds;
    uint64_t for_ns = 0; // 0: no limit
    bool shared = false;
    uint64_t every_ns = 0; // 0: the next round begins when the last has ended
    Steps steps;

    // choose
    std::vector<Alternative> alternatives;

    // barrier
    std::string barrier;

    // sleep, think
    Quantity pause;

    // wait_until
    std::string counter;
    Quantity at_least;
    uint64_t poll_ns = 100'000;

    // op
    const Operation *operation = nullptr;
    bool must = false;
    Quantity count{1, {}, {}};
    Quantity limit{INT64_MAX, {}, {}};
    std::string type = "UINT64_OTHER";
    uint64_t bonus = 0;
    uint64_t block_size = 0;
    uint64_t slots = 1;
    uint64_t work_ns = 0;
    std::vector<ObjectRun> objects;
    std::string which;
    Quantity stride{1, {}, {}}, from{1, {}, {}}, to{(1ull << 48) - 1, {}, {}};
    std::vector<std::string> flags;
    Quantity offset;
    Quantity size;
    std::string pattern = "offset"; // where in the file: there, from there on, or anywhere behind it
    uint64_t minlvl = 0, blkfill = 0, txg = 0;
    uint64_t slot_at_ns = 0; // since the beginning of the measured part; 0: no waiting
    Template name;
    bool wait = true;
    Template dir, to_dir, new_name;
    Quantity owner, group; // of a file that is made
    Template zap;
    std::vector<Quantity> values{Quantity{0, {}, {}}};
    uint64_t integer_size = 8;
    bool add = true;
};

Steps read_steps(const Value &value);
// Gives each step its id, from next_id on; returns the one after the last.
uint32_t number_steps(Steps &steps, uint32_t next_id);
json steps_json(const Steps &steps);

// {"type": "array", ...}, and the "step" that it refers to as #/definitions/step.
json steps_schema();
json step_definition();

// The kinds of steps other than op, for help: key, table of fields.
struct StepForm {
    std::string key;
    StepKind kind;
    std::string sentence;
    const Table *table;
};
const std::vector<StepForm> &step_forms();

// Calls the function with each step, outer before inner.
template <class F>
void for_each_step(const Steps &steps, const F &function)
{
    for (const Step &step : steps) {
        function(step);
        for_each_step(step.steps, function);
        for (const Alternative &alternative : step.alternatives)
            for_each_step(alternative.steps, function);
    }
}

} // namespace scenarios
