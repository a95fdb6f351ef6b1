// Every upper bound of the kernel, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sim::limits {

// A key is a time above a CPU number in 64 bits: ten bits name the CPU, and the largest number marks a timer, which
// comes after every CPU of the same instant.
inline constexpr unsigned cpu_bits = 10;
inline constexpr uint32_t timer_cpu = (1u << cpu_bits) - 1;
inline constexpr uint32_t cpus = timer_cpu - 1;

// What is left for time: 2^54 ps is five hours. One bit less, so that adding one charge to a key cannot wrap.
inline constexpr int64_t last_time_ps = int64_t{1} << 53;
inline constexpr int64_t charge_ps = int64_t{1} << 52;

// A function or a lock class is a 16-bit number in a lock or a frame; the (class, function) tables are dense.
inline constexpr uint32_t functions = 2048;
inline constexpr uint32_t lock_classes = 256;

// Each distinct call path is one node. A recursion that does not end would make them without bound.
inline constexpr uint32_t call_nodes = 1u << 20;
inline constexpr uint32_t call_depth = 512;

// Linux gives a process 65,530 mappings and a guarded stack takes two, so guards end at 30,000 threads; above that the
// stacks are one mapping without guards, each with a canary that is checked at every switch.
inline constexpr uint32_t guarded_threads = 30'000;
inline constexpr uint32_t threads = 200'000;
inline constexpr size_t guarded_stack_bytes = 128 << 10;
inline constexpr size_t unguarded_stack_bytes = 32 << 10;

// A chain of "waits for a lock held by": longer than any honest nesting of locks.
inline constexpr uint32_t wait_chain = 64;

// Without one completed step of the workload in this many scheduling decisions, the run is called a livelock: time may
// stand still meanwhile, so that no patience ends.
inline constexpr uint64_t decisions_without_progress = 200'000'000;

// Timers go on for ever where service threads look after something now and then. When every thread of the workload has
// been asleep for this long with nothing but others to wake it, nobody will: no txg, however large, takes that long.
inline constexpr int64_t asleep_ps = int64_t{600} * 1'000'000'000'000;

// Warnings about the order of locks in one run: one for each pair of classes, and a reader has had enough of them then.
inline constexpr size_t order_warnings = 16;

static_assert(cpus < timer_cpu);
static_assert(guarded_threads <= threads);
static_assert(charge_ps < last_time_ps);

} // namespace sim::limits
