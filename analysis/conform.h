// Replaying recorded traces of the real library: what every kind of trace has in common.
//
// A trace is a list of steps, each with what was asked and what the real code answered. A replayer asks the model the
// same and hands both answers to a Comparison, field by field. It never looks at the recorded answer for anything else.
// One table (conform.cpp) says which replayer reads which kind of file; a kind of trace is one function and one line.
#pragma once

#include "analysis/json.h"
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace analysis {

// The file is JSON but not a trace that can be replayed: a mistake of the user, not a difference.
struct BadTrace : std::runtime_error {
    BadTrace(std::string at, std::string what)
        : std::runtime_error(at.empty() ? what : at + ": " + what), path(std::move(at)), problem(std::move(what))
    {
    }
    std::string path; // steps.3.count
    std::string problem;
};

struct Difference {
    std::string step;     // "step 12 (alloc)"
    std::string field;    // "totals.dnode_hold_impl", "objects[3][1]"
    std::string recorded; // JSON texts, shortened where long
    std::string got;
};

class Comparison {
public:
    // trace_name: what the file is called, without folder and ending; empty: unknown.
    explicit Comparison(bool keep_going, std::string trace_name = {})
        : keep_going_(keep_going), trace_name_(std::move(trace_name))
    {
    }

    // Thrown by equal() at the first difference unless the comparison keeps going.
    struct Stop {};

    // Names what the following fields belong to.
    void step(size_t index, std::string_view operation);
    void label(std::string text); // for traces whose parts are not numbered steps

    // Compares whole values; a difference is reported at the first leaf where they part.
    void equal(std::string_view field, const Json &recorded, const Json &got);

    // A note for the person who reads the report (what a replay takes as input, what was left out and why).
    void note(std::string text) { notes_.push_back(std::move(text)); }

    const std::string &trace_name() const { return trace_name_; }
    uint64_t steps() const { return steps_; }
    uint64_t compared() const { return compared_; }
    const std::vector<Difference> &differences() const { return differences_; }
    const std::vector<std::string> &notes() const { return notes_; }

private:
    bool keep_going_;
    std::string trace_name_;
    uint64_t steps_ = 0;
    uint64_t compared_ = 0; // leaves
    std::string step_ = "head";
    std::vector<Difference> differences_;
    std::vector<std::string> notes_;
};

// One kind of trace: the file says "format" or, where it has none, "kind".
struct TraceKind {
    const char *key; // "format" | "kind"
    const char *name;
    void (*replay)(const Json &trace, Comparison &comparison); // throws BadTrace
};

// The replayer for a file; throws BadTrace and names the known formats where there is none.
const TraceKind &trace_kind(const Json &trace);

} // namespace analysis
