// Task queues: how many tasks run at once, and when they are all done.
#include <doctest/doctest.h>

#include "model/taskq.h"
#include "tests/model/pool_fixture.h"

using namespace dmu_test;

TEST_CASE("a queue with two threads runs two tasks at a time")
{
    run_pool(quiet_config(), [](spa_t &) {
        taskq_t queue("queue", 2);
        queue.start();
        int done = 0;
        for (int i = 0; i < 5; ++i)
            queue.dispatch([&] {
                delay(milliseconds(1));
                ++done;
            });
        queue.wait();
        CHECK(done == 5);
        CHECK(now_ps() == 3 * ms);
        queue.stop();
    });
}

TEST_CASE("a queue that ends runs first what was dispatched to it")
{
    run_pool(quiet_config(), [](spa_t &) {
        taskq_t queue("queue", 1);
        queue.start();
        int done = 0;
        for (int i = 0; i < 3; ++i)
            queue.dispatch([&] { ++done; });
        queue.stop();
        CHECK(done == 3);
    });
}
