// The mechanisms of the public reports, each in its broken and its mended form, small enough to say exactly what
// happens.
#include "tests/scenarios/run_fixture.h"

#include <doctest/doctest.h>

using namespace scenarios;
using namespace scenarios_test;

namespace {

RunResult built_in(const std::string &name, const std::vector<std::string> &sets)
{
    return run_text(open_scenario(name).root.dump(), sets);
}

const LockResult *lock_of(const RunResult &result, const std::string &lock_class)
{
    for (const LockResult &lock : result.locks)
        if (lock.lock_class == lock_class)
            return &lock;
    return nullptr;
}

const std::vector<std::string> slots_by_handle = {"code.era=zol-2019"};

} // namespace

TEST_CASE("a large dnode has all its slots: nobody begins inside it, before it into it, or across its block's end")
{
    // Once in memory, once as read from disk.
    for (const char *between : {R"({ "op": "sync" })", R"({ "op": "reopen" })"}) {
        CAPTURE(std::string(between));
        const RunResult result = run_steps(std::string(R"(
          { "op": "claim", "objects": [ 66 ], "slots": 3, "must": true },
          )") + between + R"(,
          { "op": "claim", "objects": [ 66, 67, 68 ] },
          { "op": "claim", "objects": [ 65 ], "slots": 2 },
          { "op": "claim", "objects": [ 95 ], "slots": 2 },
          { "op": "hold", "objects": [ 66, 67, 68, 69 ] },
          { "op": "claim", "objects": [ 69 ], "slots": 27, "must": true },
          { "op": "claim", "objects": [ 64 ], "slots": 2, "must": true },
          { "op": "claim", "objects": [ 96 ], "slots": 32, "must": true })",
                                           1, slots_by_handle);
        CAPTURE(result.ending);
        REQUIRE(result.end == End::completed);
        CHECK(count(result, "claim") == 4);
        CHECK(errors(result, "claim", "ENOSPC") == 5);
        CHECK(count(result, "hold") == 1); // 66 alone
        CHECK(result.allocator.objects_in_use == 4);
    }
}

TEST_CASE("the slots of a freed large dnode can be had again, one by one, and as a larger one")
{
    const RunResult result = run_steps(R"(
      { "op": "claim", "objects": [ 64 ], "slots": 4, "must": true }, { "op": "sync" },
      { "op": "free", "objects": [ 64 ], "must": true }, { "op": "claim", "objects": [ 65 ] }, { "op": "sync" },
      { "op": "claim", "objects": [ 64, 65, 66, 67 ], "must": true }, { "op": "sync" },
      { "op": "free", "objects": [ 64, 65, 66, 67 ], "must": true }, { "op": "sync" },
      { "op": "claim", "objects": [ 64 ], "slots": 32, "must": true }, { "op": "reopen" },
      { "op": "free", "objects": [ 64 ], "must": true }, { "op": "sync" })",
                                       1, slots_by_handle);
    CAPTURE(result.ending);
    REQUIRE(result.end == End::completed);
    CHECK(errors(result, "claim", "ENOSPC") == 1); // freed, but not in a synced txg
    CHECK(result.allocator.objects_in_use == 0);
}

TEST_CASE("allocated dnodes of several slots lie one behind the other, waste less than one at a chunk's end, and are "
          "passed over")
{
    // A chunk of 128 slots: 42 dnodes of 3 and two slots that are left; none across the end of a block of 32.
    const RunResult result = run_steps(R"({ "op": "alloc", "count": 40, "slots": 3 }, { "op": "sync" })", 1,
                                       {"code.era=zol-2019", "machine.cpus=1", "machine.cpus_per_socket=1"});
    REQUIRE(result.end == End::completed);
    uint64_t last = 0, made = 0;
    for (const ObjectRun &run : result.allocator.objects)
        for (uint64_t object = run.first;; object += static_cast<uint64_t>(run.stride)) {
            CHECK(object % 32 + 3 <= 32);
            if (last != 0)
                CHECK(object >= last + 3);
            last = object;
            ++made;
            if (object == run.last)
                break;
        }
    CHECK(made == 40);
    // Ten to a block: 30 slots of 32.
    CHECK(result.allocator.dnode_blocks_in_use == 4);
}

