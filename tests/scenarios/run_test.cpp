// The interpreter does what the script says, counts what it did, and ends when it should.
#include "tests/scenarios/run_fixture.h"

#include <doctest/doctest.h>

using namespace scenarios;
using namespace scenarios_test;

TEST_CASE("each object of an alloc is one operation, and objects are recorded in the order handed out")
{
    const RunResult result = run_steps(R"({"op": "alloc", "count": 100})");
    CHECK(result.end == End::completed);
    CHECK(result.complete);
    CHECK(count(result, "alloc") == 100);
    CHECK(objects(result) == "1..100/1");
    CHECK(result.allocator.objects_in_use == 100);
    CHECK(result.counters.at("dmu_object_alloc") == 100);
    CHECK(rows(result, "dnode_hold_impl per dmu_object_alloc") == "2:100");
    CHECK(result.simulated_ps > 0);
}

TEST_CASE("calls grow as the exact law says when everything is allocated in one txg")
{
    // B = 3 boundaries after the first: 4096 * B(B+1)/2 visits, (B+1)(B+2)/2 searches, two holds an allocation.
    const RunResult result = run_text(open_scenario("alloc-one-txg").root.dump(), {"params.objects=16384"});
    CHECK(result.counters.at("dnode_next_offset") == 24576 + 10);
    CHECK(result.counters.at("dnode_hold_impl") == 2 * 16384 + 24576);
    const RunResult rescan =
        run_text(open_scenario("alloc-one-txg").root.dump(), {"params.objects=16384", "code.object_alloc=rescan"});
    CHECK(rescan.counters.at("dnode_next_offset") == 4);
    CHECK(rescan.counters.at("dnode_hold_impl") == 2 * 16384);
}

TEST_CASE("setup takes no simulated time and is not counted")
{
    const RunResult result = run_text(
        R"({"setup": [{"op": "alloc", "count": 50}], "record": ["objects"], "workload": [{"steps": [{"op": "alloc", "count": 3}]}]})");
    const RunResult alone = run_text(R"({"workload": [{"steps": [{"op": "alloc", "count": 3}]}]})");
    CHECK(count(result, "alloc") == 3);
    CHECK(objects(result) == "51..53/1");
    CHECK(result.allocator.objects_in_use == 53);
    CHECK(result.counters.at("dmu_object_alloc") == 3);
    CHECK(result.simulated_ps < 2 * alone.simulated_ps);
}

TEST_CASE("frees choose among the live objects, listed ones are taken as they stand")
{
    const RunResult result = run_steps(R"({"op": "alloc", "count": 20}, {"op": "free", "which": "every", "stride": 5},
        {"op": "free", "which": "first", "count": 2}, {"op": "free", "objects": [1, [10, 8, -2]]}, {"op": "sync"})");
    CHECK(result.end == End::completed);
    CHECK(count(result, "free") == 4 + 2 + 2);    // 1 is gone already
    CHECK(errors(result, "free", "EEXIST") == 1); // freed in a txg that has not synced
    CHECK(result.allocator.objects_in_use == 12);
}

TEST_CASE("what is refused is counted by errno, and ends the run only where it must succeed")
{
    const RunResult counted = run_steps(R"({"op": "free", "objects": [5]}, {"op": "alloc"})");
    CHECK(counted.end == End::completed);
    CHECK(errors(counted, "free", "ENOENT") == 1);
    CHECK(count(counted, "alloc") == 1);

    const RunResult refused = run_steps(R"({"op": "free", "objects": [5], "must": true}, {"op": "alloc"})");
    CHECK(refused.end == End::refused);
    CHECK(refused.ending == "workload.0.steps.0: refused with ENOENT, although it must succeed");
    CHECK(count(refused, "alloc") == 0);
}

