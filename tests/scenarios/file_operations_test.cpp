// Files, directories and ZAPs through a script: what succeeds, what is refused and with which errno.
#include "model/eras.h"
#include "tests/scenarios/run_fixture.h"

#include <doctest/doctest.h>

using namespace scenarios;
using namespace scenarios_test;

TEST_CASE("files are made, found, renamed and removed")
{
    const RunResult result = run_steps(R"({"op": "mkdir", "dir": "a"}, {"op": "mkdir", "dir": "a/b"},
        {"repeat": 20, "steps": [{"op": "create", "dir": "a/b", "name": "f{n:04}"}, {"op": "lookup", "dir": "a/b", "name": "f{n:04}"}]},
        {"op": "rename", "dir": "a/b", "name": "f0000", "to_dir": "a", "to": "g"}, {"op": "stat", "dir": "a", "name": "g"},
        {"op": "readdir", "dir": "a/b"}, {"op": "unlink", "dir": "a", "name": "g"}, {"op": "sync"})");
    CHECK(result.end == End::completed);
    CHECK(result.ending == "");
    CHECK(count(result, "mkdir") == 2);
    CHECK(count(result, "create") == 20);
    CHECK(count(result, "lookup") == 20);
    for (const char *op : {"rename", "stat", "readdir", "unlink"})
        CHECK(count(result, op) == 1);
}

TEST_CASE("what a file system refuses comes under its errno")
{
    const RunResult result = run_steps(
        R"({"op": "mkdir", "dir": "a"}, {"op": "mkdir", "dir": "a"}, {"op": "mkdir", "dir": "x/y"},
        {"op": "create", "dir": "a", "name": "f"}, {"op": "create", "dir": "a", "name": "f"}, {"op": "create", "dir": "a/f", "name": "g"},
        {"op": "unlink", "dir": "a", "name": "g"}, {"op": "rmdir", "dir": "a"}, {"op": "lookup", "dir": "b", "name": "f"},
        {"op": "create", "dir": "a", "name": ")" +
        std::string(256, 'n') + R"("}, {"op": "create", "dir": "a", "name": ")" + std::string(255, 'n') + R"("})");
    CHECK(result.end == End::completed);
    CHECK(errors(result, "mkdir", "EEXIST") == 1);
    CHECK(errors(result, "mkdir", "ENOENT") == 1);
    CHECK(errors(result, "create", "EEXIST") == 1);
    CHECK(errors(result, "create", "ENOTDIR") == 1);
    CHECK(errors(result, "create", "ENAMETOOLONG") == 1);
    CHECK(count(result, "create") == 2);
    CHECK(errors(result, "unlink", "ENOENT") == 1);
    CHECK(errors(result, "rmdir", "ENOTEMPTY") == 1);
    CHECK(errors(result, "lookup", "ENOENT") == 1);
}

TEST_CASE("a create holds its directory's dnode as often as the form of dmu_tx_hold_zap says")
{
    const std::string steps =
        R"({"op": "mkdir", "dir": "d"}, {"repeat": 3000, "steps": [{"op": "create", "dir": "d", "name": "f{n:08}"}]})";
    const auto holds = [&](const char *form) {
        return rows(run_steps(steps, 1, {std::string("code.tx_hold_zap=") + form}), "dnode_hold per dmu_tx_hold_zap");
    };
    CHECK(holds("by-dnode") == "1:3001"); // and the mkdir
    CHECK(holds("by-object").starts_with("2:"));
    CHECK(holds("by-object").find(" 5:") != std::string::npos);
}

TEST_CASE("creates by the recorded sequence of DMU calls, without a file system's steps")
{
    const RunResult result = run_steps(
        R"({"op": "mkdir", "dir": "d"}, {"repeat": 50, "steps": [{"op": "create", "dir": "d", "name": "f{n:08}"}]},
        {"op": "unlink", "dir": "d", "name": "f00000001"}, {"op": "unlink", "dir": "d", "name": "none"})",
        1, {"code.create_path=dmu"});
    CHECK(result.end == End::completed);
    CHECK(count(result, "create") == 50);
    CHECK(count(result, "unlink") == 1);
    CHECK(errors(result, "unlink", "ENOENT") == 1);
}

