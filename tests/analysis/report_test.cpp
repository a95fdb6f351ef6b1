// The report as data and in its two forms, from real runs; texts of a scenario that try to be markup.
#include "analysis/export.h"
#include "analysis/page_files.h"
#include "analysis/report_json.h"
#include "analysis/report_model.h"
#include "analysis/report_text.h"
#include "analysis/sensitivity.h"
#include "analysis/sha256.h"
#include "analysis/stored_result.h"
#include "scenarios/run.h"
#include "scenarios/scenario.h"
#include "scenarios/strict_json.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace analysis;

namespace {

const char *const hostile_name = "</script><script>owned()</script>\x1b[2J\"'\n|`*";

Json run_scenario(const Json &scenario)
{
    return report_json(scenarios::run(scenarios::read_scenario(scenarios::parse_json("test", scenario.dump()))));
}

Json small(uint64_t objects)
{
    Json scenario =
        Json::parse(R"({"name": "", "description": "<img src=x onerror=alert(1)> & more", "params": {"objects": 1},
        "machine": {"cpus": 4}, "record": ["txgs", "series"],
        "workload": [{"name": "<b>", "threads": 8, "steps": [{"repeat": "$objects", "steps": [{"op": "alloc"}]}]}],
        "expect": [{"metric": "ops.alloc.count", "at_least": 1, "because": "<script>x</script>"}]})");
    scenario["name"] = hostile_name;
    scenario["params"]["objects"] = objects;
    return scenario;
}

Json result_at(uint64_t objects)
{
    Json result = run_scenario(small(objects));
    result["point"] = {{"params.objects", objects}};
    return result;
}

std::string titles(const Report &report)
{
    std::string all;
    for (const Section &section : report.sections)
        all += section.title + "\n";
    return all;
}

} // namespace

TEST_CASE("a scenario without name and description is called so, and has no empty line for them")
{
    const Json result = run_scenario(Json::parse(R"({"workload": [{"steps": [{"op": "alloc"}]}]})"));
    const std::string text = report_text(result, {});
    CHECK(text.starts_with("a scenario without a name: 16 CPUs, "));
    CHECK(text.substr(text.find('\n') + 1).starts_with("  measured: "));
    CHECK(make_report({{result}}, {}).title == "a scenario without a name");
}