TEST_CASE("the threads of a group share the rounds of a shared repeat, and do all of the others")
{
    const RunResult result = run_steps(
        R"({"repeat": 10, "shared": true, "steps": [{"op": "alloc"}]}, {"repeat": 2, "steps": [{"op": "sync"}]})", 4);
    CHECK(count(result, "alloc") == 10);
    CHECK(count(result, "sync") == 8);
}

TEST_CASE("a shared repeat inside a repeat begins anew each time")
{
    const RunResult result = run_steps(
        R"({"repeat": 3, "steps": [{"repeat": 5, "shared": true, "steps": [{"op": "alloc"}]}, {"barrier": "b"}]})", 2);
    CHECK(count(result, "alloc") == 15);
}

TEST_CASE("nobody passes a barrier before everybody has come, and those who have left are not waited for")
{
    const RunResult result = run_text(R"({"workload": [
        {"name": "slow", "steps": [{"think": "50us"}, {"barrier": "b"}, {"op": "alloc"}]},
        {"name": "fast", "steps": [{"barrier": "b"}, {"op": "alloc"}, {"barrier": "b"}]}]})");
    CHECK(result.end == End::completed);
    CHECK(count(result, "alloc") == 2);
    CHECK(result.simulated_ps > 50'000'000);
}

TEST_CASE("a repeat for a time begins no round after it, an open-loop one keeps its distance")
{
    const RunResult closed = run_steps(R"({"for": "100us", "steps": [{"sleep": "10us"}, {"op": "alloc"}]})");
    CHECK(count(closed, "alloc") >= 6);
    CHECK(count(closed, "alloc") <= 9);
    const RunResult open = run_steps(R"({"repeat": 5, "every": "1ms", "steps": [{"op": "alloc"}]})");
    CHECK(count(open, "alloc") == 5);
    CHECK(open.simulated_ps > 4'000'000'000);
    CHECK(open.simulated_ps < 4'100'000'000);
}

TEST_CASE("no operation begins after the stop time, and the measured part ends when the last one has ended")
{
    const RunResult result = run_text(
        R"({"stop": {"simulated": "1ms"}, "workload": [{"threads": 2, "steps": [{"op": "alloc", "count": 1000000}]}]})");
    CHECK(result.end == End::completed);
    CHECK(result.simulated_ps >= 1'000'000'000);
    CHECK(result.simulated_ps < 1'100'000'000);
    CHECK(count(result, "alloc") > 100);
}

TEST_CASE("a warmup is run but not counted")
{
    const RunResult by_count =
        run_steps(R"({"op": "alloc", "count": 100})", 1, {"warmup={\"op\": \"alloc\", \"count\": 40}"});
    CHECK(count(by_count, "alloc") == 60);
    CHECK(by_count.allocator.objects_in_use == 100);
    CHECK(by_count.counters.at("dmu_object_alloc") == 60);
    const RunResult by_time =
        run_steps(R"({"repeat": 10, "every": "1ms", "steps": [{"op": "alloc"}]})", 1, {"warmup=4500us"});
    CHECK(count(by_time, "alloc") == 5);
}

TEST_CASE("a warmup that the workload does not outlast leaves nothing to count, and that is told")
{
    const std::string steps = R"({"repeat": 50, "steps": [{"op": "create", "name": "{thread}.{i}"}]})";
    for (const auto &[warmup, told] :
         {std::pair{"warmup=5s", "warmup (5s)"},
          std::pair{R"(warmup={"op": "create", "count": 99999})", "warmup (\"create\" 99999 times)"},
          std::pair{R"(stop={"simulated": "1us"})", ""}}) {
        INFO(warmup);
        const bool stopped = *told == 0; // and what is stopped at once is
        const RunResult result = run_steps(
            steps, 2, stopped ? std::vector<std::string>{"warmup=1s", warmup} : std::vector<std::string>{warmup});
        CHECK(result.end == End::completed);
        CHECK(result.complete);
        CHECK(result.simulated_ps == 0);
        CHECK(count(result, "create") == 0);
        for (const auto &[name, value] : result.counters) {
            INFO(name);
            if (!name.starts_with("hash_")) // levels, and what the check at the end looks up
                CHECK(value == 0);
        }
        CHECK(result.allocator.objects_in_use >= (stopped ? 0u : 100u));
        REQUIRE(result.warnings.size() == 1);
        CHECK(result.warnings[0] ==
              "the workload ended before its " + std::string(stopped ? "warmup (1s)" : told) + ": nothing is counted");
    }
    const RunResult stuck = run_text(open_scenario("two-locks-deadlock").root.dump(), {"warmup=5s"});
    CHECK(stuck.end == End::deadlock);
    REQUIRE(stuck.warnings.size() == 1);
    CHECK(stuck.warnings[0] == "the run ended within its warmup (5s), which is what is counted");
}

TEST_CASE("a transaction that is held keeps its txg from syncing while the next one runs")
{
    const RunResult result = run_steps(R"({"op": "hold_tx"}, {"op": "alloc", "count": 5}, {"op": "quiesce"},
        {"op": "alloc", "count": 7}, {"op": "release_tx"}, {"op": "sync"})");
    CHECK(result.end == End::completed);
    REQUIRE(result.txgs.size() >= 2);
    CHECK(result.txgs[0].allocated == 5);
    CHECK(result.txgs[1].allocated == 7);
    CHECK(errors(run_steps(R"({"op": "release_tx"})"), "release_tx", "ENOENT") == 1);
    CHECK(errors(run_steps(R"({"op": "hold_tx"}, {"op": "hold_tx"})"), "hold_tx", "EBUSY") == 1);
    CHECK(errors(run_steps(R"({"op": "hold_tx"}, {"op": "reopen"})"), "reopen", "EBUSY") == 1);
}

TEST_CASE("two threads that take two locks in opposite order end in a ring that names both")
{
    const RunResult result = run_text(open_scenario("two-locks-deadlock").root.dump());
    CHECK(result.end == End::deadlock);
    CHECK_FALSE(result.complete);
    for (const char *part : {"forward-0", "backward-0", "script_lock of a", "script_lock of b"})
        CHECK(result.ending.find(part) != std::string::npos);
}

TEST_CASE("a lock that is one's own already, or not, is refused")
{
    const RunResult result =
        run_steps(R"({"op": "lock", "name": "a"}, {"op": "lock", "name": "a"}, {"op": "unlock", "name": "a"},
        {"op": "unlock", "name": "a"})");
    CHECK(errors(result, "lock", "EDEADLK") == 1);
    CHECK(errors(result, "unlock", "EPERM") == 1);
}

TEST_CASE("an object of a far number takes no memory for those before it")
{
    const RunResult result =
        run_steps(R"({"op": "claim", "objects": [1000000000000, 281474976710624]}, {"op": "sync"})");
    CHECK(result.end == End::completed);
    CHECK(count(result, "claim") == 2);
    const AllocatorResult &allocator = result.allocator;
    CHECK(allocator.dnode_blocks_in_use == 2);
    CHECK(allocator.highest_block == 281474976710624 / 32);
    CHECK(allocator.holes == allocator.highest_block + 1 - 2);
    const FillLevel &level0 = allocator.fills.back();
    REQUIRE(level0.fills.size() == 4);
    CHECK(level0.fills[0] == std::pair<uint64_t, uint64_t>{0, 1000000000000 / 32});
    CHECK(level0.fills[1] == std::pair<uint64_t, uint64_t>{1, 1});
    CHECK(level0.fills[3] == std::pair<uint64_t, uint64_t>{1, 1});
    CHECK(level0.fills[0].second + level0.fills[2].second == allocator.holes);
}

TEST_CASE("waiting until a counter has reached a value")
{
    const RunResult result = run_text(R"({"record": ["objects"], "workload": [
        {"name": "waits", "steps": [{"wait_until": {"counter": "ops.alloc", "at_least": 10, "poll": "1us"}}, {"op": "sync"}]},
        {"name": "works", "steps": [{"repeat": 20, "steps": [{"op": "alloc"}, {"think": "5us"}]}]}]})");
    CHECK(result.end == End::completed);
    CHECK(count(result, "sync") == 1);
    CHECK_THROWS_AS(run_steps(R"({"wait_until": {"counter": "ops.aloc", "at_least": 1}})"), InputError);
}

TEST_CASE("a script that goes round and round while time stands still is a livelock")
{
    for (const char *steps :
         {R"({"repeat": 1000000000, "steps": [{"think": "0s"}]})", R"({"repeat": 1000000000000, "steps": []})",
          R"({"for": "10ms", "steps": [{"sleep": "{rand:0..0}ns"}]})",
          R"({"for": "10ms", "steps": [{"choose": [{"weight": 1, "steps": [{"think": "{rand:0..0}ns"}]}]}]})"}) {
        INFO(steps);
        const RunResult result = run_steps(steps, 2);
        CHECK(result.end == End::livelock);
        CHECK(result.ending.starts_with("no simulated time passes: thread g-"));
        CHECK(result.ending.find(" is at workload.0.steps.0") != std::string::npos);
    }
    // The setup takes no time, and may be long; but there is an end to it.
    const RunResult setup = run_text(
        R"({"setup": [{"for": "1s", "steps": [{"op": "unlock", "name": "none"}]}], "workload": [{"steps": []}]})");
    CHECK(setup.end == End::livelock);
    CHECK(setup.ending.find("thread operator is at setup.0") != std::string::npos);
    CHECK(
        run_text(
            R"({"setup": [{"repeat": 25000000, "steps": [{"think": "0s"}]}], "workload": [{"steps": [{"op": "sync"}]}]})")
            .end == End::completed);
}

TEST_CASE("a wait that is never satisfied is a livelock that names it, however long one is patient")
{
    for (const char *patience : {"100ms", "700s", "4000s"}) {
        INFO(patience);
        const RunResult result = run_text(R"({"workload": [
            {"name": "waits", "steps": [{"wait_until": {"counter": "ops.alloc", "at_least": 2, "poll": "10ms"}}]},
            {"name": "works", "steps": [{"sleep": "20ms"}, {"op": "alloc"}]}]})",
                                          {"stop.patience=" + std::string(patience)});
        CHECK(result.end == End::livelock);
        CHECK(result.ending.find("thread waits-0 in (outside of any function)\n    waits for the counter ops.alloc, "
                                 "which is 1 and not at least 2 (workload.0.steps.0)") != std::string::npos);
    }
}