TEST_CASE("the file system is there again after the pool was exported and imported")
{
    const RunResult result =
        run_steps(R"({"op": "mkdir", "dir": "d"}, {"op": "create", "dir": "d", "name": "f"}, {"op": "export_import"},
        {"op": "stat", "dir": "d", "name": "f", "must": true}, {"op": "unlink", "dir": "d", "name": "f", "must": true}, {"op": "rmdir", "dir": "d", "must": true})");
    CHECK(result.end == End::completed);
    CHECK(result.ending == "");
}

TEST_CASE("entries of a ZAP are added, replaced, read and removed")
{
    const RunResult result = run_steps(R"({"op": "zap_create", "zap": "z"}, {"op": "zap_create", "zap": "z"},
        {"repeat": 200, "steps": [{"op": "zap_add", "zap": "z", "name": "n{i:06}", "value": "{i}"}]}, {"op": "zap_add", "zap": "z", "name": "n000000"},
        {"op": "zap_update", "zap": "z", "name": "wide", "values": [1, 2, 3], "integer_size": 4},
        {"op": "zap_lookup", "zap": "z", "name": "wide", "integer_size": 4, "count": 3}, {"op": "zap_lookup", "zap": "z", "name": "wide", "integer_size": 4},
        {"op": "zap_lookup", "zap": "z", "name": "none"}, {"op": "zap_lookup", "zap": "other", "name": "none"}, {"op": "zap_remove", "zap": "z", "name": "wide"},
        {"op": "zap_count_write", "zap": "z", "name": "x"}, {"op": "tx_hold_zap", "zap": "z", "name": "x"}, {"op": "zap_cursor", "zap": "z"},
        {"op": "zap_stats", "zap": "z"}, {"op": "sync"})");
    CHECK(result.end == End::completed);
    CHECK(result.ending == "");
    CHECK(count(result, "zap_add") == 200);
    CHECK(errors(result, "zap_create", "EEXIST") == 1);
    CHECK(errors(result, "zap_add", "EEXIST") == 1);
    CHECK(count(result, "zap_lookup") == 1);
    CHECK(errors(result, "zap_lookup", "EOVERFLOW") == 1);
    CHECK(errors(result, "zap_lookup", "ENOENT") == 2);
    for (const char *op : {"zap_update", "zap_remove", "zap_count_write", "tx_hold_zap", "zap_cursor", "zap_stats"})
        CHECK(count(result, op) == 1);
}

TEST_CASE("what a rename replaces is gone, a file or an empty directory, and only then")
{
    const RunResult result = run_steps(R"(
      { "op": "create", "name": "a", "must": true }, { "op": "create", "name": "b", "must": true },
      { "op": "rename", "name": "a", "to": "b", "must": true },
      { "op": "rename", "name": "b", "to": "b", "must": true },
      { "op": "rename", "name": "b", "to": "c", "must": true },
      { "op": "mkdir", "dir": "d", "must": true }, { "op": "mkdir", "dir": "e", "must": true },
      { "op": "rename", "name": "d", "to": "e", "must": true },
      { "op": "create", "dir": "e", "name": "f", "must": true }, { "op": "mkdir", "dir": "g", "must": true },
      { "op": "rename", "name": "g", "to": "e" },
      { "op": "sync" })");
    CAPTURE(result.ending);
    CHECK(result.end == End::completed); // the objects on disk have been counted
    CHECK(count(result, "rename") == 4);
    CHECK(errors(result, "rename", "ENOTEMPTY") == 1);
}

