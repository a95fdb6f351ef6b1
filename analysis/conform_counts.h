// Counters of one thread over one call: functions entered, locks taken, references moved; and their recorded form.
//
// A recording ("profile") lists functions by name, mutexes and rwlocks by the name of the lock and the source file that
// took it, atomic references, and the call path of every dnode_hold_impl. The model counts locks by class, so the files
// of one lock are added up before they are compared.
#pragma once

#include "analysis/conform.h"
#include "analysis/json.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dmu {
struct objset_t;
}

namespace analysis {

struct Counts {
    std::map<std::string, int64_t> fn;    // by OpenZFS name; only those called
    std::map<std::string, int64_t> mutex; // by lock class
    std::map<std::string, int64_t> read;
    std::map<std::string, int64_t> write;
    std::map<std::string, int64_t> paths; // "a>b>dnode_hold_impl" -> how often

    Counts &operator+=(const Counts &other);
    Counts &add_times(const Counts &other, int64_t times);
    int64_t function(const std::string &name) const;
    bool operator==(const Counts &) const = default;
};

// Everything that the running simulated thread counts while `call` runs, the holds of object `zapobj` apart.
// REQUIRES: no other thread runs meanwhile.
Counts count(dmu::objset_t &os, uint64_t zapobj, const std::function<void()> &call);

// Compares every count of a recorded profile that the model knows with sum / calls. Functions and locks that the model
// leaves out on purpose are skipped (left_out()).
void compare_profile(const Json &profile, const Counts &sum, uint64_t calls, Comparison &comparison);
// How many of them differ; for telling which of several mixtures was recorded.
uint64_t profile_differences(const Json &profile, const Counts &sum, uint64_t calls);

// A recorded count, by "fn", "mutex", "rw_r", "rw_w", "ref" or "zrl" and its key; 0 where it is absent. Means are
// multiplied by the calls.
int64_t recorded_count(const Json &profile, const char *group, const char *key, uint64_t calls);

// What the model leaves out: name and reason.
struct LeftOut {
    const char *name;
    const char *why;
};
const std::vector<LeftOut> &left_out();
void note_left_out(Comparison &comparison);

} // namespace analysis