TEST_CASE("who sleeps because the script says so gets somewhere, however little patience there is")
{
    for (const char *steps :
         {R"({"sleep": "10s"})", R"({"think": "10s"})", R"({"repeat": 2, "every": "10s", "steps": []})"})
        CHECK(run_steps(steps, 1, {"stop.patience=1s"}).end == End::completed);
    const RunResult late = run_steps(R"({"op": "alloc"})", 1, {"stop.patience=1s", "workload.0.start=10s"});
    CHECK(late.end == End::completed);
    CHECK(run_steps(R"({"repeat": 2, "steps": [{"sleep": "4000s"}]})").end == End::completed);
}

TEST_CASE("simulated time runs out, which is a limit of the simulator's")
{
    const RunResult busy = run_steps(R"({"repeat": 5, "steps": [{"think": "4000s"}]})");
    CHECK(busy.end == End::limit);
    CHECK(busy.ending ==
          "simulated time ran out: the run has come to its end, and a simulation goes on for 9007 s at most");
    const RunResult asleep = run_steps(R"({"repeat": 5, "steps": [{"sleep": "4000s"}]})");
    CHECK(asleep.end == End::limit);
    CHECK(asleep.ending.starts_with("simulated time ran out: thread g-0 would sleep for 4000 s"));
    const RunResult slow =
        run_steps(R"({"repeat": 300, "steps": [{"op": "create", "name": "{thread}.{i}"}]}, {"op": "sync"})", 3,
                  {"pool.disk.bandwidth=1"});
    CHECK(slow.end == End::limit);
    CHECK(slow.ending.starts_with("simulated time ran out: thread z_wr_int would sleep for "));
}

