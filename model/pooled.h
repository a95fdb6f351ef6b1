// Objects that come and go by the million take their memory from a pool of their type: what malloc costs the host for
// one is most of a simulated lock. Nothing of this is simulated; what the real allocator costs is kmem.h's.
//
//     struct dnode_t final : pooled_t<dnode_t> { ... };
//
// Under the address sanitizer there is no pool, so that it sees who uses what is gone.
#pragma once

#include <cstddef>
#include <new>

#include <boost/pool/singleton_pool.hpp>

#include "model/spl.h"

namespace dmu {

#if defined(SIM_ASAN)
template <class T>
struct pooled_t {
};
#else
// T is final.
template <class T>
struct pooled_t {
    static void *operator new(std::size_t bytes)
    {
        static_assert(alignof(T) <= alignof(void *));
        VERIFY3(bytes, ==, sizeof(T));
        void *memory = pool<T>::malloc();
        if (memory == nullptr)
            throw std::bad_alloc();
        return memory;
    }
    static void operator delete(void *memory) { pool<T>::free(memory); }

private:
    static constexpr unsigned at_a_time = 32; // objects; more would be memory that small runs do not need
    // Threads of the host there are none, so it needs no lock.
    template <class Object>
    using pool = boost::singleton_pool<Object, sizeof(Object), boost::default_user_allocator_malloc_free,
                                       boost::details::pool::null_mutex, at_a_time, at_a_time>;
};
#endif

} // namespace dmu
