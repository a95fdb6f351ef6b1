// The schema that editors and other people's tools use accepts what the strict reader accepts.
//
// A JSON schema cannot evaluate an expression or compare two fields; documents that only the reader refuses are in a
// list of their own, so that the difference is known and does not grow unseen.
#include "scenarios/library.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <sstream>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

using namespace scenarios;

namespace {

bool schema_accepts(const std::string &text)
{
    static const valijson::Schema *schema = [] {
        static valijson::Schema parsed;
        static const nlohmann::json source = nlohmann::json::parse(scenario_schema().dump());
        valijson::adapters::NlohmannJsonAdapter adapter(source);
        valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(adapter, parsed);
        return &parsed;
    }();
    const nlohmann::json document = nlohmann::json::parse(text);
    valijson::adapters::NlohmannJsonAdapter adapter(document);
    return valijson::Validator(valijson::Validator::kStrongTypes).validate(*schema, adapter, nullptr);
}

bool reader_accepts(const std::string &text)
{
    try {
        read_scenario(parse_json("f", text));
        return true;
    } catch (const InputError &) {
        return false;
    }
}

std::string with(const std::string &member)
{
    return R"({"params": {"n": 4}, "workload": [{"steps": []}], )" + member + "}";
}

std::string step(const std::string &step)
{
    return R"({"params": {"n": 4}, "workload": [{"steps": [)" + step + "]}]}";
}

} // namespace

TEST_CASE("schema and reader accept the same documents")
{
    const std::vector<std::string> corpus = {
        R"({"workload": [{"steps": []}]})",
        R"({})",
        R"([])",
        R"("x")",
        R"({"workload": []})",
        R"({"workload": {}})",
        R"({"workload": [{}]})",
        R"({"workload": [{"steps": [], "threads": 0}]})",
        R"({"workload": [{"steps": [], "thread": 1}]})",
        R"({"workload": [{"steps": [], "cpus": []}]})",
        R"({"workload": [{"steps": [], "cpus": [0, "1..2"], "start": "5ms"}]})",
        R"({"workload": [{"steps": [], "cpus": "0..3"}]})",
        R"({"workload": [{"steps": [], "start": 5}]})",
        with(R"("seed": 9223372036854775807)"),
        with(R"("seed": -1)"),
        with(R"("seed": "x y!")"),
        with(R"("seed": 1.5)"),
        with(R"("seed": null)"),
        with(R"("name": 5)"),
        with(R"("name": "a")"),
        with(R"("nam": "a")"),
        with(R"("name": ")" + std::string(101, 'x') + "\""),
        with(R"("$schema": "scenario.schema.json")"),
        with(R"("machine": {"cpus": "$n * 2"})"),
        with(R"("machine": {"cpus": 1025})"),
        with(R"("machine": {"cpu": 1})"),
        with(R"("machine": [])"),
        with(R"("machine": {"profile": 5})"),
        with(R"("machine": {"instruction_ns": 0})"),
        with(R"("machine": {"instruction_ns": 0.144, "miss_ns": 90, "line_model": true, "lock_policy": "queued"})"),
        with(R"("code": {"era": "head"})"),
        with(R"("code": {"era": "tail"})"),
        with(R"("code": {"arc_buf_access": true, "rescan_threshold": 2147483647})"),
        with(R"("code": {"arc_buf_access": 1})"),
        with(R"("code": {"rescan_threshold": 2147483648})"),
        with(R"("pool": {"txg_timeout": "5s", "dirty_data_max": "4G", "disk": {"latency": 0, "bandwidth": "1G"}})"),
        with(R"("pool": {"disk": {"speed": 1}})"),
        with(R"("dataset": {"zap_salt": 0})"),
        with(R"("dataset": {"dnodesize": 1024})"),
        with(R"("setup": [{"op": "alloc", "count": 10}])"),
        with(R"("setup": {"op": "alloc"})"),
        with(R"("warmup": "2s")"),
        with(R"("warmup": {"op": "alloc"})"),
        with(R"("warmup": {"op": "alloc", "count": 0})"),
        with(R"("stop": {"simulated": "600s"})"),
        with(R"("stop": {"simulated": 5})"),
        with(R"("stop": {"after": "1s"})"),
        with(R"("record": ["objects", "txgs", "series"])"),
        with(R"("record": ["all"])"),
        with(R"("record": "objects")"),
        with(R"("expect": [{"metric": "a.b", "at_least": 1.5, "within": {"of": 3, "percent": 10}, "because": "x"}])"),
        with(R"("expect": [{"at_least": 1}])"),
        with(R"("expect": [{"metric": "a", "within": {"of": 3}}])"),
        with(R"("expect": [{"metric": "a", "at_least": true}])"),
        with(R"("expect": [{"metric": "a", "equals": "$n"}])"),
        R"({"params": {"a": -1}, "workload": [{"steps": []}]})",
        R"({"params": {"1a": 1}, "workload": [{"steps": []}]})",
        R"({"params": {"a": "5s", "b": "4K"}, "workload": [{"steps": []}]})",
        R"({"params": [1], "workload": [{"steps": []}]})",
        step(R"({"op": "alloc"})"),
        step(R"({"op": "aloc"})"),
        step(R"({"op": "alloc", "count": "{i} + 1", "must": true})"),
        step(R"({"op": "alloc", "slots": 33})"),
        step(R"({"op": "sync", "count": 1})"),
        step(R"({"count": 1})"),
        step("{}"),
        step("5"),
        step(R"({"op": "free", "objects": [1, [2, 8, 2], "$n"]})"),
        step(R"({"op": "free", "which": "every", "stride": 2})"),
        step(R"({"op": "free", "which": "some"})"),
        step(R"({"op": "claim"})"),
        step(R"({"op": "claim", "objects": [[1, 2]]})"),
        step(R"({"op": "lock", "name": "a"})"),
        step(R"({"op": "lock"})"),
        step(R"({"op": "release_tx", "wait": false})"),
        step(
            R"({"op": "next_offset", "flags": ["hole", "backwards"], "offset": "16K", "minlvl": 2, "blkfill": 8, "txg": 0})"),
        step(R"({"op": "next_offset", "flags": ["up"]})"),
        step(R"({"repeat": 3, "shared": true, "every": "50us", "steps": [{"op": "alloc"}]})"),
        step(R"({"for": "1s", "steps": [{"op": "sync"}]})"),
        step(R"({"repeat": 3})"),
        step(R"({"repeat": -3, "steps": []})"),
        step(R"({"repeat": 1, "steps": [{"op": "x"}]})"),
        step(R"({"choose": [{"weight": 3, "steps": []}, {"steps": [{"op": "sync"}]}]})"),
        step(R"({"choose": []})"),
        step(R"({"barrier": "a"})"),
        step(R"({"barrier": 1})"),
        step(R"({"sleep": "{rand:1..5}us"})"),
        step(R"({"sleep": 1})"),
        step(R"({"think": "1us", "sleep": "1us"})"),
        step(R"({"wait_until": {"counter": "ops.alloc", "at_least": 5}})"),
        step(R"({"wait_until": {"counter": "ops.alloc"}})"),
    };
    size_t accepted = 0;
    for (const std::string &text : corpus) {
        CAPTURE(text);
        CHECK(schema_accepts(text) == reader_accepts(text));
        accepted += reader_accepts(text) ? 1 : 0;
    }
    CHECK(accepted > 25);
}

