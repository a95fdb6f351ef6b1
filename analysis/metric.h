// A metric: a path into a result that ends at a number.
//
//   simulated_ns                                          a key
//   ops.alloc.per_s                                       keys of objects, by dots
//   locks[os_obj_lock].wait_ns.total                      a list of named things is entered by name in brackets
//   histograms[dnode_hold_impl per dmu_object_alloc][2]   a bucket; one that is not there counts 0
//   histograms[...][4096..]  [2..8]                       the sum over a range of buckets
//   counters.zap_increment                                a function that was never called counts 0
//   txgs.0.allocated                                      list items by index
//   counters.dnode_next_offset / ops.alloc.count          one metric divided by another
//
// Names in brackets may hold dots and balanced brackets.
#pragma once

#include "analysis/json.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace analysis {

struct MetricValue {
    Json value;          // a number; null where there is none
    std::string problem; // why there is none
};

// Never throws; a path that leads nowhere has a problem that names the nearest key.
MetricValue metric_value(const Json &result, std::string_view path);

// A problem that can be seen without a result: syntax, or a first key that no result has. Empty: none.
std::string metric_problem(std::string_view path);

// Is the smaller value the better one? It is of a time, whose key ends in _ns; not of a quotient.
bool less_is_better(std::string_view path);

// One line of `dmusim list metrics`.
struct MetricKind {
    const char *path;
    const char *unit;
    const char *what;
};
const std::vector<MetricKind> &metric_kinds();

} // namespace analysis