TEST_CASE("a directory that was in use is gone from its old path once it is renamed, replaced or removed")
{
    // Every directory is used under each path before that path comes to mean something else.
    const RunResult moved = run_steps(
        R"({"op": "mkdir", "dir": "d"}, {"op": "mkdir", "dir": "d/in"}, {"op": "mkdir", "dir": "e"}, {"op": "create", "dir": "d/in", "name": "x"},
        {"op": "lookup", "dir": "d/in", "name": "x"}, {"op": "rename", "name": "d", "to_dir": "e", "to": "f"},
        {"op": "lookup", "dir": "e/f/in", "name": "x"}, {"op": "lookup", "dir": "d/in", "name": "x"}, {"op": "lookup", "dir": "d", "name": "in"})");
    CHECK(moved.ending == "");
    CHECK(count(moved, "lookup") == 2);
    CHECK(errors(moved, "lookup", "ENOENT") == 2);

    const RunResult replaced = run_steps(
        R"({"op": "mkdir", "dir": "old"}, {"op": "create", "dir": "old", "name": "y"}, {"op": "unlink", "dir": "old", "name": "y"},
        {"op": "mkdir", "dir": "new"}, {"op": "create", "dir": "new", "name": "x"}, {"op": "rename", "name": "new", "to": "old"},
        {"op": "stat", "dir": "old", "name": "x"}, {"op": "create", "dir": "old", "name": "y"}, {"op": "stat", "dir": "new", "name": "x"}, {"op": "sync"})");
    CHECK(replaced.ending == "");
    CHECK(count(replaced, "stat") == 1);
    CHECK(errors(replaced, "stat", "ENOENT") == 1);
    CHECK(count(replaced, "create") == 3);

    const RunResult again = run_steps(
        R"({"repeat": 50, "steps": [{"op": "mkdir", "dir": "d"}, {"op": "create", "dir": "d", "name": "x"}, {"op": "readdir", "dir": "d"},
            {"op": "unlink", "dir": "d", "name": "x"}, {"op": "rmdir", "dir": "d"}, {"op": "lookup", "dir": "d", "name": "x"}]}, {"op": "sync"})");
    CHECK(again.ending == "");
    CHECK(count(again, "create") == 50);
    CHECK(count(again, "rmdir") == 50);
    CHECK(errors(again, "lookup", "ENOENT") == 50);
    CHECK(again.allocator.objects_in_use == run_steps(R"({"op": "lookup", "name": "x"})").allocator.objects_in_use);
}

// Six threads on three CPUs; every operation succeeds at least once, and letting everybody first at each release
// changes nothing.
static void check_in_turn(const std::string &steps, std::initializer_list<const char *> seeds,
                          std::initializer_list<const char *> operations)
{
    const std::string text =
        R"({"name": "t", "machine": {"cpus": 3}, "code": {"era": "zol-2019"}, "workload": [{"name": "g", "threads": 6,
        "steps": [{"repeat": 150, "steps": [)" +
        steps + "]}]}]}";
    for (const char *seed : seeds) {
        CAPTURE(std::string(seed));
        const Scenario scenario =
            read_scenario(parse_json("test", text), {parse_override(std::string("seed=") + seed)});
        const RunResult result = run(scenario);
        CHECK(result.ending == "");
        CHECK(result.end == End::completed);
        for (const char *op : operations)
            CHECK(count(result, op) > 0);
        RunOptions careful;
        careful.release_ahead = false;
        const RunResult in_turn = run(scenario, careful);
        CHECK(in_turn.simulated_ps == result.simulated_ps);
        CHECK(in_turn.counters == result.counters);
    }
}

TEST_CASE(
    "directories that threads make, use, move and remove beside each other come to the same, however the host goes")
{
    check_in_turn(
        R"({"op": "mkdir", "dir": "d{rand:0..2}"}, {"op": "create", "dir": "d{rand:0..2}", "name": "f{rand:0..3}"},
        {"op": "mkdir", "dir": "d{rand:0..2}/s"}, {"op": "create", "dir": "d{rand:0..2}/s", "name": "g"}, {"op": "lookup", "dir": "d{rand:0..2}/s", "name": "g"},
        {"op": "rename", "name": "d{rand:0..2}", "to": "d{rand:0..2}"}, {"op": "rename", "dir": "d{rand:0..2}", "name": "s", "to_dir": "d{rand:0..2}", "to": "s"},
        {"op": "unlink", "dir": "d{rand:0..2}/s", "name": "g"}, {"op": "unlink", "dir": "d{rand:0..2}", "name": "f{rand:0..3}"},
        {"op": "rmdir", "dir": "d{rand:0..2}/s"}, {"op": "rmdir", "dir": "d{rand:0..2}"})",
        {"1", "2", "3"}, {"mkdir", "create", "lookup", "rename", "unlink", "rmdir"});
}

TEST_CASE("files that threads make, write and unlink beside each other come to the same, however the host goes")
{
    check_in_turn(
        R"({"op": "mkdir", "dir": "d{rand:0..2}"}, {"op": "create", "dir": "d{rand:0..2}", "name": "f{rand:0..3}"},
        {"op": "write", "dir": "d{rand:0..2}", "name": "f{rand:0..3}", "size": "1K"}, {"op": "unlink", "dir": "d{rand:0..2}", "name": "f{rand:0..3}"})",
        {"4", "10", "29"}, {"mkdir", "create", "write", "unlink"});
}