TEST_CASE("alternatives are drawn by weight from the thread's own stream")
{
    const RunResult result = run_steps(
        R"({"repeat": 400, "steps": [{"choose": [{"weight": 3, "steps": [{"op": "alloc"}]}, {"steps": [{"op": "next_offset"}]}, {"weight": 0, "steps": [{"op": "sync"}]}]}]})");
    CHECK(count(result, "alloc") > 250);
    CHECK(count(result, "alloc") < 350);
    CHECK(count(result, "sync") == 0);
}

TEST_CASE("the objset can be closed and opened again, alone, while others work")
{
    const RunResult result = run_steps(
        R"({"repeat": 50, "steps": [{"op": "alloc"}]}, {"repeat": 1, "shared": true, "steps": [{"op": "reopen"}]},
        {"repeat": 50, "steps": [{"op": "alloc"}]}, {"op": "evict"}, {"op": "sync"})",
        4);
    CHECK(result.end == End::completed);
    CHECK(count(result, "alloc") == 400);
    CHECK(count(result, "reopen") == 1);
    CHECK(result.allocator.objects_in_use == 400);
}

TEST_CASE("a number that leaves its bounds in some round is the user's mistake")
{
    CHECK_THROWS_WITH_AS(run_steps(R"({"repeat": 3, "steps": [{"op": "alloc", "count": "1 - {i}"}]})"),
                         "t: workload.0.steps.0.steps.0: \"1 - {i}\" is -1 here; allowed is 0 to 1000000000000",
                         InputError);
}