TEST_CASE("what the code base cannot do with slots is an input error")
{
    CHECK_THROWS_AS(run_steps(R"({ "op": "alloc", "slots": 2 })", 1, {"code.era=zol-2016-08"}), InputError);
    CHECK_THROWS_AS(run_steps(R"({ "op": "alloc", "slots": 33 })", 1, slots_by_handle), InputError);
}

TEST_CASE("lock first and assign then closes a ring through the txg; assign first does not")
{
    const RunResult broken = built_in("structure-lock-deadlock", {});
    CHECK(broken.end == End::deadlock);
    CHECK(broken.ending.find("dn_struct_rwlock of object 1000") != std::string::npos);
    CHECK(broken.ending.find("claimed by a transaction of txg") != std::string::npos);
    CHECK(broken.ending.find("service-") != std::string::npos);
    const RunResult mended = built_in("structure-lock-deadlock", {"code.assign_order=assign-first"});
    CAPTURE(mended.ending);
    CHECK(mended.end == End::completed);
}

TEST_CASE("empty sibling leaves collapse until one is left, where that is chosen")
{
    const std::vector<std::string> small = {"params.files=3000"};
    const RunResult shrunk = built_in("zap-shrink", small);
    CAPTURE(shrunk.ending);
    REQUIRE(shrunk.end == End::completed);
    CHECK(shrunk.kstats.at("zap").at("d.zs_num_leafs") == 1);
    CHECK(shrunk.counters.at("zap_leaf_lookup_closest") == 1);
    const RunResult kept = built_in("zap-shrink", {"params.files=3000", "code.zap_shrink=false"});
    REQUIRE(kept.end == End::completed);
    CHECK(kept.kstats.at("zap").at("d.zs_num_leafs") == 16);
}

TEST_CASE("a ZAP that shrinks and grows again at random keeps what it should, under eviction and by many threads")
{
    const RunResult result = run_steps(
        R"(
      { "repeat": 1500, "steps": [ { "choose": [
        { "weight": 5, "steps": [ { "op": "create", "dir": "d", "name": "f{rand:0..900}" } ] },
        { "weight": 5, "steps": [ { "op": "unlink", "dir": "d", "name": "f{rand:0..900}" } ] },
        { "weight": 1, "steps": [ { "op": "lookup", "dir": "d", "name": "f{rand:0..900}" } ] },
        { "weight": 1, "steps": [ { "op": "evict" } ] } ] } ] })",
        4,
        {"code.era=head",
         R"(setup=[{"op":"mkdir","dir":"d"},{"repeat":2500,"steps":[{"op":"create","dir":"d","name":"g{i:06}"}]},{"repeat":2500,"steps":[{"op":"unlink","dir":"d","name":"g{i:06}"}]}])"});
    CAPTURE(result.ending);
    CHECK(result.end == End::completed);
    CHECK(count(result, "create") > 500);
}

TEST_CASE("one dirty dnode is one task of sync, or one a list")
{
    CHECK(built_in("sync-tasks", {}).counters.at("taskq_dispatch") == 1);
    CHECK(built_in("sync-tasks", {"code.sync_dispatch=every-sublist"}).counters.at("taskq_dispatch") == 72);
    // About 72 (1 - (71/72)^50) = 36 of the lists have a dnode.
    const uint64_t fifty = built_in("sync-tasks", {"params.dirty=50"}).counters.at("taskq_dispatch");
    CHECK(fifty >= 32);
    CHECK(fifty <= 40);
}

