// Recorded runs of the real object allocator, replayed; and traces that were tampered with, refused.
#include "analysis/trace_lists.h"
#include "tests/analysis/conform_fixture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

using namespace analysis;
using namespace conform_test;

namespace {

const std::filesystem::path data_root = std::filesystem::path(DMUSIM_SOURCE_ROOT) / "tests/data/alloc";

std::vector<std::filesystem::path> recorded_traces()
{
    std::vector<std::filesystem::path> paths;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(data_root))
        if (entry.path().extension() == ".json")
            paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

bool is_input(const std::string &op, const std::string &field)
{
    if (field.size() > 3 && field.compare(field.size() - 3, 3, "_ns") == 0)
        return true;
    if (field == "objects")
        return op == "free" || op == "claim";
    return field == "op" || field == "count" || field == "threads" || field == "how" || field == "description";
}

// Every field that is compared, altered one at a time.
void check_alterations(const std::filesystem::path &path)
{
    const Json trace = trace_of(path);
    const auto check = [&](const std::string &what, const std::function<void(Json &)> &change) {
        Json altered = trace;
        change(altered);
        CHECK_MESSAGE(!verdict(altered).empty(), path.filename().string() << " " << what << " was altered");
    };
    for (const auto &[key, value] : trace.items())
        if (key != "steps" && !is_input("", key))
            check(key, [&key = key](Json &altered) { alter(altered[key]); });
    for (size_t i = 0; i < trace["steps"].size(); ++i) {
        const std::string op = trace["steps"][i]["op"];
        for (const auto &[key, value] : trace["steps"][i].items())
            if (!is_input(op, key))
                check("step " + std::to_string(i) + " " + key,
                      [i, &key = key](Json &altered) { alter(altered["steps"][i][key]); });
    }
}

} // namespace

TEST_CASE("recorded runs of the real allocator come out field by field")
{
    const auto paths = recorded_traces();
    REQUIRE(paths.size() >= 50);
    for (const auto &path : paths)
        CHECK_MESSAGE(verdict(trace_of(path)) == "", path.string());
}

TEST_CASE("a trace with any compared field altered is refused")
{
    check_alterations(data_root / "legacy/w01_n8k.json");
    check_alterations(data_root / "legacy/w12.json");
    check_alterations(data_root / "per-cpu-head/w09a.json");
}

TEST_CASE("a query whose recorded answer is altered is refused, whichever row it is in")
{
    Json trace = trace_of(data_root / "legacy/w10.json");
    for (Json &step : trace["steps"])
        if (step["op"] == "query")
            step["rows"].back()[6] = 1;
    CHECK(verdict(trace).find("rows[") != std::string::npos);
}

TEST_CASE("a trace with an unknown operation, field or variant is no trace")
{
    const Json good = trace_of(data_root / "rescan/w01_n8k.json");
    Json trace = good;
    trace["steps"][1]["op"] = "allocate";
    CHECK(verdict(trace).find("no operation") != std::string::npos);
    trace = good;
    trace["steps"][1]["colour"] = 1;
    CHECK(verdict(trace).find("unknown field") != std::string::npos);
    trace = good;
    trace["variant"] = "BEST";
    CHECK(verdict(trace).find("LEGACY") != std::string::npos);
    trace = good;
    trace["steps"][1].erase("count");
    CHECK(verdict(trace).find("count") != std::string::npos);
    trace = good;
    trace.erase("steps");
    CHECK(verdict(trace).find("steps") != std::string::npos);
}

TEST_CASE("lists of objects are read and written in the recorded form")
{
    const Json list = Json::parse("[[1, 31, 1], 40, [64, 80, 8], [5, 4, -1], 2, 3]");
    const std::vector<uint64_t> objects = objects_of(list, "objects");
    CHECK(objects.size() == 31 + 1 + 3 + 2 + 2);
    CHECK(objects.back() == 3);
    CHECK(coded_objects({1, 2, 5, 7, 9, 20, 22}) == Json::parse("[[1, 2, 1], [5, 9, 2], 20, 22]"));
    CHECK(coded_runs({{3, 2}, {0, 1}, {3, 1}}) == Json::parse("[[3, 2], [0, 1], [3, 1]]"));
    CHECK_THROWS_AS(objects_of(Json::parse("[[1, 4, 2]]"), "objects"), BadTrace);
    CHECK_THROWS_AS(objects_of(Json::parse("[[1, 4]]"), "objects"), BadTrace);
}
