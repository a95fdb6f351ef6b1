// The porting layer: OpenZFS's words for locks, atomics, memory and threads, over the simulation kernel.
//
// The only file of model/ that names sim/. Entering returns a guard that leaves at the end of its scope, or by exit();
// where OpenZFS goes hand over hand, mutex_enter_manual() and mutex_exit() are the plain pair. Every primitive charges
// itself. With legacy refcount tracking off, as in a production build, a zfs_refcount_t is one atomic.
#pragma once

#include "model/costs.h"
#include "model/lock_classes.h"
#include "sim/atomic.h"
#include "sim/cache_line.h"
#include "sim/condvar.h"
#include "sim/guard.h"
#include "sim/probe.h"
#include "sim/repeat.h"
#include "sim/simulator.h"

#include <cstdint>
#include <memory>

namespace dmu {

using sim::charge;
using sim::cpu_seqid;
using sim::curthread;
using sim::Duration;
using sim::microseconds;
using sim::milliseconds;
using sim::nanoseconds;
using sim::Probe;
using sim::racy;
using sim::Repeat;
using sim::seconds;
using sim::settle;
using sim::Time;
using sim::WaitKind;
using sim::WaitReason;
using sim::WaitsBecause;
using hrtime_t = sim::Time;
inline constexpr hrtime_t end_of_time{sim::limits::last_time_ps}; // no run comes to it
using sim_thread_t = sim::Thread;

// Calls so short that each costs less than its frame would: only counted.
inline void count_calls(Fn function, uint64_t calls)
{
    sim::hot.calls[static_cast<uint16_t>(function)] += calls;
}

// The tables a Simulator is made with: model/costs.h and model/lock_classes.h as data.
sim::Tables model_tables();

// ---- mutexes ----

struct kmutex_t : sim::Mutex {
    explicit kmutex_t(lock_class_t lock_class) : sim::Mutex(lock_class.number) {}
};
using mutex_guard_t = sim::MutexGuard;

SIM_ALWAYS_INLINE mutex_guard_t mutex_enter(kmutex_t &lock)
{
    return mutex_guard_t(lock);
}
SIM_ALWAYS_INLINE void mutex_enter_manual(kmutex_t &lock)
{
    lock.enter();
}
SIM_ALWAYS_INLINE void mutex_exit(kmutex_t &lock)
{
    lock.exit();
}
// Empty if somebody else holds it.
inline mutex_guard_t mutex_tryenter(kmutex_t &lock)
{
    return lock.try_enter() ? mutex_guard_t::adopt(lock) : mutex_guard_t();
}
inline bool MUTEX_HELD(const kmutex_t &lock)
{
    return lock.owned();
}

// ---- rwlocks ----

inline constexpr sim::RwMode RW_READER = sim::RwMode::reader;
inline constexpr sim::RwMode RW_WRITER = sim::RwMode::writer;
using krw_t = sim::RwMode;

struct krwlock_t : sim::RwLock {
    explicit krwlock_t(lock_class_t lock_class) : sim::RwLock(lock_class.number) {}
};
using rw_guard_t = sim::RwGuard;

SIM_ALWAYS_INLINE rw_guard_t rw_enter(krwlock_t &lock, krw_t mode)
{
    return rw_guard_t(lock, mode);
}
inline rw_guard_t rw_tryenter(krwlock_t &lock, krw_t mode)
{
    const bool taken = mode == RW_WRITER ? lock.try_enter_write() : lock.try_enter_read();
    return taken ? rw_guard_t::adopt(lock, mode) : rw_guard_t();
}
SIM_ALWAYS_INLINE void rw_enter_manual(krwlock_t &lock, krw_t mode)
{
    mode == RW_WRITER ? lock.enter_write() : lock.enter_read();
}
SIM_ALWAYS_INLINE void rw_exit(krwlock_t &lock)
{
    lock.write_held() ? lock.exit_write() : lock.exit_read();
}
// Whether an upgrade can succeed at all is the code base's: in user space it never does.
inline bool rw_tryupgrade(rw_guard_t &reader, bool can_succeed = true)
{
    return can_succeed && reader.try_upgrade();
}
// An upgrade that gives the lock up in between, whatever else is held: wrong, and simulated for what it leads to.
inline void rw_drop_and_retake(rw_guard_t &reader)
{
    sim::RwLock *lock = reader.release();
    lock->exit_read();
    lock->enter_write();
    reader = rw_guard_t::adopt(*lock, RW_WRITER);
}
inline void rw_downgrade(rw_guard_t &writer)
{
    writer.downgrade();
}
inline bool RW_WRITE_HELD(const krwlock_t &lock)
{
    return lock.write_held();
}
inline bool RW_READ_HELD(const krwlock_t &lock)
{
    return lock.read_held();
} // by anybody, as in the kernel
inline bool RW_LOCK_HELD(const krwlock_t &lock)
{
    return lock.write_held() || lock.read_held();
}

// ---- condition variables ----

using kcondvar_t = sim::CondVar;

inline void cv_wait(kcondvar_t &cv, kmutex_t &lock, WaitKind kind = WaitKind::lock)
{
    cv.wait(lock, kind);
}
// False: the time came first.
[[nodiscard]] inline bool cv_timedwait(kcondvar_t &cv, kmutex_t &lock, Time until, WaitKind kind = WaitKind::lock)
{
    return cv.timed_wait(lock, until, kind);
}
inline void cv_signal(kcondvar_t &cv)
{
    cv.signal();
}
inline void cv_broadcast(kcondvar_t &cv)
{
    cv.broadcast();
}

// ---- atomics and references ----

using atomic_uint64_t = sim::Atomic<uint64_t>;
using atomic_uint32_t = sim::Atomic<uint32_t>;

inline void atomic_inc_64(atomic_uint64_t &value)
{
    value.fetch_add(1);
}
inline void atomic_dec_64(atomic_uint64_t &value)
{
    value.fetch_add(~uint64_t{0});
}
inline uint64_t atomic_inc_64_nv(atomic_uint64_t &value)
{
    return value.fetch_add(1) + 1;
}
inline uint64_t atomic_dec_64_nv(atomic_uint64_t &value)
{
    return value.fetch_add(~uint64_t{0}) - 1;
}
inline void atomic_add_64(atomic_uint64_t &value, int64_t delta)
{
    value.fetch_add(static_cast<uint64_t>(delta));
}
inline uint64_t atomic_add_64_nv(atomic_uint64_t &value, int64_t delta)
{
    return value.fetch_add(static_cast<uint64_t>(delta)) + static_cast<uint64_t>(delta);
}
inline void atomic_inc_32(atomic_uint32_t &value)
{
    value.fetch_add(1);
}
inline uint32_t atomic_dec_32_nv(atomic_uint32_t &value)
{
    return value.fetch_add(~uint32_t{0}) - 1;
}
inline uint32_t atomic_cas_32(atomic_uint32_t &value, uint32_t expected, uint32_t desired)
{
    value.compare_exchange(expected, desired);
    return expected; // what it was
}
inline uint64_t atomic_cas_64(atomic_uint64_t &value, uint64_t expected, uint64_t desired)
{
    value.compare_exchange(expected, desired);
    return expected;
}

class zfs_refcount_t {
public:
    zfs_refcount_t() = default;
    explicit zfs_refcount_t(uint32_t count) : count_(count) {}

