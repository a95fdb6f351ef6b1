// What one operation of the kernel costs the host: instructions and nanoseconds.
//
// The work is the one that other simulators were measured with: every thread thinks for 1 to 2000 ns, enters one of L
// mutexes, holds it for 100 ns, leaves. Variants put a rwlock, a condition variable or an atomic in the mutex's place.
//
//   kernel_benchmark [mutex|rwlock|condvar|atomic] [T=16] [L=64] [N=1000000] [C=cpus] [profile=flat|...] [policy=...]
//                    [record] [no-accounts] [wait-turn]
//
// L=0 gives each thread a mutex of its own. `record` listens to every hold and wait. `no-accounts` keeps no statistics
// of holds. `wait-turn` switches release ahead of time off. Time is process CPU time; for instructions run it under
// `valgrind --tool=callgrind` twice, with N and 2N operations, and divide the difference by N (README.md).
#include "sim/atomic.h"
#include "sim/condvar.h"
#include "sim/guard.h"
#include "sim/probe.h"
#include "sim/simulator.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <time.h>
#include <unistd.h>
#include <vector>

using namespace sim;

namespace {

struct Work {
    std::string primitive = "mutex";
    std::string profile = "flat";
    std::string policy = "adaptive-ttas";
    uint64_t threads = 16;
    uint64_t locks = 64;
    uint64_t operations = 1'000'000;
    uint64_t cpus = 0;
    bool record = false;
    bool count = true;
    bool wait_turn = false;

    uint64_t rounds() const { return operations / threads > 0 ? operations / threads : 1; }
};

// The generator of the programs it is compared with, so that the work is the same.
struct Generator {
    uint64_t state;

    explicit Generator(uint64_t id) : state((id + 1) * 0xd1342543de82ef95ull)
    {
        state ^= state >> 29;
        state *= 0xff51afd7ed558ccdull;
        state ^= state >> 32;
    }
    uint64_t next()
    {
        uint64_t z = (state += 0x9e3779b97f4a7c15ull);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
};

struct BenchMutex : Mutex {
    BenchMutex() : Mutex(0) {}
};
struct BenchRwLock : RwLock {
    BenchRwLock() : RwLock(0) {}
};

struct Places {
    std::vector<BenchMutex> mutexes;
    std::vector<BenchRwLock> rwlocks;
    std::vector<CondVar> condvars;
    std::vector<Atomic<uint64_t>> atomics;

    explicit Places(size_t locks) : mutexes(locks), rwlocks(locks), condvars(locks), atomics(locks) {}
};

struct Recorder final : Observer {
    uint64_t holds = 0;
    uint64_t waits = 0;