TEST_CASE("the parts of every operation's time add up to its latency")
{
    const RunResult result = run_steps(R"({"op": "alloc", "count": 200})", 8, {"machine.cpus=2"});
    const GroupResult &group = result.groups.at(0);
    const TimeParts &parts = group.parts;
    CHECK(parts.running + parts.spinning + parts.blocked + parts.cpu_wait + parts.txg_wait + parts.disk <=
          8 * result.simulated_ps);
    CHECK(parts.running > 0);
}

TEST_CASE("the same scenario gives the same digest, another seed of a random script another one")
{
    const std::string steps = R"({"repeat": 20, "steps": [{"think": "{rand:1..1000}ns"}, {"op": "alloc"}]})";
    const RunResult first = run_steps(steps, 4), again = run_steps(steps, 4), other = run_steps(steps, 4, {"seed=2"});
    CHECK(first.digest == again.digest);
    CHECK(first.simulated_ps == again.simulated_ps);
    CHECK(first.digest != other.digest);
}

TEST_CASE("a number that is out of bounds in some round ends the run as a mistake of the user, at the step")
{
    const auto refused = [](const std::string &step) {
        try {
            run_steps(R"({"op": "mkdir", "dir": "d"}, {"repeat": 3, "steps": [)" + step + "]}");
        } catch (const InputError &error) {
            return error.path;
        }
        return std::string("not refused");
    };
    const std::string at = "workload.0.steps.1.steps.0";
    CHECK(refused(R"({"op": "create", "dir": "d", "name": "f{i}", "owner": "1 - {i}"})") == at);
    CHECK(refused(R"({"op": "create", "dir": "d", "name": "f{i}", "group": "1 - {i}"})") == at);
    CHECK(refused(R"({"op": "alloc", "count": "1 - {i}"})") == at);
    const std::string in_file = "workload.0.steps.1.steps.1";
    const std::string create = R"({"op": "create", "dir": "d", "name": "f{i}"},)";
    CHECK(refused(create + R"({"op": "write", "dir": "d", "name": "f{i}", "size": "2 - {i}"})") == in_file);
    CHECK(refused(create + R"({"op": "write", "dir": "d", "name": "f{i}", "size": 8, "offset": "1 - {i}"})") ==
          in_file);
}

