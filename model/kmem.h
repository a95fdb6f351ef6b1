// Memory from the kernel's caches: what an allocation costs, which depends on who else allocates.
//
// Blocks of one size class come from a cache. Each CPU has a magazine of free blocks in front of it, so that what is
// freed soon comes back at once, on the same CPU, for the price of the machine's fast path. An empty magazine is
// refilled with half its rounds, a full one gives half back, and both happen under the cache's one lock (skc_lock): so
// memory that one CPU allocates and another one frees makes all of them meet. Followed: the Solaris porting layer's
// spl-kmem-cache.c of 2016 to 2019, with its magazine sizes. Only the charge is here; the object itself is the
// caller's.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <vector>

#include "model/spl.h"

namespace dmu {

constexpr uint32_t kmem_class_count = 24;

// Classes of 32, 64, 96, 128, 192, 256 bytes, and powers of two from there.
constexpr uint32_t kmem_class(uint64_t bytes)
{
    if (bytes <= 32)
        return 0;
    if (bytes <= 128)
        return bytes <= 64 ? 1 : bytes <= 96 ? 2 : 3;
    if (bytes <= 192)
        return 4;
    const uint32_t index = static_cast<uint32_t>(std::bit_width(bytes - 1)) - 3; // 256: 5
    return index < kmem_class_count ? index : kmem_class_count - 1;
}

// Rounds of a magazine (spl_magazine_size): few of large blocks.
constexpr uint32_t kmem_magazine_rounds(uint32_t size_class)
{
    return size_class >= 14 ? 4 : size_class >= 10 ? 16 : size_class >= 7 ? 64 : size_class >= 5 ? 128 : 256;
}
static_assert(kmem_class(128 << 10) == 14 && kmem_class(8 << 10) == 10 && kmem_class(1 << 10) == 7);

struct kmem_arena_t {
    kmem_arena_t(); // REQUIRES: a simulated thread, since the machine's CPUs are counted
    ~kmem_arena_t();
    kmem_arena_t(const kmem_arena_t &) = delete;
    kmem_arena_t &operator=(const kmem_arena_t &) = delete;

    struct cache_t {
        kmutex_t skc_lock{"skc_lock"};
        uint64_t refills = 0, flushes = 0;
    };

    std::vector<std::array<uint16_t, kmem_class_count>> magazines; // rounds, by CPU
    std::array<cache_t, kmem_class_count> caches;

    void refill(uint32_t size_class); // and takes one
    void flush(uint32_t size_class);  // and puts one in
};

inline kmem_arena_t *kmem_arena = nullptr; // of the pool that is being simulated

inline void kmem_alloc(uint64_t bytes)
{
    count_calls(Fn::kmem_alloc, 1);
    sim::charge_key(sim::hot.prices.allocate);
    if (kmem_arena == nullptr)
        return;
    const uint32_t size_class = kmem_class(bytes);
    uint16_t &rounds = kmem_arena->magazines[cpu_seqid()][size_class];
    if (rounds == 0) [[unlikely]]
        kmem_arena->refill(size_class);
    else
        --rounds;
}
inline void kmem_zalloc(uint64_t bytes)
{
    kmem_alloc(bytes);
}
inline void kmem_free(uint64_t bytes)
{
    sim::charge_key(sim::hot.prices.free);
    if (kmem_arena == nullptr)
        return;
    const uint32_t size_class = kmem_class(bytes);
    uint16_t &rounds = kmem_arena->magazines[cpu_seqid()][size_class];
    if (rounds >= kmem_magazine_rounds(size_class)) [[unlikely]]
        kmem_arena->flush(size_class);
    else
        ++rounds;
}

} // namespace dmu
