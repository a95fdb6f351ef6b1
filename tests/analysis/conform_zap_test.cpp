// Recorded runs of real ZAPs, replayed; and traces that were tampered with, refused.
//
// tests/data/zap/ holds the recordings up to 13,300 entries: microzaps, the step to a fat one, embedded pointer tables.
#include "analysis/conform_counts.h"
#include "tests/analysis/conform_fixture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

using namespace analysis;
using namespace conform_test;

namespace {

const std::filesystem::path source_root = DMUSIM_SOURCE_ROOT;
const std::filesystem::path data_root = source_root / "tests/data/zap";

// The trace with the value at that place altered must be refused.
void check_alteration(const Json &trace, const std::string &place)
{
    Json altered = trace;
    alter(altered.at(Json::json_pointer(place)));
    CHECK_MESSAGE(!verdict(altered).empty(), place << " was altered");
}

// The same for each field of the object at that place, but for those that say what was done.
void check_fields(const Json &trace, const std::string &place, const std::set<std::string> &inputs)
{
    for (const auto &[key, value] : trace.at(Json::json_pointer(place)).items())
        if (!inputs.contains(key))
            check_alteration(trace, place + "/" + key);
}

// The trace with only those items of its list of which `wanted` says so.
Json part(Json trace, const char *list, const std::function<bool(const Json &)> &wanted)
{
    Json kept = Json::array();
    for (const Json &item : trace[list])
        if (wanted(item))
            kept.push_back(item);
    REQUIRE(!kept.empty());
    trace[list] = kept;
    return trace;
}

const std::set<std::string> report_inputs = {"label", "n_inserted", "end"};

void check_reports(const char *file, const std::function<bool(const Json &)> &wanted)
{
    const Json trace = part(trace_of(data_root / file), "reports", wanted);
    REQUIRE(verdict(trace) == "");
    for (size_t i = 0; i < trace["reports"].size(); ++i)
        check_fields(trace, "/reports/" + std::to_string(i), report_inputs);
}

bool is_left_out(const std::string &name)
{
    return std::any_of(left_out().begin(), left_out().end(), [&](const LeftOut &row) { return name == row.name; });
}

// "mutex", "db_mtx@dbuf.c" -> "db_mtx"
std::string lock_of(const std::string &key)
{
    return key.substr(0, key.find('@'));
}

// The places in a recorded profile that a replay compares.
std::vector<std::string> compared_places(const Json &profile)
{
    std::vector<std::string> places = {"/dnode_hold_impl_total", "/dnode_hold_impl_on_zap"};
    for (const auto &[name, value] : profile["fn"].items())
        if (!is_left_out(name))
            places.push_back("/fn/" + name);
    for (const char *group : {"mutex", "rw_r", "rw_w"})
        for (const auto &[key, value] : profile[group].items())
            if (!is_left_out(lock_of(key)))
                places.push_back("/" + std::string(group) + "/" + key);
    for (const auto &[key, value] : profile["ref"].items())
        if (lock_of(key) == "db_holds" || lock_of(key) == "dn_holds")
            places.push_back("/ref/" + key);
    for (const auto &[key, value] : profile["zrl"].items())
        places.push_back("/zrl/" + key);
    if (profile.contains("dnode_hold_paths"))
        for (size_t i = 0; i < profile["dnode_hold_paths"].size(); ++i)
            places.push_back("/dnode_hold_paths/" + std::to_string(i) + "/path");
    return places;
}

// Each compared count of each case, one at a time.
void check_profiles(const Json &trace)
{
    REQUIRE(verdict(trace) == "");
    for (size_t i = 0; i < trace["cases"].size(); ++i) {
        const std::string place = "/cases/" + std::to_string(i);
        for (const std::string &count : compared_places(trace["cases"][i]["profile"]))
            check_alteration(trace, place + "/profile" + count);
        for (const char *field : {"space_towrite", "space_tooverwrite", "space_tofree", "space_tounref", "last_object"})
            if (trace["cases"][i].contains(field))
                check_alteration(trace, place + "/" + field);
    }
}

// The same in one replay that goes on: so many counts altered, so many differences. What the replay takes from the
// recording (a name's length; which leaf was dirty, and of many calls how many were split) stays as it is.
void check_profiles_at_once(Json trace)
{
    std::set<std::string> altered;
    for (size_t i = 0; i < trace["cases"].size(); ++i) {
        Json &profile = trace["cases"][i]["profile"];
        for (const std::string &place : compared_places(profile)) {
            const std::string key = place.substr(place.rfind('/') + 1);
            if (key == "ldv" || key == "path" || lock_of(key) == "os_lock")
                continue;
            const bool mixture = trace["cases"][i]["calls_averaged"] != 1 && trace["cases"][i]["dir_entries"] > 1000;
            if (mixture && (key == "zap_expand_leaf" || key == "arc_buf_add_ref" || key == "zap_leaf_transfer_entry"))
                continue;
            alter(profile.at(Json::json_pointer(place)));
            std::string field = place.substr(1);
            std::replace(field.begin(), field.end(), '/', '.');
            field = lock_of(field);
            if (field == "mutex.DBUF_HASH_MUTEX")
                field = "mutex.hash_mutexes";
            altered.insert(std::to_string(i) + " " + field);
        }
    }
    Comparison comparison(true);
    trace_kind(trace).replay(trace, comparison);
    for (const Difference &difference : comparison.differences()) {
        const std::string index = difference.step.substr(5, difference.step.find(' ', 5) - 5); // "step 12 (...)"
        altered.erase(index + " " + difference.field);
    }
    CHECK_MESSAGE(altered.empty(), "not told: " << *altered.begin());
}

bool entries_at_most(const Json &item, uint64_t most)
{
    return item["dir_entries"].get<uint64_t>() <= most;
}

} // namespace

