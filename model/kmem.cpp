#include "model/kmem.h"

namespace dmu {

kmem_arena_t::kmem_arena_t() : magazines(max_ncpus())
{
    kmem_arena = this;
}

kmem_arena_t::~kmem_arena_t()
{
    if (kmem_arena == this)
        kmem_arena = nullptr;
}

// Moving half a magazine takes about as long as one allocation; the thread may be on another CPU when it has the lock.
void kmem_arena_t::refill(uint32_t size_class)
{
    Probe probe{Fn::spl_cache_refill};
    auto held = mutex_enter(caches[size_class].skc_lock);
    ++caches[size_class].refills;
    sim::charge_key(sim::hot.prices.allocate);
    magazines[cpu_seqid()][size_class] = static_cast<uint16_t>((kmem_magazine_rounds(size_class) + 1) / 2 - 1);
}

void kmem_arena_t::flush(uint32_t size_class)
{
    Probe probe{Fn::spl_cache_flush};
    auto held = mutex_enter(caches[size_class].skc_lock);
    ++caches[size_class].flushes;
    sim::charge_key(sim::hot.prices.free);
    uint16_t &rounds = magazines[cpu_seqid()][size_class];
    const uint32_t half = (kmem_magazine_rounds(size_class) + 1) / 2;
    rounds = static_cast<uint16_t>(rounds >= half ? rounds - half + 1 : rounds + 1);
}

} // namespace dmu
