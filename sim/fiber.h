// One stack to run on, and the switch from one to another.
//
// fiber.cpp is the only file that names Boost.Context. It uses the plain fcontext switch, which saves registers and nothing
// else, and adds the two things that C++ needs on top: the exceptions being handled belong to a stack (otherwise a switch
// inside a catch block is a use after free that a plain run hides), and the address sanitizer has to be told which stack is
// in use.
//
// Stacks have an odd stride in pages and start at one of eight offsets within a page, so that the frames of many threads do
// not all fall on the same cache sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sim {

struct Stack {
    char *top = nullptr;
    char *bottom = nullptr;
    uint64_t *canary = nullptr; // the word below `bottom`; a running over destroys it first
    uint32_t slot = 0;
};

// Hands out stacks and takes them back. The first limits::guarded_threads of them have a guard page each; the others lie
// in one mapping, the first of them above a guard page, each above a canary word in its neighbour's topmost page: there it
// costs no page of its own.
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
    // Goes on in `next`; returns when somebody switches back to this one. REQUIRES: this one is running.
    void switch_to(Fiber &next);

    const Stack &stack() const { return stack_; }

private:
    friend struct FiberEntry;

    struct Exceptions { // __cxa_eh_globals of the Itanium ABI
        void *caught = nullptr;
        unsigned int uncaught = 0;
    };

    void *context_ = nullptr;
    Exceptions exceptions_;
    Stack stack_;
    void (*entry_)(void *) = nullptr;
    void *argument_ = nullptr;
    void *fake_stack_ = nullptr; // the address sanitizer's
};

} // namespace sim