    // Free of charge and order: under the lock that guards the last release, and for checks.
    uint32_t peek() const { return count_.peek(); }
    // Its line is this CPU's alone. Likewise.
    bool at_hand() const { return count_.at_hand(); }

private:
    friend uint32_t zfs_refcount_add(zfs_refcount_t &);
    friend uint32_t zfs_refcount_remove(zfs_refcount_t &);
    friend uint32_t zfs_refcount_count(const zfs_refcount_t &);
    atomic_uint32_t count_;
};

// Both return the new count.
SIM_ALWAYS_INLINE uint32_t zfs_refcount_add(zfs_refcount_t &holds)
{
    return holds.count_.fetch_add(1) + 1;
}
SIM_ALWAYS_INLINE uint32_t zfs_refcount_remove(zfs_refcount_t &holds)
{
    const uint32_t before = holds.count_.fetch_add(~uint32_t{0});
    VERIFY3(before, >, 0u);
    return before - 1;
}
inline uint32_t zfs_refcount_count(const zfs_refcount_t &holds)
{
    return holds.count_.load();
}
// The same, and every change is counted under a name of its own.
template <Fn counter>
struct counted_refcount_t : zfs_refcount_t {
    using zfs_refcount_t::zfs_refcount_t;
};
template <Fn counter>
SIM_ALWAYS_INLINE uint32_t zfs_refcount_add(counted_refcount_t<counter> &holds)
{
    count_calls(counter, 1);
    return zfs_refcount_add(static_cast<zfs_refcount_t &>(holds));
}
template <Fn counter>
SIM_ALWAYS_INLINE uint32_t zfs_refcount_remove(counted_refcount_t<counter> &holds)
{
    count_calls(counter, 1);
    return zfs_refcount_remove(static_cast<zfs_refcount_t &>(holds));
}
inline bool zfs_refcount_is_zero(const zfs_refcount_t &holds)
{
    return zfs_refcount_count(holds) == 0;
}

// A lock for references that are nearly always taken and given back, and hardly ever locked out (zrlock.c): one word
// that counts references, or says locked. The mutex is taken only by those who lock, and by whoever finds it locked.
class zrlock_t {
public:
    zrlock_t();
    // A reference; waits while it is locked.
    SIM_ALWAYS_INLINE void add()
    {
        if (!word_.add_unless(locked_word, 1)) [[unlikely]]
            add_slow();
    }
    SIM_ALWAYS_INLINE void remove()
    {
        const uint32_t before = word_.fetch_add(~uint32_t{0});
        VERIFY(before != 0 && before != locked_word);
    }
    // True: no references, and nobody gets one until exit().
    [[nodiscard]] bool try_enter();
    void exit();
    // The same, but without the mutex of those who wait: wrong, and simulated for what it leads to.
    void exit_unlocked();
    bool locked() const { return word_.peek() == locked_word; }
    // A reference can be had and given back at once, and the line is this CPU's alone. Free of charge and order.
    bool at_hand() const { return !locked() && word_.at_hand(); }
    uint32_t references() const { return locked() ? 0 : word_.peek(); }

private:
    static constexpr uint32_t locked_word = ~uint32_t{0};

