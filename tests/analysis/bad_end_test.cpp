// Which bad ends are one mistake.
#include "analysis/bad_end.h"

#include <doctest/doctest.h>

using namespace analysis;

namespace {

Json ended(const char *end, std::vector<std::string> lines)
{
    return {{"end", end}, {"ending", std::move(lines)}};
}

} // namespace

TEST_CASE("a broken invariant is known by its place, whatever the threads and numbers")
{
    const Json one =
        ended("invariant", {"model/a.cpp:17: the 1 slots of object 20481 overlap object 20480", "    at 5 ns"});
    CHECK(is_same_mistake(one, ended("invariant", {"model/a.cpp:17: the 2 slots of object 3 overlap object 4"})));
    CHECK_FALSE(is_same_mistake(one, ended("invariant", {"model/a.cpp:18: the 2 slots of object 3 overlap object 4"})));
    CHECK_FALSE(is_same_mistake(one, ended("deadlock", {"model/a.cpp:17: the 1 slots"})));
    CHECK_FALSE(is_same_mistake(one, nullptr));
    CHECK(bad_end(Json{{"end", "completed"}}).is_null());
}

TEST_CASE("threads that wait for ever: the smaller scenario waits for nothing else, nor for nothing")
{
    const Json ring = ended(
        "deadlock", {"deadlock: each thread waits for something that the next one holds", "  thread a-0 in f > g",
                     "    waits for zap_rwlock of ZAP 7 as writer, held by thread a-1 since f", "  thread a-1 in h",
                     "    waits for txg 12 to be left by its last holder; txg 12 is quiescing", "  thread a-2 in p > q",
                     "    waits on a condition variable (blocked)", "  thread txg_sync in (outside of any function)",
                     "    waits on a condition variable (sleeping)"});
    CHECK(waited_for(ring) ==
          std::set<std::string>{"zap_rwlock", "txg  to be left by its last holder", "condition of q"});
    const auto waits = [](const char *what) {
        return ended("deadlock",
                     {"deadlock: no thread can run", "  thread b-7 in f > g", std::string("    waits for ") + what});
    };
    CHECK(is_same_mistake(ring, waits("zap_rwlock of ZAP 9 as reader")));
    CHECK(is_same_mistake(ring, waits("txg 3 to be left by its last holder; and so on")));
    CHECK_FALSE(is_same_mistake(ring, waits("l_rwlock of ZAP 9, leaf 3 as reader")));
    CHECK_FALSE(is_same_mistake(ring, ended("deadlock", {"deadlock: no thread can run"})));
}