TEST_CASE("an integer that does not fit its size in some round is the user's mistake")
{
    const std::string add = R"({"op": "zap_create", "zap": "z"}, {"repeat": 257, "steps": [)"
                            R"({"op": "zap_add", "zap": "z", "name": "{i}", "value": "{i}", "integer_size": )";
    CHECK_THROWS_WITH_AS(
        run_steps(add + "1}]}"),
        "t: workload.0.steps.1.steps.0: comes to the value 256 here; an integer of integer_size 1 is at "
        "most 255",
        InputError);
    CHECK(count(run_steps(add + "2}]}"), "zap_add") == 257);
}

TEST_CASE("a number that is out of bounds in the setup is told, too")
{
    CHECK_THROWS_AS(
        run_text(R"({"setup": [{"repeat": 3, "steps": [{"op": "create", "name": "f{i}", "owner": "1 - {i}"}]}],
                                 "workload": [{"steps": [{"op": "sync"}]}]})"),
        InputError);
}

TEST_CASE("object operations leave alone what the file system and ZAPs believe to know")
{
    const RunResult result = run_steps(
        R"({"op": "mkdir", "dir": "d"}, {"op": "create", "name": "f"}, {"op": "zap_create", "zap": "z"}, {"op": "sync"},
        {"op": "object_write", "objects": [[1, 9, 1]], "offset": 0, "size": 9000}, {"op": "object_update", "objects": [[1, 9, 1]]},
        {"op": "free", "objects": [[1, 9, 1]]}, {"op": "object_read", "objects": [[1, 9, 1]], "offset": 0, "size": 512},
        {"repeat": 40, "steps": [{"op": "create", "dir": "d", "name": "f{i}"}, {"op": "zap_add", "zap": "z", "name": "n{i}", "value": 1}]},
        {"op": "unlink", "name": "f"}, {"op": "alloc"}, {"op": "sync"})");
    CHECK(result.ending == "");
    for (const char *op : {"object_write", "object_update", "free"}) {
        INFO(op);
        CHECK(errors(result, op, "EPERM") == 9);
        CHECK(count(result, op) == 0);
    }
    CHECK(count(result, "object_read") == 9);
    CHECK(count(result, "create") == 41);
    CHECK(count(result, "zap_add") == 40);
}

TEST_CASE("an object may be written and freed by its number at the moment in which it is made")
{
    // Numbers come round in every txg; most tries meet none, some one that its maker has not handed out yet.
    for (const char *era : {"illumos-2016", "zol-2017", "head"})
        for (const char *seed : {"1", "2", "3"}) {
            const RunResult result = run_text(
                R"({"name": "t", "machine": {"cpus": 3}, "pool": {"txg_timeout": "1ms", "dirty_data_max": "2M"},
                "setup": [{"op": "mkdir", "dir": "d"}], "workload": [{"name": "g", "threads": 6, "steps": [{"repeat": 60, "steps": [
                {"choose": [{"weight": 1, "steps": [{"op": "sync"}]}, {"weight": 3, "steps": []}]}, {"op": "alloc"},
                {"op": "object_write", "objects": [[7, 40, 1]], "offset": 0, "size": 9000}, {"op": "create", "dir": "d", "name": "f{i}"},
                {"op": "free", "objects": [[8, 38, 3]]}, {"op": "unlink", "dir": "d", "name": "f{i}"}, {"op": "object_update", "objects": [[8, 38, 5]]}]},
                {"op": "sync"}]}]})",
                {std::string("code.era=") + era, std::string("seed=") + seed});
            CHECK(result.ending == "");
            CHECK(result.end == End::completed);
            CHECK(count(result, "object_write") > 0);
            CHECK(errors(result, "object_write", "EPERM") > 0);
        }
}