    // Made at the first collision: there is one zrlock for every dnode slot.
    struct Collision {
        kmutex_t lock{"dnh_zrlock"};
        kcondvar_t changed;
    };
    Collision &collision();
    void add_slow(); // after a try that found it locked

    atomic_uint32_t word_;
    std::unique_ptr<Collision> collision_;
};

inline void zrl_add(zrlock_t &lock)
{
    count_calls(Fn::zrl_add, 1);
    lock.add();
}
inline void zrl_remove(zrlock_t &lock)
{
    lock.remove();
}
[[nodiscard]] inline bool zrl_tryenter(zrlock_t &lock)
{
    return lock.try_enter();
}
inline void zrl_exit(zrlock_t &lock)
{
    lock.exit();
}
inline void zrl_exit_unlocked(zrlock_t &lock)
{
    lock.exit_unlocked();
}
inline bool ZRL_LOCKED(const zrlock_t &lock)
{
    return lock.locked();
}

// Clearing or copying a block: memory streams.
inline void charge_copy(uint64_t bytes)
{
    if (sim::hot.charged_bits != 0)
        sim::charge(Duration{sim::hot.simulator->machine().copy_ps_per_kib * static_cast<int64_t>(bytes) / 1024});
}
inline void charge_system_call()
{
    if (sim::hot.charged_bits != 0)
        sim::charge(Duration{sim::hot.simulator->machine().syscall_ps});
}
// While a scenario is set up or a recording replayed.
inline bool costs_no_time()
{
    return sim::hot.charged_bits == 0;
}

// Memory that has just been allocated and that no cache has, since it stays allocated: it is touched line by line. What
// is given back soon comes again from the CPU's own magazine, still in its cache, and is not charged.
constexpr uint64_t cache_line_bytes = 64;
inline void touch_fresh(uint64_t bytes)
{
    sim::charge_key(sim::hot.prices.miss * ((bytes + cache_line_bytes - 1) / cache_line_bytes));
}
// Contents of a block or an object: which CPUs have the lines that are looked at.
using contents_t = sim::Footprint;
// A field is looked at without its lock, in the order of simulated time; why that is safe, the place says.
inline void charge_peek()
{
    settle();
    sim::charge_key(sim::hot.prices.load_hit);
}

// ---- time and threads ----

inline Time gethrtime()
{
    return sim::now();
}
inline void delay(Duration length, WaitKind kind = WaitKind::other)
{
    sim::sleep_for(length, kind);
}
inline void delay_until(Time until, WaitKind kind = WaitKind::other)
{
    sim::sleep_until(until, kind);
}
// CPUs of the machine.
inline uint32_t max_ncpus()
{
    return sim::hot.simulator->machine().cpus;
}
// Lets others run first: the body of a loop that waits for somebody. It takes time on any machine, lest the loop go
// round for ever at one instant.
inline void kpreempt()
{
    sim::charge(sim::nanoseconds(1));
    sim::yield_cpu();
}
// A service thread: it is not waited for when the run is judged to make progress.
sim::Thread &thread_create(std::string name, std::function<void()> body);

// The simulated system goes on for ever and gets nowhere: the run ends here, and the text (printf-style) says why.
[[noreturn]] void no_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

} // namespace dmu

#include "model/kmem.h" // the rest of this layer: memory