    bool wants_holds() const override { return true; }
    void held(const LockHold &) override { ++holds; }
    void waited(const LockWait &) override { ++waits; }
};

constexpr Duration hold = picoseconds(100'000);

void mutex_rounds(const Work &work, Places &places, uint64_t id)
{
    Generator random(id);
    // Its own mutex, or one of all.
    BenchMutex *const mutexes = &places.mutexes[work.locks > 0 ? 0 : id];
    const uint64_t locks = work.locks;
    for (uint64_t i = work.rounds(); i > 0; --i) {
        const uint64_t z = random.next();
        charge(picoseconds(static_cast<int64_t>(1 + (((z & 0xffffffff) * 2000) >> 32)) * 1000));
        Mutex &mutex = mutexes[((z >> 32) * locks) >> 32];
        mutex.enter();
        charge(hold);
        mutex.exit();
    }
}

void rwlock_rounds(const Work &work, Places &places, uint64_t id)
{
    Generator random(id);
    for (uint64_t i = work.rounds(); i > 0; --i) {
        const uint64_t z = random.next();
        charge(picoseconds(static_cast<int64_t>(1 + (((z & 0xffffffff) * 2000) >> 32)) * 1000));
        RwLock &lock = places.rwlocks[work.locks > 0 ? ((z >> 32) * work.locks) >> 32 : id];
        // One in sixteen writes.
        RwGuard held(lock, (z & 15) == 0 ? RwMode::writer : RwMode::reader);
        charge(hold);
    }
}

// Pairs hand a token to and fro.
void condvar_rounds(const Work &work, Places &places, uint64_t id, std::vector<uint64_t> &turn)
{
    const uint64_t pair = id / 2;
    Mutex &mutex = places.mutexes[pair];
    CondVar &cv = places.condvars[pair];
    if (pair * 2 + 1 >= work.threads)
        return;
    for (uint64_t i = work.rounds(); i > 0; --i) {
        MutexGuard held(mutex);
        while (turn[pair] != id % 2)
            cv.wait(mutex, WaitKind::other);
        turn[pair] = 1 - id % 2;
        cv.signal();
    }
}

void atomic_rounds(const Work &work, Places &places, uint64_t id)
{
    Generator random(id);
    for (uint64_t i = work.rounds(); i > 0; --i) {
        const uint64_t z = random.next();
        charge(picoseconds(static_cast<int64_t>(1 + (((z & 0xffffffff) * 2000) >> 32)) * 1000));
        places.atomics[work.locks > 0 ? ((z >> 32) * work.locks) >> 32 : id].fetch_add(1);
    }
}

double cpu_seconds()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

uint64_t resident_bytes()
{
    std::FILE *file = std::fopen("/proc/self/statm", "r");
    unsigned long all = 0;
    unsigned long resident = 0;
    if (file == nullptr || std::fscanf(file, "%lu %lu", &all, &resident) != 2)
        resident = 0;
    if (file != nullptr)
        std::fclose(file);
    return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

Work parse(int count, char **arguments)
{
    Work work;
    for (int i = 1; i < count; ++i) {
        const std::string word = arguments[i];
        unsigned long long number = 0;
        char letter = 0;
        if (std::sscanf(word.c_str(), "%c=%llu", &letter, &number) == 2) {
            (letter == 'T'   ? work.threads
             : letter == 'L' ? work.locks
             : letter == 'C' ? work.cpus
                             : work.operations) = number;
        } else if (word.rfind("profile=", 0) == 0) {
            work.profile = word.substr(8);
        } else if (word.rfind("policy=", 0) == 0) {
            work.policy = word.substr(7);
        } else if (word == "record") {
            work.record = true;
        } else if (word == "no-accounts") {
            work.count = false;
        } else if (word == "wait-turn") {
            work.wait_turn = true;
        } else {
            work.primitive = word;
        }
    }
    if (work.cpus == 0)
        work.cpus = work.threads < 16 ? work.threads : 16;
    return work;
}

} // namespace

int main(int count, char **arguments)
try {
    const Work work = parse(count, arguments);
    const MachineProfile *profile = find_machine_profile(work.profile);
    if (profile == nullptr || find_lock_policy(work.policy) == nullptr) {
        std::fprintf(stderr, "no such profile or policy\n");
        return 2;
    }
    Machine machine = profile->machine;
    machine.cpus = static_cast<uint32_t>(work.cpus);
    machine.lock_policy = work.policy;

    static constexpr FunctionInfo functions[] = {{"work", 0, 0, true}};
    static constexpr LockClassInfo lock_classes[] = {{"lock", nullptr}};
    Recorder recorder;
    Simulator simulator(machine, {functions, lock_classes}, 1, work.record ? &recorder : nullptr);
    simulator.set_release_ahead(!work.wait_turn);
    simulator.set_counting(work.count);

    const uint64_t locks = work.locks > 0 && work.primitive != "condvar" ? work.locks : work.threads;
    Places places(locks);
    std::vector<uint64_t> turn(work.threads);
    const uint64_t before = resident_bytes();
    for (uint64_t id = 0; id < work.threads; ++id)
        simulator.spawn("t", {}, [&work, &places, &turn, id] {
            if (work.primitive == "mutex")
                mutex_rounds(work, places, id);
            else if (work.primitive == "rwlock")
                rwlock_rounds(work, places, id);
            else if (work.primitive == "condvar")
                condvar_rounds(work, places, id, turn);
            else
                atomic_rounds(work, places, id);
        });
    const double start = cpu_seconds();
    const End end = simulator.run();
    const double used = cpu_seconds() - start;
    const double operations = static_cast<double>(work.rounds()) * static_cast<double>(work.threads);
    std::printf("%s profile=%s policy=%s T=%lu L=%lu C=%lu%s: %.1f ns an operation, %.3f decisions, "
                "%lu bytes resident a thread, simulated %ld ns, waits %lu ns%s%s\n",
                work.primitive.c_str(), work.profile.c_str(), work.policy.c_str(),
                static_cast<unsigned long>(work.threads), static_cast<unsigned long>(work.locks),
                static_cast<unsigned long>(work.cpus), work.record ? " recorded" : "", used * 1e9 / operations,
                static_cast<double>(simulator.decisions()) / operations,
                static_cast<unsigned long>((resident_bytes() - before) / work.threads), static_cast<long>(end.at.ns()),
                static_cast<unsigned long>(simulator.measurements().locks.waits[0].wait.total() / 1000),
                end.text.empty() ? "" : ", ", end.text.c_str());
    return end.ending == Ending::finished ? 0 : 1;
} catch (const LimitReached &reached) {
    std::fprintf(stderr, "%s\n", reached.what());
    return 1;
}
