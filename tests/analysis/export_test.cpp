#include "analysis/export.h"

#include <doctest/doctest.h>

using namespace analysis;

namespace {

// (thread) 0.5 ns, a 1.7, a;b 0.9, a;c 2.4: 5.5 ns of CPU; b waited 3 ns
const Json result = Json::parse(R"({
    "format": "dmusim-result-1", "simulated_ns": 100, "scenario": {"name": "n\"\u001b"},
    "ops": {"alloc": {"count": 4, "per_s": 40000000, "latency_ns": {"p50": 1, "p90": 2, "p99": 3, "max": 4.5}}},
    "cpu": {"functions": [{"name": "a", "self_ns": 1.7}], "call_tree": {"rows": [
        [0, "", 1, 0.5, 0, 0], [0, "a", 2, 1.7, 0, 0], [1, "b", 3, 0.9, 1, 2], [1, "c", 4, 2.4, 0, 0]]}},
    "locks": [{"class": "os_obj_lock", "acquisitions": 8, "contended": 2, "wait_ns": {"total": 3, "max": 2, "p99": 2},
               "spin_ns": 1, "blocked_ns": 2, "hold_ns": {"total": 16, "max": 4, "p99": 4},
               "waiters": [{"caller": "b", "wait_ns": 3}], "holders": [{"caller": "c", "blamed_ns": 3}], "hottest": []}],
    "histograms": {"b per a": {"scale": "quantize", "unit": "calls", "rows": [[0, 1], [1, 2], [4, 3]]}},
    "counters": {"a": 2, "=cmd": 1}, "dbuf": {"hash_hits": 7},
    "txgs": [{"txg": 5, "open_ns": 40, "quiesce_ns": 2, "sync_ns": 30}, {"txg": 6, "open_ns": 10, "quiesce_ns": 1, "sync_ns": 5}]
})");

} // namespace

TEST_CASE("folded lines sum to the CPU time, whole nanoseconds, what is cut from one line carried to the next")
{
    // in picoseconds 500, 2200, 3100, 5500 are reached: 0, 2, 1, 2 whole nanoseconds
    CHECK(write_folded_cpu(result) == "(thread);a 2\n(thread);a;b 1\n(thread);a;c 2\n");
    CHECK(write_folded_wait(result) == "(thread);a;b 3\n");
}

TEST_CASE("speedscope has one frame a name and weights that sum to the end value")
{
    Json file = Json::parse(write_speedscope(result));
    CHECK(file["shared"]["frames"].size() == 4);
    Json cpu = file["profiles"][0];
    CHECK(cpu["samples"].size() == cpu["weights"].size());
    CHECK(cpu["endValue"] == 5);
    CHECK(file["profiles"][1]["endValue"] == 3);
}

TEST_CASE("a timeline nests: a callee lies within its caller, a txg syncs after the one before it")
{
    Json events = Json::parse(write_trace_event(result))["traceEvents"];
    auto find = [&](const std::string &name, int thread) {
        for (const Json &event : events)
            if (event["ph"] == "X" && event["name"] == name && event["tid"] == thread)
                return event;
        FAIL(name);
        return Json();
    };
    Json a = find("a", 1), c = find("c", 1);
    CHECK(c["ts"].get<double>() >= a["ts"].get<double>());
    CHECK(c["ts"].get<double>() + c["dur"].get<double>() <= a["ts"].get<double>() + a["dur"].get<double>() + 1e-12);
    // txg 5 closes at 40, is quiet at 42, synced at 72; txg 6 is quiet at 51 and syncs from 72
    CHECK(find("txg 5", 3)["ts"] == 0.042);
    CHECK(find("txg 6", 3)["ts"] == 0.072);
}

TEST_CASE("OpenMetrics ends with its mark, and histogram buckets add up")
{
    std::string text = write_openmetrics(result);
    CHECK(text.ends_with("# EOF\n"));
    CHECK(text.find("dmusim_ops_total{op=\"alloc\"} 4\n") != std::string::npos);
    CHECK(text.find("dmusim_calls_bucket{histogram=\"b per a\",le=\"7.0\"} 6\n") != std::string::npos);
    CHECK(text.find("le=\"+Inf\"} 6\n") != std::string::npos);
}

TEST_CASE("CSV paths are metrics, and no cell can run as a formula")
{
    std::string text = write_csv(result);
    CHECK(text.starts_with("metric,value\n"));
    CHECK(text.find("\"locks[os_obj_lock].wait_ns.total\",3\n") != std::string::npos);
    CHECK(text.find("\n=") == std::string::npos);
}

TEST_CASE("kstat and lockstat text have the columns their readers know")
{
    CHECK(write_kstat(result).find("hash_hits                                       4    7\n") != std::string::npos);
    std::string text = write_lockstat(result);
    CHECK(text.find("   Count indv cuml         nsec Lock") != std::string::npos);
    CHECK(text.find("os_obj_lock") != std::string::npos);
    CHECK(text.find("held by   c") != std::string::npos);
}

TEST_CASE("a pprof profile begins with its sample types and holds every name once")
{
    std::string bytes = write_pprof(result);
    CHECK(static_cast<unsigned char>(bytes[0]) == (1 << 3 | 2));
    CHECK(bytes.find("nanoseconds") == bytes.rfind("nanoseconds"));
    CHECK(bytes.find("(thread)") != std::string::npos);
}
