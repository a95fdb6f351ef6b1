// One stack to run on, and the switch from one to another.
//
// On x86-64 the switch is our own (fiber_switch.h). Elsewhere, and under the address sanitizer, which has to be told
// which stack is in use, it is Boost.Context's plain fcontext switch; fiber.cpp is the only file that names it. Either
// way one thing has to be added for C++: the exceptions being handled belong to a stack. Otherwise a switch inside a
// catch block is a use after free that a plain run hides.
//
// Stacks have an odd stride in pages and start at one of eight offsets within a page, so that the frames of many
// threads do not all fall on the same cache sets.
#pragma once

#include "sim/fiber_switch.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define SIM_ASAN 1
#endif
#if defined(__x86_64__) && !defined(SIM_ASAN)
#define SIM_OWN_SWITCH 1
#endif

namespace sim {

// What the word next to an unguarded stack holds; a guarded stack's pointer leads to a word of that value.
inline constexpr uint32_t canary_value = 0x6b1ad5c3;
inline uint32_t no_canary = canary_value;

[[noreturn]] void stack_overrun();

struct Stack {
    char *top = nullptr;
    char *bottom = nullptr;
    uint32_t *canary = &no_canary; // the word below `bottom`; a running over destroys it first
    uint32_t slot = 0;
};

// Hands out stacks and takes them back. The first limits::guarded_threads of them have a guard page each; the others
// lie in one mapping, the first of them above a guard page, each above a canary word in its neighbour's topmost page:
// there it costs no page of its own.
class StackPool {
public:
    StackPool() = default;
    StackPool(const StackPool &) = delete;
    StackPool &operator=(const StackPool &) = delete;
    ~StackPool();

    // Throws LimitReached (errors.h) when the system has no memory left to map, or limits::threads are in use.
    Stack take();
    void give_back(const Stack &stack);

private:
    Stack make_guarded(uint32_t slot);
    Stack make_unguarded(uint32_t slot);

    std::vector<Stack> free_;
    std::vector<char *> guarded_;
    char *unguarded_ = nullptr;
    uint32_t made_ = 0;
};

class Fiber {
public:
    // The fiber of whoever calls run(): it has the process's own stack.
    Fiber() = default;
    Fiber(const Fiber &) = delete;
    Fiber &operator=(const Fiber &) = delete;

    // `entry` is called with `argument` at the first switch to this fiber; it must not return.
    void start(const Stack &stack, void (*entry)(void *), void *argument);
    // Goes on in `next`, which may be this one; returns when somebody switches back. REQUIRES: this one is running.
    void switch_to(Fiber &next)
    {
        if (*stack_.canary != canary_value) [[unlikely]]
            stack_overrun();
        exceptions_ = *exceptions_in_flight;
        *exceptions_in_flight = next.exceptions_;
#ifdef SIM_OWN_SWITCH
        switch_registers(&registers_, &next.registers_);
#else
        switch_by_library(next);
#endif
    }

    const Stack &stack() const
    {
        return stack_;
    }

private:
    friend struct FiberEntry;

    struct Exceptions { // __cxa_eh_globals of the Itanium ABI
        void *caught = nullptr;
        uint64_t uncaught = 0;
    };

    void switch_by_library(Fiber &next);

    // The exceptions in flight of whoever runs; at one address, since one host thread runs everything.
    __attribute__((visibility("hidden"))) static inline Exceptions *exceptions_in_flight = nullptr;

    SavedRegisters registers_;      // first: its address is the fiber's, by which a new one knows itself
    void *context_ = nullptr;       // Boost.Context's
    Fiber *switching_to_ = nullptr; // by Boost.Context
    Exceptions exceptions_;
    Stack stack_;
    void (*entry_)(void *) = nullptr;
    void *argument_ = nullptr;
    void *fake_stack_ = nullptr; // the address sanitizer's
};

} // namespace sim
