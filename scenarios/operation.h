// The operations a script can ask of the simulated system: one entry each, with its fields and its verb.
#pragma once

#include "scenarios/field.h"
#include "scenarios/step.h"

#include <string>
#include <vector>

namespace scenarios {

class Worker; // one thread of the workload, workload.h

enum class Needs { nothing, file_system };

struct Operation {
    std::string name;
    std::string sentence;
    Table fields; // of Step; holds "op" and "must" too
    void (*perform)(Worker &worker, const Step &step);
    void (*check)(const Step &step, const Value &value) = nullptr; // what goes wrong between fields
    Needs needs = Needs::nothing;                                  // made before the script begins
};

// By kind (objects, ...), in the order in which help lists them.
const std::vector<Operation> &operations();
const Operation *find_operation(std::string_view name); // null: there is none
std::vector<std::string> operation_names();

// For the files that declare operations: the fields before theirs.
std::vector<Field> with_common(std::string_view op, std::vector<Field> fields);

} // namespace scenarios
