// Disturbed schedules, in earnest: what is wrong on purpose is found and made small, what is mended never ends badly.
#include "analysis/bad_end.h"
#include "scenarios/library.h"
#include "tests/cli/program.h"

#include <doctest/doctest.h>
#include <fstream>
#include <sstream>

using analysis::Json;

namespace {

constexpr int threads_max = 4, steps_max = 20;

// Exit status of a run that ends so.
int status_of(const Json &end)
{
    return end == "deadlock" ? 4 : end == "invariant" ? 5 : 6;
}

Json result_of(const std::vector<std::string> &words)
{
    std::vector<std::string> all = {"run"};
    all.insert(all.end(), words.begin(), words.end());
    all.push_back("--json");
    return Json::parse(dmusim(all).out);
}

void find_and_shrink(const std::string &fault, const std::vector<std::string> &sets, const std::string &schedules)
{
    CAPTURE(fault);
    std::vector<std::string> words = {"planted-faults", "--set", "code.fault=" + fault};
    words.insert(words.end(), sets.begin(), sets.end());
    std::vector<std::string> ask = words;
    ask.insert(ask.begin(), "run");
    ask.insert(ask.end(), {"--schedules", schedules, "--shrink", "--json"});
    const Ran ran = dmusim(ask);
    INFO(ran.err);
    const Json found = Json::parse(ran.out);
    REQUIRE(found["bad"].size() > 0);
    const Json &bad = found["bad"][0];

    // The number alone repeats it, to the word.
    words.insert(words.end(), {"--set", "schedule=" + analysis::dump(bad["schedule"])});
    const Json alone = result_of(words);
    CHECK(alone["end"] == bad["end"]);
    CHECK(alone["ending"] == bad["ending"]);

    CHECK(found["shrink_finished"] == true);
    CHECK(found["shrunk_size"]["threads"].get<int>() <= threads_max);
    CHECK(found["shrunk_size"]["steps"].get<int>() <= steps_max);
    Folder folder;
    const std::string file = folder.write("small.json", analysis::dump(found["shrunk"]));
    CHECK(analysis::is_same_mistake(bad, analysis::bad_end(result_of({file}))));
    CHECK(dmusim({"run", file, "-q"}).status == status_of(bad["end"]));
}

std::string read_file_of_tests(const char *name)
{
    std::ifstream stream(std::string(DMUSIM_SOURCE_ROOT "/tests/cli/") + name, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

} // namespace

TEST_CASE("a planted fault is found, repeats by its number alone, and shrinks to a few threads and steps")
{
    find_and_shrink("missing-hold", {"--set", "params.files=1", "--set", "params.rounds=2"}, "5");
    find_and_shrink("overlapping-slots", {"--set", "params.files=1", "--set", "params.rounds=2"}, "20");
}

TEST_CASE("a scenario shrinks to the same bytes however many simulations run at a time")
{
    const auto shrunk = [](const char *workers) {
        return dmusim({"run", "planted-faults", "--set", "code.fault=missing-hold", "--set", "params.files=1", "--set",
                       "params.rounds=2", "--schedules", "5", "--shrink", "--json", "-j", workers})
            .out;
    };
    const std::string one = shrunk("1");
    CHECK(one.find("shrunk") != std::string::npos);
    CHECK(one == shrunk("3"));
}

TEST_CASE("every scenario of the library has its mended form and small size for many schedules")
{
    const Json sizes = Json::parse(read_file_of_tests("schedules.json"));
    for (const std::string &name : scenarios::library_names())
        CHECK_MESSAGE(sizes.contains(name), name);
}

TEST_SUITE("long")
{
    TEST_CASE("each planted fault is found within a thousand schedules, repeats by its number alone, and shrinks")
    {
        for (const char *fault : {"overlapping-slots", "missing-hold", "lost-wakeup", "upgrade-order"})
            find_and_shrink(fault, {}, "60"); // found within 60, so within 1,000
    }

    // schedules.json says how each is mended and made small, and that two-locks-deadlock cannot be.
    TEST_CASE("no mended scenario of the library ends badly under any of 200 schedules")
    {
        const Json sizes = Json::parse(read_file_of_tests("schedules.json"));
        for (const std::string &name : scenarios::library_names()) {
            CAPTURE(name);
            for (const Json &overrides : sizes[name]) {
                std::vector<std::string> words = {"run", name, "--schedules", "200", "--set", "expect=[]"};
                for (const auto &[path, value] : overrides.items())
                    words.insert(words.end(), {"--set", path + "=" + analysis::dump(value)});
                CAPTURE(analysis::dump(overrides));
                const Ran ran = dmusim(words);
                INFO(ran.out);
                CHECK(ran.status == 0);
                MESSAGE(name);
            }
        }
    }
}
