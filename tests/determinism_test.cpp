// The same scenario gives the same bytes: twice in one process, and whether anybody observes it or not.
#include "sim/observer.h"
#include "tests/small_runs.h"

#include <doctest/doctest.h>

using analysis::Json;

TEST_CASE("every built-in scenario gives the same bytes twice in one process, observed or not")
{
    Json overrides = small_sizes();
    for (const std::string &name : scenarios::library_names()) {
        INFO(name);
        scenarios::RunResult first = small_run(name, overrides[name]);
        std::string expected = analysis::dump(analysis::report_json(first));
        CHECK(analysis::dump(analysis::report_json(small_run(name, overrides[name]))) == expected);
        sim::Observer observer; // hears everything, keeps nothing
        scenarios::RunOptions observed;
        observed.observer = &observer;
        CHECK(analysis::dump(analysis::report_json(small_run(name, overrides[name], observed))) == expected);
    }
}

// What is simulated does not depend on how the kernel saves its own work: locks released ahead of their time, stretches
// added instead of executed, and equal holds counted together, which somebody who hears of every frame and hold
// forbids.
TEST_CASE("every built-in scenario comes out the same without the kernel's short cuts")
{
    struct EverythingHeard final : sim::Observer {
        bool wants_holds() const override { return true; }
        bool wants_frames() const override { return true; }
    };
    Json overrides = small_sizes();
    for (const std::string &name : scenarios::library_names()) {
        INFO(name);
        const scenarios::RunResult first = small_run(name, overrides[name]);
        const std::string expected = analysis::dump(analysis::report_json(first));
        EverythingHeard observer;
        std::vector<scenarios::RunOptions> ways(4);
        ways[0].release_ahead = false;
        ways[1].observer = &observer;
        ways[2].repeats = sim::Repeats::executed;
        ways[3].repeats = sim::Repeats::checked;
        for (const scenarios::RunOptions &options : ways) {
            const scenarios::RunResult other = small_run(name, overrides[name], options);
            CHECK(other.end == first.end);
            CHECK(analysis::dump(analysis::report_json(other)) == expected);
        }
    }
}

// Objects allocated, freed and synced by several threads at once, in small level-1 blocks, so that allocators
// search from 0 all the time and meet slots in every state.
TEST_CASE("visits in vain come out the same executed, checked and added, in every code base and by every allocator")
{
    const char *text = R"({
        "name": "visits", "params": {"threads": 1, "more": 300, "fewer": 100},
        "machine": {"cpus": 4, "cpus_per_socket": 2}, "dataset": {"meta_indirect_shift": 14},
        "pool": {"txg_timeout": "4000s"},
        "workload": [{"name": "user", "threads": "$threads", "steps": [{"repeat": 2, "steps": [
            {"repeat": 6, "steps": [{"repeat": "$more", "steps": [{"op": "alloc"}]}]},
            {"repeat": "$fewer", "steps": [{"op": "free", "which": "random", "count": 1}]},
            {"repeat": "$more", "steps": [{"op": "alloc"}]},
            {"repeat": 1, "shared": true, "steps": [{"op": "sync"}]},
            {"repeat": "$more", "steps": [{"op": "alloc"}, {"op": "free", "which": "first", "count": 1}]}
        ]}]}]})";
    uint64_t visits = 0;
    uint64_t seed = 0;
    for (const char *era : {"illumos-2016", "zol-2016-05", "zol-2016-05-rescan", "zol-2016-08", "zol-2017", "head"})
        for (const char *allocator : {"legacy", "rescan", "no-backfill"})
            for (const uint64_t threads : {1, 3, 9}) {
                CAPTURE(era);
                CAPTURE(allocator);
                CAPTURE(threads);
                ++seed;
                const std::vector<scenarios::Override> overrides = {
                    {"code.era", era, "test"},
                    {"code.object_alloc", allocator, "test"},
                    {"params.threads", std::to_string(threads), "test"},
                    {"params.more", std::to_string((800 + seed % 7 * 100) / threads), "test"},
                    {"params.fewer", std::to_string(300 / threads), "test"},
                    {"seed", std::to_string(seed), "test"},
                    {"machine.time_slice_ns", seed % 2 == 0 ? "200000" : "5000000", "test"}};
                const auto with = [&](sim::Repeats repeats) {
                    scenarios::RunOptions options;
                    options.repeats = repeats;
                    return scenarios::run(scenarios::read_scenario(scenarios::parse_json("test", text), overrides),
                                          options);
                };
                const scenarios::RunResult executed = with(sim::Repeats::executed);
                REQUIRE_MESSAGE(executed.end == scenarios::End::completed, executed.ending);
                const std::string expected = analysis::dump(analysis::report_json(executed));
                for (const sim::Repeats repeats : {sim::Repeats::checked, sim::Repeats::added}) {
                    const scenarios::RunResult other = with(repeats);
                    CHECK_MESSAGE(other.end == scenarios::End::completed, other.ending);
                    CHECK(analysis::dump(analysis::report_json(other)) == expected);
                }
                if (const auto found = executed.counters.find("visits"); found != executed.counters.end())
                    visits += found->second;
            }
    CHECK(visits > 250'000);
}

TEST_CASE("another seed is another run, and the seed is in the result")
{
    std::string name = scenarios::library_names().front();
    Json overrides = small_sizes()[name];
    overrides["seed"] = 12345;
    CHECK(analysis::report_json(small_run(name, overrides))["scenario"]["seed"] == 12345);
}