TEST_CASE("recorded ZAPs come out field by field, and so does every count of what one call does")
{
    std::vector<std::filesystem::path> paths;
    for (const auto &entry : std::filesystem::directory_iterator(data_root))
        paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    REQUIRE(paths.size() == 10);
    for (const auto &path : paths)
        CHECK_MESSAGE(verdict(trace_of(path)) == "", path.filename().string());
}

TEST_CASE("a report of a ZAP's structure with any field altered is refused")
{
    const auto inserted = [](uint64_t count) {
        return [count](const Json &report) { return report["n_inserted"] == count; };
    };
    check_reports("zap_structure.json", inserted(0));
    check_reports("zap_structure.json", inserted(9));
    check_reports("zap_structure.json", inserted(2048));
    check_reports("zap_remove.json", inserted(10));
}

TEST_CASE("an event with any of its columns altered is refused, and so is a missing one")
{
    constexpr uint64_t until = 3000;
    Json trace =
        part(trace_of(data_root / "zap_events.json"), "events", [](const Json &row) { return row[0] <= until; });
    trace["until"] = until;
    REQUIRE(verdict(trace) == "");
    const size_t last = trace["events"].size() - 1;
    for (const size_t row : {size_t{0}, last / 2, last})
        for (size_t column = 0; column < trace["events"][row].size(); ++column)
            check_alteration(trace, "/events/" + std::to_string(row) + "/" + std::to_string(column));
    trace["events"].erase(last / 2);
    CHECK(verdict(trace) != "");
}

TEST_CASE("a walk with any column of an entry altered is refused")
{
    Json trace = trace_of(data_root / "zap_cursor.json");
    REQUIRE(verdict(trace) == "");
    check_fields(trace, "/fat300/report", report_inputs);
    trace.erase("fat300");
    check_fields(trace, "/micro300", {});
    for (size_t column = 0; column < trace["micro300"]["order"][7].size(); ++column)
        check_alteration(trace, "/micro300/order/7/" + std::to_string(column));
}

TEST_CASE("an edge with any answer altered is refused")
{
    const Json trace = trace_of(data_root / "zap_edge.json");
    Json one = trace;
    for (const char *list : {"upgrade", "lookups"}) {
        one["upgrade"] = one["lookups"] = one["tests"] = Json::array();
        for (const Json &row : trace[list]) {
            one[list] = Json::array({row});
            check_fields(one, std::string("/") + list + "/0", {"case", "zap", "tree"});
        }
    }
    one["upgrade"] = one["lookups"] = Json::array();
    for (const Json &test : trace["tests"]) {
        one["tests"] = Json::array({test});
        check_fields(one, "/tests/0", {"zap", "tree", "salt", "steps", "names", "what"});
        for (size_t step = 0; step < test["steps"].size(); ++step)
            for (const auto &[name, place] : test["steps"][step]["cds"].items())
                check_alteration(one, "/tests/0/steps/" + std::to_string(step) + "/cds/" + name);
    }
}

TEST_CASE("a recorded dmu_tx_hold_zap with any compared count altered is refused")
{
    for (const char *file : {"hold_zap_PRE7004.json", "hold_zap_POST7004.json"}) {
        const Json trace = trace_of(data_root / file);
        check_profiles(part(trace, "cases", [](const Json &item) {
            return entries_at_most(item, 100) && item["state"] == "first hold";
        }));
        check_profiles_at_once(part(trace, "cases", [](const Json &item) { return entries_at_most(item, 10'000); }));
    }
}

TEST_CASE("a recorded operation with any compared count altered is refused")
{
    for (const char *file : {"op_profile_PRE7004.json", "op_profile_POST7004.json"})
        check_profiles_at_once(trace_of(data_root / file));
}

TEST_CASE("a recorded sequence of creates with any compared count altered is refused")
{
    check_profiles(part(trace_of(data_root / "create_sequence_PRE7004.json"), "cases",
                        [](const Json &item) { return entries_at_most(item, 10); }));
}

TEST_CASE("what the replays leave out is at most twelve names, and the table in model/README.md says the same")
{
    CHECK(left_out().size() <= 12);
    std::ifstream stream(source_root / "model/README.md");
    std::ostringstream text;
    text << stream.rdbuf();
    const std::string readme = text.str();
    size_t rows = 0;
    for (size_t at = readme.find("\n| `", readme.find("## Not compared")); at != std::string::npos;
         at = readme.find("\n| `", at + 1), ++rows) {
    }
    CHECK(rows == left_out().size());
    for (const LeftOut &row : left_out())
        CHECK_MESSAGE(readme.find("| `" + std::string(row.name) + "` | " + row.why + " |") != std::string::npos,
                      row.name);
}