TEST_CASE("user accounting takes two ZAP increments a file, or two an owner however they take turns, and never more")
{
    const auto increments = [](uint64_t owners, const std::string &form) {
        const RunResult result =
            built_in("user-accounting", {"params.files=512", "params.threads=4", "code.user_accounting=" + form,
                                         "params.owners=" + std::to_string(owners)});
        CAPTURE(result.ending);
        REQUIRE(result.end == End::completed);
        REQUIRE(result.txgs.size() == 1);
        CHECK((result.txgs[0].accounting_ps > 0) == (form != "off"));
        CHECK(result.txgs[0].accounting_ps < result.txgs[0].sync_ps);
        return result.counters.contains("zap_increment") ? result.counters.at("zap_increment") : 0;
    };
    // The directory, which is user 0's as some of the files are, has been accounted for: taken and given back.
    for (const uint64_t owners : {1, 2, 8, 64, 512}) {
        CAPTURE(owners);
        CHECK(increments(owners, "per-dnode") == 2 * 512 + 4);
        CHECK(increments(owners, "aggregated") == 2 * owners);
    }
    CHECK(increments(8, "off") == 0);
}

TEST_CASE("the accounting ZAPs become fat while they are synced, and say what the dnodes come to")
{
    for (const char *form : {"per-dnode", "aggregated"}) {
        const RunResult result = built_in("user-accounting", {"params.files=2500", "params.owners=2500",
                                                              "code.user_accounting=" + std::string(form)});
        CAPTURE(result.ending);
        CHECK(result.end == End::completed);
        CHECK(result.counters.at("mzap_upgrade") == 3); // the directory and both of them: a microzap has 2,047 entries
    }
}

TEST_CASE("objects that are no file system's are not accounted for")
{
    const RunResult result = run_steps(R"({ "op": "alloc", "count": 100 }, { "op": "sync" })");
    REQUIRE(result.end == End::completed);
    CHECK(!result.counters.contains("zap_increment"));
    CHECK(!result.counters.contains("dmu_objset_userquota_get_ids"));
}

TEST_CASE("a directory is its own owner's, and what it changes in another is that one's")
{
    struct expected_t {
        const char *form;
        uint64_t increments;
    };
    // Two new directories, and the root, of user and group 0, whose number of links changes: taken and given back.
    // Summed up, three users and three groups.
    for (const expected_t &expected : {expected_t{"per-dnode", 2 * 2 + 4}, expected_t{"aggregated", 3 + 3}}) {
        CAPTURE(std::string(expected.form));
        const RunResult result = run_steps(R"({ "op": "mkdir", "dir": "a", "owner": 1, "group": 1 },
                                              { "op": "mkdir", "dir": "b", "owner": 2, "group": 2 }, { "op": "sync" })",
                                           1, {"code.user_accounting=" + std::string(expected.form)});
        REQUIRE(result.end == End::completed);
        CHECK(result.counters.at("zap_increment") == expected.increments);
    }
}

TEST_CASE("owners are those of the step that makes a file or a directory, also after an import")
{
    // A run ends with a look whether the accounting ZAPs say what the dnodes come to.
    for (const char *form : {"per-dnode", "aggregated"}) {
        const RunResult result = run_steps(R"(
          { "op": "mkdir", "dir": "d", "owner": 5, "group": 7 },
          { "repeat": 20, "steps": [
            { "op": "create", "dir": "d", "name": "f{i}", "owner": "{i}", "group": "{rand:0..3}" },
            { "op": "write", "dir": "d", "name": "f{i}", "size": "{rand:1..400000}" } ] },
          { "op": "export_import" },
          { "repeat": 20, "steps": [
            { "op": "truncate", "dir": "d", "name": "f{i}", "size": "{rand:0..200000}" },
            { "op": "unlink", "dir": "d", "name": "f{rand:0..19}" } ] },
          { "op": "sync" })",
                                           1, {"code.user_accounting=" + std::string(form)});
        CAPTURE(result.ending);
        CHECK(result.end == End::completed);
        CHECK(result.counters.at("zap_increment") > 0);
        CHECK(result.counters.at("zap_remove") > 0);
    }
}

