// Reading, writing and truncating files through a script, the kernel stack below them, and the kstats afterwards.
#include "model/costs.h"
#include "model/dmu_state.h"
#include "model/kstat_report.h"
#include "scenarios/library.h"
#include "tests/scenarios/run_fixture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

using namespace scenarios;
using namespace scenarios_test;

namespace {

const char *const file_of_ten_records =
    R"({"op": "create", "name": "f"}, {"op": "write", "name": "f", "size": "80K"}, {"op": "sync"},)";

RunResult run_files(const std::string &steps, const std::vector<std::string> &sets = {})
{
    std::vector<std::string> all = {"code.era=zol-2019", "dataset.recordsize=8K"};
    all.insert(all.end(), sets.begin(), sets.end());
    return run_steps(file_of_ten_records + steps, 1, all);
}

RunResult run_library(const std::string &name, const std::vector<std::string> &sets, const RunOptions &options = {})
{
    std::vector<Override> overrides;
    for (const std::string &set : sets)
        overrides.push_back(parse_override(set));
    return run(read_scenario(open_scenario(name), overrides), options);
}

uint64_t counter(const RunResult &result, const char *name)
{
    const auto found = result.counters.find(name);
    return found == result.counters.end() ? 0 : found->second;
}

} // namespace

TEST_CASE("a file is written, read, shortened and lengthened; a read ends where the file ends")
{
    const RunResult result = run_files(R"({"op": "read", "name": "f", "size": "80K"},
        {"op": "read", "name": "f", "offset": "72K", "size": "1M"}, {"op": "read", "name": "f", "offset": "80K", "size": 1},
        {"op": "truncate", "name": "f", "size": 100}, {"op": "sync"}, {"op": "truncate", "name": "f", "size": "1M"},
        {"op": "read", "name": "f", "size": "1M"}, {"op": "unlink", "name": "f"}, {"op": "sync"})");
    CHECK(result.end == End::completed);
    CHECK(result.ending == "");
    CHECK(count(result, "read") == 4);
    CHECK(count(result, "write") == 1);
    CHECK(count(result, "truncate") == 2);
}

TEST_CASE("what reads and writes refuse comes under its errno")
{
    const RunResult result = run_files(
        R"({"op": "mkdir", "dir": "d"}, {"op": "read", "name": "nobody", "size": 1}, {"op": "read", "name": "d", "size": 1},
        {"op": "write", "dir": "nowhere", "name": "f", "size": 1}, {"op": "truncate", "name": "d"})");
    CHECK(errors(result, "read", "ENOENT") == 1);
    CHECK(errors(result, "read", "EISDIR") == 1);
    CHECK(errors(result, "write", "ENOENT") == 1);
    CHECK(errors(result, "truncate", "EISDIR") == 1);
}

TEST_CASE("the pattern says where an access is: reads go round, writes go on, random ones stay in the file")
{
    const auto reads = [](const std::string &pattern, const char *times, const std::vector<std::string> &sets = {}) {
        return run_files(R"({"op": "export_import"}, {"repeat": )" + std::string(times) +
                             R"(, "steps": [{"op": "read", "name": "f", "size": "8K", "pattern": ")" + pattern +
                             R"("}]})",
                         sets);
    };
    // Ten blocks, none of them in memory. Nine sequential ones look at nine, ten and twenty at all ten.
    const auto blocks_read = [&](const RunResult &result) { return result.kstats.at("arc").at("demand_data_misses"); };
    const std::vector<std::string> plain = {"code.zfetch=off"};
    CHECK(blocks_read(reads("sequential", "9", plain)) == 9);
    CHECK(blocks_read(reads("sequential", "20", plain)) == 10);
    CHECK(blocks_read(reads("offset", "20", plain)) == 1);
    CHECK(blocks_read(reads("random", "200", plain)) == 10);
    // The second read begins the stream; from the third on each goes on with it. So did the writes of the ten records.
    CHECK(counter(reads("sequential", "10"), "zfetch_hits") == 8 + 8);

    const RunResult written = run_files(
        R"({"repeat": 3, "steps": [{"op": "write", "name": "f", "offset": "80K", "size": "8K", "pattern": "sequential"}]},
           {"repeat": 13, "steps": [{"op": "write", "name": "f", "size": "8K", "pattern": "random"}]}, {"op": "sync"},
           {"op": "export_import"}, {"op": "read", "name": "f", "size": "1M"})",
        plain);
    CHECK(blocks_read(written) == 13); // 80K and three more records; no random write beyond them
    CHECK(run_files(R"({"op": "create", "name": "g"},
        {"op": "read", "name": "g", "size": 1, "pattern": "random"}, {"op": "read", "name": "g", "size": 1, "pattern": "sequential"})")
              .end == End::completed);
}

