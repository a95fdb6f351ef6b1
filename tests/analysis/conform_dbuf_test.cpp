// Recorded holds and reads of cached files, replayed; and recordings that were tampered with, refused.
#include "analysis/conform_counts.h"
#include "tests/analysis/conform_fixture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

using namespace analysis;
using namespace conform_test;

namespace {

const std::filesystem::path data_root = std::filesystem::path(DMUSIM_SOURCE_ROOT) / "tests/data/dbuf";

// The trace with the value at that place altered must be refused.
void check_alteration(const Json &trace, const std::string &place)
{
    Json altered = trace;
    alter(altered.at(Json::json_pointer(place)));
    CHECK_MESSAGE(!verdict(altered).empty(), place << " was altered");
}

} // namespace

TEST_CASE("recorded depths, states and counts of cached reads come out field by field")
{
    std::vector<std::filesystem::path> paths;
    for (const auto &entry : std::filesystem::directory_iterator(data_root))
        paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    REQUIRE(paths.size() == 6);
    for (const auto &path : paths)
        CHECK_MESSAGE(verdict(trace_of(path)) == "", path.filename().string());
}

TEST_CASE("a recorded hold with any field altered is refused")
{
    for (const char *file : {"dbuf_depth_PREDBUF.json", "dbuf_depth_POSTDBUF.json"}) {
        Json trace = trace_of(data_root / file);
        // One of each shape: a block of its own, two levels, a hole, seven levels.
        Json kept = Json::array();
        for (const Json &one : trace["cases"])
            if (const uint64_t size = one["log2_size"];
                one["recordsize"] == 512 && (size == 9 || size == 11 || size == 20 || size == 62))
                kept.push_back(one);
        REQUIRE(kept.size() == 4);
        for (const Json &one : kept) {
            trace["cases"] = Json::array({one});
            REQUIRE(verdict(trace) == "");
            for (const char *name : {"nlevels", "nblkptr", "indblkshift", "blkid"})
                check_alteration(trace, std::string("/cases/0/") + name);
            for (const char *group : {"uncached", "cached", "hole_block0_uncached", "dmu_read_cached"}) {
                if (!one.contains(group))
                    continue;
                for (const auto &[name, value] : one[group].items())
                    check_alteration(trace, std::string("/cases/0/") + group + "/" + name);
            }
        }
    }
}

TEST_CASE("a recorded state with any field altered is refused")
{
    const Json trace = trace_of(data_root / "dbuf_states_POSTDBUF.json");
    for (size_t i = 0; i < trace["events"].size(); ++i) {
        const std::string place = "/events/" + std::to_string(i);
        for (const auto &[name, value] : trace["events"][i].items()) {
            if (name == "event" || name == "t_ms" || name == "level" || name == "blkid" || name == "b_arc_access_lbolt")
                continue;
            if (name == "dbuf") {
                Json altered = trace;
                altered["events"][i][name] = 1;
                CHECK_MESSAGE(!verdict(altered).empty(), place << " says that there is a dbuf");
                continue;
            }
            check_alteration(trace, place + "/" + name);
        }
    }
}

// The recorded time counts only where it differs from the one before, or is 0.
TEST_CASE("a recorded access whose time changed, or did not, the other way is refused")
{
    const Json trace = trace_of(data_root / "dbuf_states_PREDBUF.json");
    std::map<std::pair<int, int>, int64_t> last;
    size_t checked = 0;
    for (size_t i = 0; i < trace["events"].size(); ++i) {
        const Json &event = trace["events"][i];
        const std::pair<int, int> block(event["level"], event["blkid"]);
        if (!event.contains("b_arc_access_lbolt")) {
            last.erase(block);
            continue;
        }
        const int64_t now = event["b_arc_access_lbolt"];
        if (last.contains(block)) {
            Json altered = trace;
            altered["events"][i]["b_arc_access_lbolt"] = now == last[block] ? now + 1 : last[block];
            CHECK_MESSAGE(!verdict(altered).empty(), "event " << i);
            ++checked;
        }
        last[block] = now;
    }
    CHECK(checked > 30);
}

