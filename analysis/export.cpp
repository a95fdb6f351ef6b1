#include "analysis/export.h"

namespace analysis {

const std::vector<ExportForm> &export_forms()
{
    static const std::vector<ExportForm> forms = {
        {"folded", "stacks with their own CPU nanoseconds, for flame graphs", write_folded_cpu},
        {"folded-wait", "stacks with the nanoseconds they waited", write_folded_wait},
        {"speedscope", "both, for speedscope", write_speedscope},
        {"trace-event", "txgs over time and the call tree, for Perfetto and chrome://tracing", write_trace_event},
        {"pprof", "both, for go tool pprof", write_pprof},
        {"openmetrics", "counters, rates, latencies, locks, histograms", write_openmetrics},
        {"csv", "every number of the result: metric,value", write_csv},
        {"kstat", "statistics as kstat text: name type data", write_kstat},
        {"lockstat", "lock waits as lockstat prints them, with callers and holders", write_lockstat},
    };
    return forms;
}

} // namespace analysis
