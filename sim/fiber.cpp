#include "sim/fiber.h"

#include "sim/errors.h"
#include "sim/limits.h"
#include "sim/verify.h"

#include <boost/context/detail/fcontext.hpp>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef SIM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace sim {

namespace context = boost::context::detail;

namespace {

constexpr size_t page = 4096;
constexpr size_t colours = 8;
constexpr size_t colour_bytes = 448;
constexpr size_t guarded_stride = limits::guarded_stack_bytes + page;
constexpr size_t unguarded_stride = limits::unguarded_stack_bytes + page;
static_assert((guarded_stride / page) % 2 == 1, "an even stride puts every stack on the same cache sets");
static_assert((unguarded_stride / page) % 2 == 1);

char *map(size_t bytes)
{
    void *mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        throw LimitReached("no memory for the stack of another simulated thread (mmap of " + std::to_string(bytes) +
                           " bytes failed)");
#ifdef SIM_ASAN
    // What lay here before, the stacks of an earlier run, may have left frames that never returned.
    __asan_unpoison_memory_region(mapped, bytes);
#endif
    return static_cast<char *>(mapped);
}

#ifdef SIM_ASAN
// Where the process's own stack lies; known after the first switch away from it.
const void *process_stack_bottom = nullptr;
size_t process_stack_bytes = 0;
#endif

} // namespace

StackPool::~StackPool()
{
    for (char *stack : guarded_)
        munmap(stack, guarded_stride);
    if (unguarded_ != nullptr)
        munmap(unguarded_, page + size_t{limits::threads - limits::guarded_threads} * unguarded_stride);
}

Stack StackPool::make_guarded(uint32_t slot)
{
    char *base = map(guarded_stride);
    guarded_.push_back(base);
    if (mprotect(base, page, PROT_NONE) != 0)
        throw LimitReached(
            "no guard page for the stack of another simulated thread: the system allows no more mappings");
    return {base + guarded_stride, base + page, &no_canary, slot};
}

Stack StackPool::make_unguarded(uint32_t slot)
{
    if (unguarded_ == nullptr) {
        unguarded_ = map(page + size_t{limits::threads - limits::guarded_threads} * unguarded_stride);
        (void)mprotect(unguarded_, page, PROT_NONE);
    }
    const uint32_t index = slot - limits::guarded_threads;
    char *bottom = unguarded_ + page + size_t{index} * unguarded_stride;
    char *top = bottom + unguarded_stride - sizeof(uint64_t);
    *reinterpret_cast<uint32_t *>(top) = canary_value;
    uint32_t *below = index == 0 ? &no_canary : reinterpret_cast<uint32_t *>(bottom - sizeof(uint64_t));
    return {top, bottom, below, slot};
}

Stack StackPool::take()
{
    if (!free_.empty()) {
        const Stack stack = free_.back();
        free_.pop_back();
#ifdef SIM_ASAN
        // Its last owner left frames that never returned.
        __asan_unpoison_memory_region(stack.bottom, static_cast<size_t>(stack.top - stack.bottom));
#endif
        return stack;
    }
    if (made_ == limits::threads)
        throw LimitReached("more than " + std::to_string(limits::threads) + " simulated threads at a time");
    const uint32_t slot = made_++;
    return slot < limits::guarded_threads ? make_guarded(slot) : make_unguarded(slot);
}

void StackPool::give_back(const Stack &stack)
{
    free_.push_back(stack);
}

void stack_overrun()
{
    // The neighbour's frames are gone: nothing that unwinds or formats can be trusted.
    static const char text[] = "dmusim: a simulated thread ran over the end of its stack\n";
    (void)!write(2, text, sizeof text - 1);
    abort();
}

// What runs first on a new stack, and both halves of the library's switch.
struct FiberEntry {
    [[noreturn]] static void enter(Fiber &self)
    {
        self.entry_(self.argument_);
        abort(); // entry must not return
    }

    // The jump leaves the two sides of the switch where a function's first two arguments are.
    [[noreturn]] static void enter_by_jump(const SavedRegisters *, Fiber *self) { enter(*self); }

    [[noreturn]] static void enter_by_library(context::transfer_t from)
    {
        Fiber &self = *static_cast<Fiber *>(from.data)->switching_to_;
        arrive(self, from);
        enter(self);
    }

    static void arrive([[maybe_unused]] Fiber &self, context::transfer_t from)
    {
        Fiber &left = *static_cast<Fiber *>(from.data);
        left.context_ = from.fctx;
#ifdef SIM_ASAN
        const void *left_bottom = nullptr;
        size_t left_bytes = 0;
        __sanitizer_finish_switch_fiber(self.fake_stack_, &left_bottom, &left_bytes);
        if (left.stack_.top == nullptr) {
            process_stack_bottom = left_bottom;
            process_stack_bytes = left_bytes;
        }
#endif
    }

    static void leave([[maybe_unused]] Fiber &self, [[maybe_unused]] const Fiber &to)
    {
#ifdef SIM_ASAN
        if (to.stack_.top == nullptr)
            __sanitizer_start_switch_fiber(&self.fake_stack_, process_stack_bottom, process_stack_bytes);
        else
            __sanitizer_start_switch_fiber(&self.fake_stack_, to.stack_.bottom,
                                           static_cast<size_t>(to.stack_.top - to.stack_.bottom));
#endif
    }
};

void Fiber::switch_by_library(Fiber &next)
{
    if (&next == this)
        return;
    switching_to_ = &next;
    FiberEntry::leave(*this, next);
    const context::transfer_t from = context::jump_fcontext(next.context_, this);
    FiberEntry::arrive(*this, from);
}

void Fiber::start(const Stack &stack, void (*entry)(void *), void *argument)
{
    static_assert(sizeof(Exceptions) == 16);
    static_assert(offsetof(Fiber, registers_) == 0);
    exceptions_in_flight = reinterpret_cast<Exceptions *>(abi::__cxa_get_globals());
    stack_ = stack;
    entry_ = entry;
    argument_ = argument;
    const size_t colour = (stack.slot % colours) * colour_bytes;
    char *top = reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(stack.top - colour) & ~uintptr_t{15});
#ifdef SIM_OWN_SWITCH
    // As if the entry had been called: a return address, here none, lies below an aligned stack pointer.
    top -= sizeof(void *);
    *reinterpret_cast<void **>(top) = nullptr;
    registers_ = {top, reinterpret_cast<void *>(&FiberEntry::enter_by_jump), nullptr, nullptr};
#else
    context_ = context::make_fcontext(top, static_cast<size_t>(top - stack.bottom), FiberEntry::enter_by_library);
    VERIFY(context_ != nullptr);
#endif
}

} // namespace sim
