// Many threads: what each costs in memory, where they end, and what happens to one that runs over its stack.
#include "sim/errors.h"
#include "sim/fiber.h"
#include "sim/guard.h"
#include "sim/limits.h"
#include "tests/sim/kernel_fixture.h"

#include <csignal>
#include <cstdio>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace sim;

namespace {

uint64_t resident_bytes()
{
    std::FILE *file = std::fopen("/proc/self/statm", "r");
    REQUIRE(file != nullptr);
    unsigned long all = 0;
    unsigned long resident = 0;
    const int read = std::fscanf(file, "%lu %lu", &all, &resident);
    std::fclose(file);
    REQUIRE(read == 2);
    return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Goes down `bytes` of stack, writing all the way.
__attribute__((noinline)) uint64_t descend(uint64_t bytes)
{
    volatile char room[1024];
    for (size_t i = 0; i < sizeof room; ++i)
        room[i] = static_cast<char>(bytes);
    if (bytes <= sizeof room)
        return static_cast<uint64_t>(room[0]);
    return descend(bytes - sizeof room) + static_cast<uint64_t>(room[1]);
}

// How a process ends in which thread number `which` of as many and one more uses `bytes` of stack and lets another run.
int end_of_overrun(uint32_t which, uint64_t bytes)
{
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::signal(SIGABRT, SIG_DFL); // doctest's own would report
        std::signal(SIGSEGV, SIG_DFL);
        (void)!std::freopen("/dev/null", "w", stderr);
        Simulator simulator(sim_test::uniform(2), sim_test::tables, 1);
        for (uint32_t i = 0; i <= which; ++i) {
            simulator.spawn("t", {}, [i, which, bytes] {
                if (i == which)
                    (void)descend(bytes);
                sleep_for(nanoseconds(1), WaitKind::other);
            });
        }
        _exit(simulator.run().ending == Ending::finished ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

} // namespace

#ifndef SIM_ASAN // which keeps memory of its own for each thread, and watches stacks itself

TEST_CASE("a hundred thousand threads take at most 6 KB of memory each while they all run")
{
    constexpr uint64_t threads = 100'000;
    Simulator simulator(sim_test::uniform(16), sim_test::tables, 1);
    Mutex mutex(0);
    const uint64_t before = resident_bytes();
    uint64_t most = 0;
    uint64_t entered = 0;
    for (uint64_t i = 0; i < threads; ++i) {
        simulator.spawn("t", {}, [&] {
            sleep_for(microseconds(1), WaitKind::other);
            MutexGuard held(mutex);
            charge(nanoseconds(10));
            if (++entered == threads)
                most = resident_bytes();
        });
    }
    CHECK(simulator.run().ending == Ending::finished);
    CHECK(entered == threads);
    CHECK((most - before) / threads <= 6 * 1024);
}

TEST_CASE("a thread that runs over its stack is found: by its guard page, or by the canary at the next switch")
{
    constexpr uint64_t kib = 1024;
    CHECK(end_of_overrun(3, limits::guarded_stack_bytes - 8 * kib) == 0);
    CHECK(end_of_overrun(3, limits::guarded_stack_bytes + 4 * kib) == SIGSEGV);
    // Without guard pages: the first lies above one all the same, the second above the first.
    CHECK(end_of_overrun(limits::guarded_threads + 1, limits::unguarded_stack_bytes - 4 * kib) == 0);
    CHECK(end_of_overrun(limits::guarded_threads + 1, limits::unguarded_stack_bytes + 6 * kib) == SIGABRT);
}

#endif

TEST_CASE("one thread more than there may be is refused with the limit in the message")
{
    Simulator simulator(sim_test::uniform(1), sim_test::tables, 1);
    ThreadOptions later;
    later.start = Time{} + seconds(1);
    for (uint32_t i = 0; i < limits::threads; ++i)
        simulator.spawn("t", later, [] {});
    CHECK_THROWS_WITH_AS(simulator.spawn("one more", later, [] {}),
                         ("more than " + std::to_string(limits::threads) + " simulated threads in one run").c_str(),
                         LimitReached);
}

TEST_CASE("stacks begin at eight places within a page, an odd number of pages apart")
{
    StackPool pool;
    const Stack first = pool.take();
    const Stack second = pool.take();
    CHECK((first.top - first.bottom) % 4096 == 0);
    const auto pages = static_cast<uint64_t>(first.top - first.bottom) / 4096 + 1; // with its guard
    CHECK(pages % 2 == 1);
    CHECK(first.slot + 1 == second.slot); // the place is the slot's number modulo eight
    CHECK(*first.canary == canary_value);
    pool.give_back(second);
    CHECK(pool.take().top == second.top);
}