TEST_CASE("the root is \"/\", and more or fewer slashes in a path mean nothing")
{
    const RunResult result = run_steps(
        R"({"op": "mkdir", "dir": "/"}, {"op": "rmdir", "dir": "//"}, {"op": "mkdir", "dir": "/a/"}, {"op": "mkdir", "dir": "a//b"},
        {"op": "create", "dir": "/", "name": "f"}, {"op": "create", "dir": "a/", "name": "f"}, {"op": "create", "dir": "//a///b/", "name": "f"},
        {"op": "stat", "name": "f"}, {"op": "stat", "dir": "/a", "name": "f"}, {"op": "stat", "dir": "a/b", "name": "f"},
        {"op": "rename", "dir": "a/b/", "name": "f", "to_dir": "/", "to": "g"}, {"op": "lookup", "name": "g"},
        {"op": "write", "dir": "a", "name": "f", "size": "1K"}, {"op": "unlink", "dir": "/a/", "name": "f"},
        {"op": "read", "dir": "a", "name": "f", "size": "1K"}, {"op": "readdir", "dir": "/"}, {"op": "rmdir", "dir": "/a/b"})");
    CHECK(result.ending == "");
    CHECK(errors(result, "mkdir", "EEXIST") == 1);
    CHECK(count(result, "mkdir") == 2);
    CHECK(errors(result, "rmdir", "EBUSY") == 1);
    CHECK(count(result, "rmdir") == 1);
    CHECK(count(result, "create") == 3);
    CHECK(count(result, "stat") == 3);
    for (const char *op : {"rename", "lookup", "write", "unlink", "readdir"})
        CHECK(count(result, op) == 1);
    CHECK(errors(result, "read", "ENOENT") ==
          1); // it was closed when it lost its name, however its directory was named
}

TEST_CASE("a name that is too long is refused by every operation in the same words")
{
    const std::string name = std::string(256, 'n');
    for (const std::string op : {"create", "lookup", "stat", "unlink", "read", "write", "truncate"}) {
        INFO(op);
        const RunResult result =
            run_steps(R"({"op": ")" + op + R"(", "name": ")" + name + "\"" +
                      (op == "read" || op == "write" || op == "truncate" ? R"(, "size": 1})" : "}"));
        CHECK(errors(result, op, "ENAMETOOLONG") == 1);
    }
    CHECK(errors(run_steps(R"({"op": "rename", "name": ")" + name + R"(", "to": "a"})"), "rename", "ENAMETOOLONG") ==
          1);
    CHECK(errors(run_steps(R"({"op": "mkdir", "dir": ")" + name + R"("})"), "mkdir", "ENAMETOOLONG") == 1);
    CHECK(errors(run_steps(R"({"op": "readdir", "dir": ")" + name + R"("})"), "readdir", "ENAMETOOLONG") == 1);
    CHECK(errors(run_steps(R"({"op": "read", "name": ".", "size": 1})"), "read", "EISDIR") == 1);
}

