// The tables of a scenario's objects: what stands under "code", "pool", "dataset", "workload", "expect", "stop",
// "warmup", "suppose".
#pragma once

#include "scenarios/field.h"
#include "scenarios/scenario.h"

namespace scenarios {

constexpr size_t name_length_max = 100;
constexpr size_t text_length_max = 4000;

std::vector<std::string> era_names();

const Table &code_table();    // dmu::code_config
const Table &pool_table();    // dmu::pool_config
const Table &disk_table();    // dmu::disk_config
const Table &dataset_table(); // dmu::dataset_config
const Table &group_table();   // Group
const Table &stop_table();    // Stop
const Table &warmup_table();  // Warmup, in its form with an operation
const Table &suppose_table(); // Supposition

// An entry of "expect". Bounds are JSON numbers, or null where there is none; they are judged on the printed result.
struct Expectation {
    std::string metric, because;
    json at_least, at_most, equals;
    json of, percent; // within
};
const Table &expectation_table();
const Table &within_table();

} // namespace scenarios