TEST_CASE("looking before locking takes the dirty list's lock once for a dnode and txg")
{
    const std::vector<std::string> small = {"params.files=600", "params.threads=4", "pool.txg_timeout=600s"};
    std::vector<std::string> cured = small;
    cured.emplace_back("code.dirty_check=before-lock");
    const RunResult under = built_in("dirty-list", small), before = built_in("dirty-list", cured);
    REQUIRE(lock_of(under, "os_dirty_lock") != nullptr);
    REQUIRE(lock_of(before, "os_dirty_lock") != nullptr);
    const uint64_t listed = lock_of(before, "os_dirty_lock")->acquisitions;
    CHECK(lock_of(under, "os_dirty_lock")->acquisitions > 2 * listed);
    CHECK(listed >= 600);     // a file's dnode
    CHECK(listed <= 600 + 8); // and the directories'
}

TEST_CASE("holds consult the meta-dnode's prefetcher, or never")
{
    const std::vector<std::string> small = {"params.files=500"};
    CHECK(lock_of(built_in("metadnode-prefetch", small), "zf_lock") != nullptr);
    CHECK(lock_of(built_in("metadnode-prefetch", {"params.files=500", "code.read_consults_prefetch=false"}),
                  "zf_lock") == nullptr);
}

TEST_CASE("who only tries for the prefetcher's lock never waits for it, and finds the same blocks")
{
    const RunResult waits = built_in("metadnode-prefetch", {"params.files=2000"});
    const RunResult tries = built_in("metadnode-prefetch", {"params.files=2000", "code.zfetch=try"});
    REQUIRE(lock_of(waits, "zf_lock") != nullptr);
    REQUIRE(lock_of(tries, "zf_lock") != nullptr);
    CHECK(lock_of(waits, "zf_lock")->contended > 0);
    CHECK(lock_of(tries, "zf_lock")->contended == 0);
    CHECK(lock_of(tries, "zf_lock")->acquisitions < lock_of(waits, "zf_lock")->acquisitions);
    CHECK(tries.kstats.at("arc").at("misses") == waits.kstats.at("arc").at("misses"));
}

TEST_CASE("a file that is read from its beginning comes as fast as the disk gives it, if it is read ahead")
{
    // A block of 128 KiB takes 122 us to transfer and 100 us of latency; read ahead, the latencies overlap.
    const std::vector<std::string> small = {"params.blocks=128"};
    std::vector<std::string> off = small;
    off.emplace_back("code.zfetch=off");
    const uint64_t ahead = built_in("prefetch-read", small).simulated_ps;
    const uint64_t one_by_one = built_in("prefetch-read", off).simulated_ps;
    const uint64_t blocks = 128, us = 1'000'000;
    CHECK(ahead > blocks * 122 * us);
    CHECK(ahead < blocks * 122 * us * 11 / 10);
    CHECK(one_by_one > blocks * 222 * us);
}

TEST_CASE("a fan of structure locks: a writer enters all of them")
{
    for (const uint64_t locks : {1, 4, 17}) {
        const RunResult result = built_in("struct-lock-fan-out", {"params.files=200", "params.threads=4",
                                                                  "code.struct_lock_fan_out=" + std::to_string(locks)});
        CHECK(result.end == End::completed);
        CHECK(lock_of(result, "dn_struct_rwlock") == nullptr);
        CHECK(result.counters.at("rrw_enter_write") == locks * result.counters.at("rrm_enter_write"));
    }
}