TEST_CASE("what an allocation calls is counted whoever allocates, and in the measured part only")
{
    const std::string text = R"({"name": "t", "code": {"era": "zol-2016-05"}, "setup": [{"op": "create", "name": "s"}],
        "warmup": {"op": "create", "count": 20}, "workload": [{"name": "g", "threads": 2, "steps": [{"repeat": 50, "shared": true,
        "steps": [{"op": "create", "name": "f{n}"}]}, {"op": "mkdir", "dir": "d{thread}"}, {"op": "zap_create", "zap": "z{thread}"}, {"op": "alloc"}]}]})";
    for (const char *path : {"zpl", "dmu"}) {
        const RunResult result = run_text(text, {std::string("code.create_path=") + path});
        CHECK(result.ending == "");
        const auto sum = [&](const char *name) {
            uint64_t calls = 0;
            for (const HistogramResult &one : result.histograms)
                if (one.name == name)
                    for (const HistogramRow &row : one.rows)
                        calls += row.count;
            return calls;
        };
        // 30 creates are left after the warmup, and one may have been on its way when it was over.
        CHECK(sum("dnode_hold_impl per dmu_object_alloc") >= 36);
        CHECK(sum("dnode_hold_impl per dmu_object_alloc") <= 37);
        CHECK(sum("dnode_next_offset per dmu_object_alloc") == sum("dnode_hold_impl per dmu_object_alloc"));
    }
    CHECK(rows(run_steps(
                   R"({"op": "zap_create", "zap": "z"}, {"op": "alloc", "count": 3}, {"op": "create", "name": "f"})"),
               "dnode_hold_impl per dmu_object_alloc") == "2:5");
}

TEST_CASE("every era works with each of the dbuf cache and arc_buf_access on and off")
{
    const std::string steps =
        R"({"op": "mkdir", "dir": "d{thread}"}, {"op": "zap_create", "zap": "z{thread}"},
        {"repeat": 30, "steps": [{"op": "create", "dir": "d{thread}", "name": "f{i}"},
            {"op": "write", "dir": "d{thread}", "name": "f{i}", "size": "200K"}, {"op": "create", "name": "f{thread}-{i}"},
            {"op": "read", "dir": "d{thread}", "name": "f{rand:0..9}", "offset": "8K", "size": "8K"}, {"op": "alloc"},
            {"op": "zap_add", "zap": "z{thread}", "name": "n{i}", "value": 1}, {"op": "free", "which": "random", "count": 1},
            {"choose": [{"weight": 4, "steps": []}, {"weight": 1, "steps": [{"op": "sync"}]},
                        {"weight": 1, "steps": [{"op": "evict"}]},
                        {"weight": 1, "steps": [{"op": "unlink", "dir": "d{thread}", "name": "f{i}"}]},
                        {"weight": 1, "steps": [{"op": "truncate", "dir": "d{thread}", "name": "f{i}", "size": "4K"}]}]}]},
        {"op": "sync"})";
    for (const dmu::era_t &era : dmu::eras())
        for (const char *access : {"false", "true"})
            for (const char *cache : {"false", "true"})
                for (const char *memory : {"16M", "1G"}) {
                    CAPTURE(std::string(era.name));
                    CAPTURE(std::string(access));
                    CAPTURE(std::string(cache));
                    const RunResult result =
                        run_steps(steps, 3,
                                  {"code.era=" + std::string(era.name), std::string("code.arc_buf_access=") + access,
                                   std::string("code.dbuf_cache=") + cache, std::string("pool.arc_max=") + memory,
                                   "dataset.recordsize=8K"});
                    CHECK(result.ending == "");
                    CHECK(result.end == End::completed);
                    CHECK(count(result, "create") == 180);
                    CHECK(count(result, "zap_add") == 90);
                }
}