TEST_CASE("what only the reader can see")
{
    for (const std::string &text : {
             with(R"("machine": {"profile": "nowhere"})"),                  // no such profile or file
             with(R"("machine": {"instruction_ns": 0.1445})"),              // half a picosecond
             with(R"("seed": "$m")"),                                       // no such parameter
             with(R"("seed": "1 +")"),                                      // no expression
             with(R"("seed": "10 / $n")"),                                  // does not come out whole
             with(R"("machine": {"cpus": "2000"})"),                        // out of range once evaluated
             with(R"("pool": {"txg_timeout": "5K"})"),                      // a unit of the wrong kind
             with(R"("dataset": {"recordsize": 1000})"),                    // no power of two
             with(R"("warmup": {"op": "claim", "count": 1})"),              // never done
             with(R"("expect": [{"metric": "a"}])"),                        // no bound
             std::string(R"({"workload": [{"steps": [], "cpus": [16]}]})"), // beyond the machine
             step(R"({"op": "free"})"),                                     // neither of two fields
             step(R"({"choose": [{"weight": 0, "steps": []}]})"),           // no weight
             step(R"({"op": "alloc", "count": "{m}"})"),                    // no such placeholder
         }) {
        CAPTURE(text);
        CHECK(schema_accepts(text));
        CHECK_FALSE(reader_accepts(text));
    }
}

TEST_CASE("every built-in scenario is accepted by both")
{
    for (const std::string &name : library_names()) {
        CAPTURE(name);
        CHECK(schema_accepts(open_scenario(name).root.dump()));
        CHECK_NOTHROW(load_scenario(name));
    }
}

TEST_CASE("scenario.schema.json is what the fields' declarations say (DMUSIM_ACCEPT=1 rewrites it)")
{
    const std::string expected = scenario_schema().dump(2) + "\n";
    if (std::getenv("DMUSIM_ACCEPT") != nullptr)
        std::ofstream(DMUSIM_SCHEMA_FILE) << expected;
    std::ifstream file(DMUSIM_SCHEMA_FILE);
    std::stringstream found;
    found << file.rdbuf();
    const bool same = found.str() == expected;
    CHECK(same);
}