TEST_CASE("eviction beside threads that read, write, make and remove files leaves what they use alone")
{
    const char *text = R"({ "name": "evict-beside", "machine": { "profile": "xeon-2016", "cpus": 8 },
      "pool": { "txg_timeout": "2ms", "disk": { "latency": "20us" }, "dbuf_cache_max_bytes": "64K", "arc_max": "64M" },
      "dataset": { "recordsize": 512, "indirect_shift": 12 },
      "setup": [ { "op": "mkdir", "dir": "d" }, { "repeat": 6, "steps": [
        { "op": "create", "dir": "d", "name": "f{i}" }, { "op": "write", "dir": "d", "name": "f{i}", "size": "256K" } ] } ],
      "workload": [
        { "name": "user", "threads": 6, "steps": [ { "repeat": 200, "steps": [ { "choose": [
          { "weight": 2, "steps": [ { "op": "read", "dir": "d", "name": "f{rand:0..5}", "offset": "{rand:0..31} * 8K", "size": "32K" } ] },
          { "weight": 2, "steps": [ { "op": "write", "dir": "d", "name": "f{rand:0..5}", "offset": "{rand:0..31} * 8K", "size": "16K" } ] },
          { "weight": 1, "steps": [ { "op": "truncate", "dir": "d", "name": "f{rand:0..5}", "size": "{rand:0..64} * 4K" } ] },
          { "weight": 1, "steps": [ { "op": "stat", "dir": "d", "name": "f{rand:0..5}" } ] },
          { "weight": 1, "steps": [ { "op": "create", "dir": "d", "name": "g{thread}.{i}" } ] },
          { "weight": 1, "steps": [ { "op": "readdir", "dir": "d" } ] },
          { "weight": 1, "steps": [ { "op": "unlink", "dir": "d", "name": "g{thread}.{rand:0..60}" } ] },
          { "weight": 1, "steps": [ { "op": "alloc" } ] },
          { "weight": 1, "steps": [ { "op": "free", "which": "random", "count": 1 } ] } ] } ] } ] },
        { "name": "evicter", "threads": 2, "steps": [ { "repeat": 800, "steps": [ { "op": "evict" }, { "think": "20us" } ] } ] } ] })";
    for (const char *era : {"illumos-2016", "zol-2016-08", "zol-2017", "zol-2019"})
        for (const char *seed : {"1", "2", "4"}) {
            CAPTURE(std::string(era));
            CAPTURE(std::string(seed));
            const RunResult result = run_text(
                text, {std::string("code.era=") + era, std::string("seed=") + seed, std::string("schedule=") + seed});
            CHECK(result.ending == "");
            CHECK(result.end == End::completed);
        }
}

TEST_CASE("each planted fault is found by some schedule, which repeats it, and no schedule ends badly without one")
{
    const auto under = [](const std::string &fault, uint64_t schedule) {
        return built_in("planted-faults",
                        {"params.rounds=4", "code.fault=" + fault, "schedule=" + std::to_string(schedule)});
    };
    for (uint64_t schedule = 1; schedule <= 8; ++schedule) {
        const RunResult result = under("none", schedule);
        CAPTURE(result.ending);
        CHECK(result.end == End::completed);
    }
    const std::pair<const char *, End> faults[] = {{"overlapping-slots", End::invariant},
                                                   {"upgrade-order", End::deadlock},
                                                   {"lost-wakeup", End::lost_wakeup},
                                                   {"missing-hold", End::invariant}};
    for (const auto &[fault, end] : faults) {
        CAPTURE(std::string(fault));
        bool found = false;
        for (uint64_t schedule = 1; schedule <= 300 && !found; ++schedule) {
            const RunResult result = under(fault, schedule);
            if (result.end == End::completed)
                continue;
            // A txg that is synced too early may also leave somebody waiting for ever before the invariant is looked
            // at.
            found = result.end == end;
            CAPTURE(result.ending);
            CHECK((found || (std::string_view(fault) == "missing-hold" && result.end == End::deadlock)));
            CHECK(under(fault, schedule).ending == result.ending);
        }
        CHECK(found);
    }
}