TEST_CASE("a file that is open is closed before it loses its name, and can be made again")
{
    const RunResult result =
        run_files(R"({"op": "read", "name": "f", "size": 1}, {"op": "rename", "name": "f", "to": "g"},
        {"op": "read", "name": "f", "size": 1}, {"op": "read", "name": "g", "size": 1}, {"op": "unlink", "name": "g"},
        {"op": "create", "name": "g"}, {"op": "read", "name": "g", "size": 1}, {"op": "reopen"},
        {"op": "read", "name": "g", "size": 1})");
    CHECK(result.end == End::completed);
    CHECK(errors(result, "read", "ENOENT") == 1);
    CHECK(count(result, "read") == 4);
}

TEST_CASE("writers of one file's ranges wait for each other only where the ranges meet")
{
    const auto blocked = [](const char *offset) {
        return run_steps(std::string(file_of_ten_records) +
                             R"({"barrier": "go"}, {"repeat": 50, "steps": [{"op": "write", "name": "f", "offset": ")" +
                             offset + R"(", "size": "8K"}]})",
                         4, {"code.era=zol-2019", "dataset.recordsize=8K", "machine.cpus=4"});
    };
    for (const char *offset : {"0", "{thread} * 8192"}) {
        const RunResult result = blocked(offset);
        CHECK(result.end == End::completed);
        CHECK(count(result, "write") == 4 + 200); // each of the four makes the file first, or finds it made
    }
}

TEST_CASE("S10: both published stacks come out level by level")
{
    struct Level {
        const char *function;
        uint64_t bytes, depth;
    };
    const auto check = [](const char *form, const std::vector<Level> &levels) {
        const RunResult result = run_library("deep-stack", {std::string("code.dbuf_hold=") + form});
        REQUIRE(result.stack.frames.size() == result.stack.path.size());
        CHECK(result.stack.bytes == levels.back().depth);
        // What has no frame of its own is inlined in the one above it.
        std::vector<std::pair<std::string, StackResult::Frame>> shown;
        for (size_t i = 0; i < result.stack.path.size(); ++i)
            if (result.stack.frames[i].bytes != 0)
                shown.emplace_back(result.stack.path[i], result.stack.frames[i]);
        REQUIRE(shown.size() > levels.size());
        for (size_t i = 0; i < levels.size(); ++i) {
            const auto &[function, frame] = shown[shown.size() - levels.size() + i];
            CHECK(function == levels[i].function);
            CHECK(frame.bytes == levels[i].bytes);
            CHECK(frame.depth == levels[i].depth);
        }
    };
    check("heap-frame", {{"dbuf_hold", 16, 1528},
                         {"dbuf_hold_level", 40, 1568},
                         {"dbuf_hold_impl", 40, 1608},
                         {"dbuf_hold_impl_arg", 64, 1672},
                         {"dbuf_hold_impl_arg", 64, 1736},
                         {"dbuf_hold_impl_arg", 56, 1792},
                         {"dbuf_read", 120, 1912},
                         {"dbuf_read_impl", 264, 2176},
                         {"arc_alloc_buf", 64, 2240}});
    check("stack-frame", {{"dbuf_hold", 16, 1528},
                          {"dbuf_hold_level", 40, 1568},
                          {"dbuf_hold_impl", 104, 1672},
                          {"dbuf_hold_impl", 104, 1776},
                          {"dbuf_hold_impl", 96, 1872},
                          {"dbuf_read", 120, 1992},
                          {"dbuf_read_impl", 264, 2256},
                          {"arc_alloc_buf", 64, 2320}});
}

TEST_CASE("S10: twenty levels on the stack take 800 bytes more than with their locals on the heap, 760 net of the "
          "entry frame")
{
    const auto frame = [](dmu::Fn function) { return dmu::costs[static_cast<size_t>(function)].frame_bytes; };
    const auto pushed_for = [](dmu::Fn function) {
        for (const dmu::pushed_t &one : dmu::pushed)
            if (one.function == function)
                return one.bytes;
        return 0u;
    };
    using dmu::Fn;
    const uint32_t on_stack = frame(Fn::dbuf_hold_impl_recursive) + pushed_for(Fn::dbuf_hold_impl_recursive);
    const uint32_t on_heap = frame(Fn::dbuf_hold_impl_arg) + pushed_for(Fn::dbuf_hold_impl_arg);
    const uint32_t entry = frame(Fn::dbuf_hold_impl_entry) + pushed_for(Fn::dbuf_hold_impl_entry);
    constexpr uint32_t levels = 20; // DBUF_HOLD_IMPL_MAX_DEPTH
    CHECK((on_stack - on_heap) * levels == 800);
    CHECK((on_stack - on_heap) * levels - entry == 760);
    CHECK(1568 + levels * on_stack + 120 + 264 + 64 < 16384);
}

