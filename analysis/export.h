// A stored result in the forms that other people's viewers read.
//
// Each form is one function from the JSON result to text, and one line of the table that the command line, the help and
// the tests use. Weights of stacks are whole nanoseconds whose sum is the whole, rounded once: what is cut from one
// line is carried to the next.
#pragma once

#include "analysis/json.h"

#include <string>
#include <vector>

namespace analysis {

struct ExportForm {
    const char *name;
    const char *what;
    std::string (*write)(const Json &result);
};
const std::vector<ExportForm> &export_forms();

// One stack of the calling-context tree that has time of its own, outermost function first.
struct Stack {
    std::vector<std::string> frames;
    uint64_t ns = 0;
};
enum class StackTime { cpu, wait }; // own CPU time; time spinning or blocked on locks and everything else
std::vector<Stack> stacks(const Json &result, StackTime time);

// The writers, one file each.
std::string write_folded_cpu(const Json &result);
std::string write_folded_wait(const Json &result);
std::string write_speedscope(const Json &result);
std::string write_trace_event(const Json &result);
std::string write_openmetrics(const Json &result);
std::string write_csv(const Json &result);
std::string write_kstat(const Json &result);
std::string write_lockstat(const Json &result);
std::string write_pprof(const Json &result);

} // namespace analysis
