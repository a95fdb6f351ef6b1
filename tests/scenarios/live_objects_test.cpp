// What can be freed is chosen in ascending order, and never twice.
#include "scenarios/live_objects.h"
#include "scenarios/statistics.h"

#include <doctest/doctest.h>

using namespace scenarios;
using Numbers = std::vector<uint64_t>;

TEST_CASE("the first, every, all and random live objects are taken out when chosen")
{
    LiveObjects live;
    for (uint64_t object = 1; object <= 200; ++object)
        live.add(object);
    CHECK(live.take_first(3, 1, 1000) == Numbers{1, 2, 3});
    CHECK(live.take_first(2, 63, 1000) == Numbers{63, 64});
    CHECK(live.take_every(50, 100, 1, 1000) == Numbers{4, 54, 106, 156}); // 63 and 64 are gone
    CHECK(live.take_all(199, 1000) == Numbers{199, 200});
    CHECK(live.take_random(3, 10, 20, [](uint64_t) { return 0; }) == Numbers{10, 11, 12});
    CHECK(live.count() == 200 - 3 - 2 - 4 - 2 - 3);
    CHECK(live.take_random(1000, 10, 20, [](uint64_t n) { return n - 1; }).size() == 8);
    CHECK(live.take_all(0, UINT64_MAX).size() == 178);
    CHECK(live.count() == 0);
    CHECK(live.take_first(5, 1, 1000).empty());
}

TEST_CASE("a few random objects of many are drawn by rank, within the range")
{
    LiveObjects live;
    for (uint64_t object = 1; object <= 1000; ++object)
        live.add(object);
    CHECK(live.take_random(1, 65, 999, [](uint64_t) { return 0; }) == Numbers{65});
    CHECK(live.take_random(1, 64, 999, [](uint64_t n) { return n - 1; }) == Numbers{999});
    CHECK(live.take_random(2, 1, 1000, [](uint64_t) { return 63; }) == Numbers{64, 66});
    CHECK(live.take_random(1, 127, 127, [](uint64_t) { return 0; }) == Numbers{127});
    CHECK(live.take_random(1, 127, 127, [](uint64_t) { return 0; }).empty());
}

TEST_CASE("numbers far apart take no room for what lies between, and are chosen like any others")
{
    constexpr uint64_t far = (uint64_t{1} << 48) - 1;
    LiveObjects live;
    for (const uint64_t object : {far, uint64_t{5}, uint64_t{4095}, uint64_t{4096}, uint64_t{1'000'000'000'000}})
        live.add(object);
    for (uint64_t object = 20'000; object < 30'000; ++object) // whole chunks of them
        live.add(object);
    CHECK(live.count() == 10'005);
    CHECK(live.contains(far));
    CHECK_FALSE(live.contains(far - 1));
    CHECK_FALSE(live.contains(far - 4096));
    CHECK(live.take_random(1, 0, UINT64_MAX, [](uint64_t n) { return n - 1; }) == Numbers{far});
    CHECK(live.take_random(1, 0, UINT64_MAX, [](uint64_t) { return 3 + 9'999; }) == Numbers{29'999});
    CHECK(live.take_random(1, 6, UINT64_MAX, [](uint64_t) { return 2 + 5'000; }) == Numbers{25'000});
    CHECK(live.take_every(3, 2, 0, UINT64_MAX) == Numbers{5, 20'000});
    CHECK(live.take_first(1, 30'000, UINT64_MAX) == Numbers{1'000'000'000'000});
    CHECK(live.take_all(0, 4096) == Numbers{4095, 4096});
    CHECK(live.take_all(0, UINT64_MAX).size() == 9'997);
    CHECK(live.count() == 0);
}

TEST_CASE("latencies are exact below 128 and within one part in 64 above")
{
    LatencyHistogram small;
    for (uint64_t value = 1; value <= 100; ++value)
        small.add(value);
    CHECK(small.quantile(50) == 50);
    CHECK(small.quantile(99) == 99);
    CHECK(small.summary().max == 100);
    for (const uint64_t value : {200ull, 1'000'000ull, 123'456'789'012ull, ~0ull}) {
        LatencyHistogram one;
        one.add(value);
        CHECK(one.quantile(50) <= value);
        CHECK(one.quantile(50) >= value - value / 64);
    }
    CHECK(LatencyHistogram().summary().p99 == 0);
}

TEST_CASE("a timeline doubles its interval when there are too many, and loses nothing")
{
    Timeline timeline;
    constexpr uint64_t ms = 1'000'000'000;
    for (uint64_t i = 0; i < 999; ++i)
        timeline.add(i * ms);
    CHECK(timeline.samples(999 * ms).size() == 999);
    CHECK(timeline.total() == 999);
    timeline.add(1000 * ms);
    timeline.add(0);
    const auto samples = timeline.samples(1001 * ms);
    CHECK(samples.size() == 501);
    CHECK(samples[0] == std::pair<uint64_t, uint64_t>{2 * ms, 3});
    CHECK(samples[499].second == 1); // only 998 ms
    CHECK(samples[500] == std::pair<uint64_t, uint64_t>{1002 * ms, 1});
}

TEST_CASE("a span of time is given to the intervals that it covers, to each its part")
{
    Timeline timeline;
    constexpr uint64_t ms = 1'000'000'000;
    timeline.add_span(ms / 2, 2 * ms + ms / 4);
    timeline.add_span(7, 7);
    const auto samples = timeline.samples(4 * ms);
    REQUIRE(samples.size() == 4); // to the end, also where nothing happened
    CHECK(samples[0].second == ms / 2);
    CHECK(samples[1].second == ms);
    CHECK(samples[2].second == ms / 4);
    CHECK(samples[3].second == 0);
    // another timeline of the same run has the same intervals, whatever it holds
    CHECK(Timeline().samples(2500 * ms).size() == 625);
}

TEST_CASE("object numbers are kept as runs of equal stride")
{
    ObjectRuns runs;
    for (const uint64_t object : {1, 2, 3, 10, 8, 6, 5})
        runs.add(object);
    REQUIRE(runs.runs().size() == 3);
    CHECK(runs.runs()[0].last == 3);
    CHECK(runs.runs()[1].first == 10);
    CHECK(runs.runs()[1].last == 6);
    CHECK(runs.runs()[1].stride == -2);
    CHECK(runs.runs()[2].first == 5);
}