TEST_CASE("a recorded read, hold or release with any compared count altered is refused")
{
    for (const char *file : {"read_profile_PREDBUF.json", "read_profile_POSTDBUF.json"}) {
        Json trace = trace_of(data_root / file);
        // What the replay takes as an input stays as it is.
        const std::set<std::string> inputs = {"zf_lock@dmu_zfetch.c", "arc_change_state"};
        std::set<std::string> altered;
        const auto lock_of = [](const std::string &key) { return key.substr(0, key.find('@')); };
        const auto is_left_out = [](const std::string &name) {
            return std::any_of(left_out().begin(), left_out().end(),
                               [&](const LeftOut &row) { return name == row.name; });
        };
        for (size_t i = 0; i < trace["cases"].size(); ++i) {
            Json &profile = trace["cases"][i]["profile"];
            for (const char *group : {"fn", "mutex", "rw_r", "rw_w"})
                for (auto &[key, value] : profile[group].items()) {
                    if (inputs.contains(key) || is_left_out(lock_of(key)))
                        continue;
                    alter(value);
                    const std::string name = lock_of(key);
                    altered.insert(std::to_string(i) + " " + group + "." +
                                   (name == "DBUF_HASH_MUTEX" ? "hash_mutexes" : name));
                }
            for (auto &[key, value] : profile["ref"].items())
                if (lock_of(key) == "db_holds" || lock_of(key) == "dn_holds") {
                    alter(value);
                    altered.insert(std::to_string(i) + " ref." + lock_of(key));
                }
            for (const char *name : {"dnode_hold_impl_total", "dnode_hold_impl_on_zap"}) {
                alter(profile[name]);
                altered.insert(std::to_string(i) + " " + name);
            }
        }
        Comparison comparison(true);
        trace_kind(trace).replay(trace, comparison);
        for (const Difference &difference : comparison.differences())
            altered.erase(difference.step.substr(5, difference.step.find(' ', 5) - 5) + " " + difference.field);
        CHECK_MESSAGE(altered.empty(), "not told: " << *altered.begin());
    }
}

TEST_CASE("a recording of holds that makes no sense is refused with its place")
{
    Json trace = trace_of(data_root / "dbuf_depth_POSTDBUF.json");
    trace["cases"] = Json::array({trace["cases"][0]});
    const auto refused = [](Json bad, const char *place, const Json &value) {
        bad.at(Json::json_pointer(place)) = value;
        return verdict(bad);
    };
    CHECK(refused(trace, "/cases/0/recordsize", 500).find("cases.0.recordsize") != std::string::npos);
    CHECK(refused(trace, "/cases/0/recordsize", 1ull << 40).find("cases.0.recordsize") != std::string::npos);
    CHECK(refused(trace, "/cases/0/log2_size", 64).find("cases.0.log2_size") != std::string::npos);
    CHECK(refused(trace, "/cases/0/log2_size", -1).find("cases.0.log2_size") != std::string::npos);
    CHECK(refused(trace, "/tree", "elsewhere").find("tree") != std::string::npos);
    const Json states = trace_of(data_root / "dbuf_states_POSTDBUF.json");
    CHECK(refused(states, "/events/3/t_ms", "soon").find("events.3.t_ms") != std::string::npos);
    CHECK(refused(states, "/events/3/event", "a wish").find("events.3.event") != std::string::npos);
    const Json profile = trace_of(data_root / "read_profile_POSTDBUF.json");
    CHECK(refused(profile, "/cases/0/case", "dmu_read of nothing").find("cases.0.case") != std::string::npos);
    CHECK(refused(profile, "/cases/0/op", "zap_add").find("cases.0.op") != std::string::npos);
}
