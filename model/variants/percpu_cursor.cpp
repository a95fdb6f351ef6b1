// How a thread takes a number from its CPU's cursor.
//
// "swap" (dbeb879699, 2017): it uses the number it read, and moves the cursor when the number turned out good or bad.
// Two threads of one CPU may read the same number, and what one of them allocates the other finds taken. "add" (since
// 9631681b75, 2017): the cursor moves before the number is tried, so a thread that shares it gets the one after.
#include "model/variants/object_alloc_forms.h"

namespace dmu {

namespace {

class swap_cursor_t final : public percpu_cursor_t {
public:
    bool chunk_spent(uint64_t object, uint32_t, uint64_t chunk_objects) const override
    {
        return object % chunk_objects == 0;
    }
    uint64_t take(atomic_uint64_t &, uint64_t object, uint32_t) const override { return object; }
    void taken(atomic_uint64_t &cursor, uint64_t object, uint32_t slots) const override
    {
        cursor.exchange(object + slots);
    }
};

class add_cursor_t final : public percpu_cursor_t {
public:
    bool chunk_spent(uint64_t object, uint32_t slots, uint64_t chunk_objects) const override
    {
        return object % chunk_objects == 0 || (object + slots - 1) % chunk_objects < slots;
    }
    uint64_t take(atomic_uint64_t &cursor, uint64_t, uint32_t slots) const override { return cursor.fetch_add(slots); }
    void taken(atomic_uint64_t &, uint64_t, uint32_t) const override {}
};

} // namespace

std::unique_ptr<const percpu_cursor_t> make_percpu_cursor_swap()
{
    return std::make_unique<swap_cursor_t>();
}

std::unique_ptr<const percpu_cursor_t> make_percpu_cursor_add()
{
    return std::make_unique<add_cursor_t>();
}

} // namespace dmu