TEST_CASE("SHA-256 of the standard's examples")
{
    CHECK(sha256_base64("") == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    CHECK(sha256_base64("abc") == "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    CHECK(sha256_base64("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=");
}

TEST_CASE("folded lines sum to the busy time of the CPUs exactly, to the nanosecond they are rounded to")
{
    Json result = run_scenario(small(400));
    uint64_t sum = 0;
    for (const Stack &stack : stacks(result, StackTime::cpu))
        sum += stack.ns;
    CHECK(sum == static_cast<uint64_t>(std::floor(result["cpu"]["busy_ns"].get<double>())));
    uint64_t from_text = 0;
    std::string folded = write_folded_cpu(result);
    for (size_t from = 0; from < folded.size();) {
        size_t end = folded.find('\n', from), blank = folded.rfind(' ', end);
        from_text += std::stoull(folded.substr(blank + 1, end - blank - 1));
        from = end + 1;
    }
    CHECK(from_text == sum);
}

TEST_CASE("series of locks and CPUs add up to the totals of the run")
{
    Json result = run_scenario(small(400));
    bool cpus = false, locks = false;
    for (const Json &series : result["series"]) {
        double sum = 0;
        for (const Json &sample : series["samples"])
            sum += sample[1].get<double>();
        if (series["name"] == "CPUs busy") {
            cpus = true;
            CHECK(std::fabs(sum - result["cpu"]["busy_ns"].get<double>()) <
                  result["cpu"]["busy_ns"].get<double>() * 0.02 + 1000);
        }
        for (const Json &lock : result["locks"])
            if (lock["class"] == series["name"]) {
                locks = true;
                CHECK(std::fabs(sum - lock["wait_ns"]["total"].get<double>()) <
                      1000); // cut to whole nanoseconds, interval by interval
            }
    }
    CHECK(cpus);
    CHECK(locks);
}

TEST_CASE("the verdict of the expectations comes first, and what did not hold comes before what did")
{
    Json good = result_at(20);
    Json bad = good;
    bad["expect"][0]["held"] = false;
    Report report = make_report({{good, bad}}, {});
    CHECK(!report.verdict.good);
    CHECK(report.verdict.words.find("1 of 2 expectations did not hold") != std::string::npos);
    CHECK(report.sections[0].id == "expectations");
    CHECK(report.sections[0].figures[0].tables[0].rows[0][0] == "NOT HELD");
    CHECK(make_report({{good}}, {}).verdict.good);
}

TEST_CASE("a sweep's report has its curves, two inputs have a before and after")
{
    std::vector<Json> sweep = {result_at(20), result_at(40), result_at(80), result_at(160)};
    Report report = make_report({sweep}, {});
    CHECK(titles(report).find("Growth over params.objects") != std::string::npos);
    Report pair = make_report({{sweep[0]}, {sweep[1]}}, {});
    CHECK(titles(pair).find("Before and after") != std::string::npos);
    CHECK(titles(pair).find("Flame graphs before and after") != std::string::npos);
    CHECK(report_markdown(pair).find("params.objects") != std::string::npos);
}

TEST_CASE("a sweep over a tunable tells how far figures move, in words")
{
    std::vector<Json> sweep;
    for (uint64_t threshold : {0, 100, 1000, 10000}) { // 0 has no logarithm, yet is the value that says "at once"
        Json result = result_at(20);
        result["point"] = {{"code.rescan_threshold", threshold}};
        result["allocator"]["rescans"] = threshold <= 100 ? 40 : 0;
        sweep.push_back(std::move(result));
    }
    Report report = make_report({sweep}, {});
    CHECK(titles(report).find("Sensitivity to code.rescan_threshold") != std::string::npos);
    std::string text = report_markdown(report);
    CHECK(text.find("falls from 40 at 0 to 0 at 10,000; settled from 1,000 on; flat up to 100") != std::string::npos);
    CHECK(text.find("What does not depend on it") != std::string::npos);
}

TEST_CASE("the words for a tunable know directions, plateaus and standstill")
{
    auto words = [](std::initializer_list<double> values) {
        std::vector<Spot> spots;
        double x = 1;
        for (double value : values) {
            spots.push_back({x, value, value, value, 1});
            x *= 2;
        }
        return sensitivity_words(spots);
    };
    CHECK(words({5, 5, 5}) == "does not move: 5 throughout");
    CHECK(words({1, 2, 4}) == "rises from 1 at 1 to 4 at 4, 4.00 times");
    CHECK(words({100, 100, 50, 10}) == "falls from 100 at 1 to 10 at 8, 10.0 times; flat up to 2");
    CHECK(words({10, 50, 20}) == "goes up and down between 10 (at 1) and 50 (at 2), 5.00 times");
}

TEST_CASE("texts of a scenario are text in HTML and in Markdown, never markup")
{
    Report report = make_report({{result_at(20)}}, {});
    std::string markdown = report_markdown(report);
    CHECK(markdown.find("<script") == std::string::npos);
    CHECK(markdown.find("<img") == std::string::npos);
    CHECK(markdown.find('\x1b') == std::string::npos);
    if (!page_files().complete) {
        MESSAGE("built without the page's charting library: the HTML form is not tested");
        return;
    }
    std::string html = report_html(report);
    CHECK(html == report_html(report));
    CHECK(html.find("<script>owned") == std::string::npos);
    std::string_view content = std::string_view(html).substr(0, html.find("<script>")); // before the libraries
    CHECK(content.find("<img") == std::string::npos);
    CHECK(html.find('\x1b') == std::string::npos);
    CHECK(html.find("default-src 'none'") != std::string::npos);
    CHECK(html.find("unsafe-eval") == std::string::npos);
    // every script that runs is named by its hash; the rest are data
    size_t scripts = 0;
    for (size_t at = html.find("<script>"); at != std::string::npos; at = html.find("<script>", at + 1)) {
        size_t end = html.find("</script>", at);
        CHECK(html.find("'sha256-" + sha256_base64(html.substr(at + 8, end - at - 8)) + "'") != std::string::npos);
        ++scripts;
    }
    CHECK(scripts == 4);
}

TEST_CASE("a result that lacks parts is reported as far as it goes")
{
    Json result = result_at(20);
    for (const char *key : {"allocator", "groups", "series", "stack", "expect", "point"})
        result.erase(key);
    result["locks"] = Json::array();
    result["cpu"]["call_tree"]["rows"] = Json::array();
    Report report = make_report({{result}}, {});
    CHECK(!report.verdict.any);
    CHECK(report_markdown(report).find("Nobody waited") != std::string::npos);
}
