// What throughput would be, were one lock or one function cheaper: which to try, and what came of it.
//
// Each trial is the same scenario with one supposition more ("suppose" in the scenario, sim/careful.h says what it
// means), so each figure is that of a run anybody can repeat by hand. Removing the first lock need not help: what
// waited for it may crowd on the next one, and then throughput falls.
#pragma once

#include "analysis/json.h"
#include "analysis/text.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace analysis {

inline constexpr char whatif_format[] = "dmusim-whatif-1";

// One thing that is supposed cheaper, or two at once.
struct Trial {
    struct Part {
        bool is_lock = true;
        std::string name;
    };
    std::vector<Part> parts;

    std::string kind() const; // "lock", "function", "lock + function"
    std::string name() const; // "os_obj_lock", "os_obj_lock + db_mtx"
    // For the scenario's "suppose".
    Json suppositions(uint64_t factor) const;
};

// The locks waited for longest, the functions with most CPU time of their own, at most `top` of each.
std::vector<Trial> top_trials(const Json &result, size_t top);
// Every two of them at once.
std::vector<Trial> pair_trials(const std::vector<Trial> &singles);

// The throughput of the operation done most often: "ops.create.per_s". Empty: no operation was done.
std::string throughput_metric(const Json &result);

// What a run has on top: the lock waited for longest, or, where nobody waits, the function with most CPU time. Null:
// nothing.
Json top_of(const Json &result);

// What the parent needs of a trial's result.
Json trial_outcome(const Json &result, const std::string &metric);

// An entry of the ranking. `outcome` as from trial_outcome(); null: the run gave no result.
Json ranking_entry(const Trial &trial, uint64_t factor, const std::string &metric, const Json &before,
                   const Json &outcome);
// By gain, the largest first; without one last; equal ones keep their order.
void sort_by_gain(Json &entries);

// The whole product. `result` is that of the run as it is.
Json whatif_json(const Json &result, const std::string &metric, Json ranking, std::optional<Json> pairs);
std::string whatif_text(const Json &whatif, Style style);
// One sentence for each that deserves it: what helps most, and whether removing the top lock loses.
std::vector<std::string> whatif_words(const Json &whatif);

} // namespace analysis