TEST_CASE("the fewer ancestors are in memory, the deeper the stack")
{
    const auto bytes = [](const char *hole) {
        return run_library("deep-stack", {std::string("params.hole=") + hole}).stack.bytes;
    };
    CHECK(bytes("562949953421312") > 2320); // 512 TiB: another child of the top block
}

TEST_CASE("S11: the listing of dbufs and dbufstats agree after files have been written, and after they were read again")
{
    RunOptions options;
    options.kstats = {"dbufs", "dbufstats", "arcstats", "txgs", "dnodestats", "dmu_tx"};
    for (const char *access : {"true", "false"}) {
        RunResult result = run_library("dbufstats", {std::string("code.arc_buf_access=") + access}, options);
        // Level-0 dbufs on the cache's list, by the listing: the columns are separated by spaces.
        uint64_t listed = 0;
        std::istringstream lines(result.kstat_texts["dbufs"]);
        std::string line;
        std::getline(lines, line);
        while (std::getline(lines, line)) {
            std::istringstream words(line);
            std::string pool, objset, object, level, blkid, offset, size, meta, state, holds, dirty, list;
            words >> pool >> objset >> object >> level >> blkid >> offset >> size >> meta >> state >> holds >> dirty >>
                list;
            listed += level == "0" && list == "1";
        }
        const uint64_t counted = result.kstats["dbuf"]["cache_level_0"];
        CHECK(counted >= 160);
        CHECK(std::max(listed, counted) - std::min(listed, counted) <= 15);
        CHECK(listed == counted);
        const uint64_t mfu = result.kstats["arc"]["mfu_size"];
        if (access == std::string("true"))
            CHECK(mfu >= 20u << 20);
        else
            CHECK(mfu == 0);
        for (const auto &[name, text] : result.kstat_texts)
            CHECK(std::count(text.begin(), text.end(), '\n') > (name == "txgs" ? 0 : 5));
    }
}

TEST_CASE("the hash table is as large as memory makes it, and so are its locks")
{
    using dmu::dbuf_hash_sizes;
    CHECK(dbuf_hash_sizes(8ull << 30).buckets == 131'072);
    CHECK(dbuf_hash_sizes(8ull << 30).mutexes == 8'192);
    CHECK(dbuf_hash_sizes(256ull << 30).buckets == 4'194'304);
    CHECK(dbuf_hash_sizes(256ull << 30).mutexes == 32'768);
    CHECK(dbuf_hash_sizes(1ull << 40).buckets == 16'777'216);
    CHECK(dbuf_hash_sizes(1ull << 40).mutexes == 131'072);
}

TEST_CASE("a hold has a frame a level, on the heap or on the stack")
{
    const auto calls = [](const char *form, const char *function) {
        const char *const steps = R"({"repeat": 2, "steps": [{"op": "read", "name": "f", "size": "80K"}]})";
        const RunResult result = run_files(steps, {std::string("code.dbuf_hold=") + form});
        return std::pair(counter(result, function), counter(result, "dbuf_find"));
    };
    const auto on_heap = calls("heap-frame", "dbuf_hold_impl_arg");
    CHECK(on_heap.first > 0);
    CHECK(on_heap.first <= on_heap.second); // looked up elsewhere too
    CHECK(calls("heap-array", "__dbuf_hold_impl").first == on_heap.first);
    CHECK(calls("stack-frame", "dbuf_hold_impl").first == on_heap.first);
    CHECK(calls("stack-frame", "dbuf_hold_impl_arg").first == 0);
}

TEST_CASE("a write or read that would go on for ever ends at the stop, and when the caller wants no more")
{
    const std::string write = R"({"op": "create", "name": "a"}, {"op": "write", "name": "a", "size": "1T"})";
    const std::string read =
        R"({"op": "create", "name": "a"}, {"op": "write", "name": "a", "offset": "1T", "size": "1K"}, {"op": "read", "name": "a", "size": "1T"})";
    for (const std::string &steps : {write, read}) {
        const std::string text = R"({"name": "t", "workload": [{"name": "g", "steps": [)" + steps +
                                 R"(, {"op": "unlink", "name": "a"}]}], "stop": {"simulated": "50ms"}})";
        const RunResult result = run_text(text);
        CHECK(result.ending == "");
        CHECK(result.end == End::completed);
        CHECK(result.simulated_ps >= 50'000'000'000u);
        CHECK(result.simulated_ps < 60'000'000'000u);
        CHECK(count(result, "write") == 1);
        CHECK(count(result, "unlink") == 0);

        uint64_t asked = 0;
        RunOptions options;
        options.progress = [&](const Progress &) { return ++asked < 3; };
        CHECK(run(read_scenario(parse_json("test", text), {parse_override("stop.simulated=1000s")}), options).end ==
              End::interrupted);
        CHECK(asked == 3);
    }
}
