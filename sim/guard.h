// What entering a lock returns: it is left at the end of the scope, or earlier by exit().
#pragma once

#include "sim/mutex.h"
#include "sim/rwlock.h"

#include <utility>

namespace sim {

class [[nodiscard]] MutexGuard {
public:
    MutexGuard() = default; // holds nothing
    SIM_ALWAYS_INLINE explicit MutexGuard(Mutex &mutex) : mutex_(&mutex) { mutex.enter(); }
    SIM_ALWAYS_INLINE static MutexGuard adopt(Mutex &held)
    {
        MutexGuard guard;
        guard.mutex_ = &held;
        return guard;
    }
    MutexGuard(MutexGuard &&other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}
    MutexGuard &operator=(MutexGuard &&other) noexcept(false)
    {
        if (this != &other) {
            exit();
            mutex_ = std::exchange(other.mutex_, nullptr);
        }
        return *this;
    }
    SIM_ALWAYS_INLINE ~MutexGuard() noexcept(false) { exit(); }

    SIM_ALWAYS_INLINE void exit()
    {
        if (mutex_ != nullptr)
            std::exchange(mutex_, nullptr)->exit();
    }
    // Gives up the guard, not the lock: somebody else will leave it.
    Mutex *release() { return std::exchange(mutex_, nullptr); }
    explicit operator bool() const { return mutex_ != nullptr; }

private:
    Mutex *mutex_ = nullptr;
};

enum class RwMode : uint8_t { reader, writer };

class [[nodiscard]] RwGuard {
public:
    RwGuard() = default; // holds nothing
    SIM_ALWAYS_INLINE RwGuard(RwLock &lock, RwMode mode) : lock_(&lock), mode_(mode)
    {
        mode == RwMode::writer ? lock.enter_write() : lock.enter_read();
    }
    static RwGuard adopt(RwLock &held, RwMode mode)
    {
        RwGuard guard;
        guard.lock_ = &held;
        guard.mode_ = mode;
        return guard;
    }
    RwGuard(RwGuard &&other) noexcept : lock_(std::exchange(other.lock_, nullptr)), mode_(other.mode_) {}
    RwGuard &operator=(RwGuard &&other) noexcept(false)
    {
        if (this != &other) {
            exit();
            lock_ = std::exchange(other.lock_, nullptr);
            mode_ = other.mode_;
        }
        return *this;
    }
    SIM_ALWAYS_INLINE ~RwGuard() noexcept(false) { exit(); }

    SIM_ALWAYS_INLINE void exit()
    {
        if (lock_ == nullptr)
            return;
        RwLock *lock = std::exchange(lock_, nullptr);
        mode_ == RwMode::writer ? lock->exit_write() : lock->exit_read();
    }
    [[nodiscard]] bool try_upgrade()
    {
        VERIFY(mode_ == RwMode::reader);
        if (!lock_->try_upgrade())
            return false;
        mode_ = RwMode::writer;
        return true;
    }
    void downgrade()
    {
        VERIFY(mode_ == RwMode::writer);
        lock_->downgrade();
        mode_ = RwMode::reader;
    }
    RwLock *release() { return std::exchange(lock_, nullptr); }
    RwMode mode() const { return mode_; }
    explicit operator bool() const { return lock_ != nullptr; }

private:
    RwLock *lock_ = nullptr;
    RwMode mode_ = RwMode::reader;
};

} // namespace sim
