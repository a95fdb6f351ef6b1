// dn_struct_rwlock: one rwlock, or a fan of locks of which a reader enters one and a writer all.
//
// A reader of the one rwlock writes its line, so readers that never wait still pass the line around. In the fan
// (rrmlock_t of rrwlock.c, zfs#4804) each reader writes the line of the lock its thread belongs to; a writer enters one
// after the other, and who has it as reader cannot become its writer without leaving it. Which of the two a dnode has
// is a choice (model/variants/struct_lock.h).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "model/spl.h"

namespace dmu {

// One lock of the fan: rrwlock_t, as it is when no thread enters twice.
class rrwlock_t {
public:
    void enter_read();
    void exit_read();
    void enter_write();
    void exit_write();
    bool write_held() const { return rr_writer_ == &curthread(); }

private:
    kmutex_t rr_lock_{"dn_struct_rr_lock"};
    // under rr_lock:
    kcondvar_t rr_cv_;
    const sim_thread_t *rr_writer_ = nullptr;
    uint64_t rr_anon_rcount_ = 0;
    bool rr_writer_wanted_ = false;
};

class struct_rwlock_t {
public:
    // Before anybody enters it.
    void fan_out(uint32_t locks);

    SIM_ALWAYS_INLINE void enter(krw_t mode)
    {
        if (fan_ != nullptr) [[unlikely]]
            enter_fan(mode);
        else
            rw_enter_manual(plain_, mode);
    }
    SIM_ALWAYS_INLINE void exit(krw_t mode)
    {
        if (fan_ != nullptr) [[unlikely]]
            exit_fan(mode);
        else
            mode == RW_WRITER ? plain_.exit_write() : plain_.exit_read();
    }
    bool write_held() const { return fan_ != nullptr ? fan_->front().write_held() : plain_.write_held(); }
    // REQUIRES: held for reading. False, and still held for reading: somebody else has it too, or it is a fan.
    [[nodiscard]] bool try_upgrade() { return fan_ == nullptr && plain_.try_upgrade(); }
    // REQUIRES: held for writing.
    void downgrade();

private:
    using fan_t = std::vector<rrwlock_t>;

    void enter_fan(krw_t mode);
    void exit_fan(krw_t mode);
    rrwlock_t &own() { return (*fan_)[curthread().id % fan_->size()]; }

    krwlock_t plain_{"dn_struct_rwlock"};
    std::unique_ptr<fan_t> fan_; // null: it is the one rwlock
};

class [[nodiscard]] struct_guard_t {
public:
    struct_guard_t() = default; // holds nothing
    SIM_ALWAYS_INLINE struct_guard_t(struct_rwlock_t &lock, krw_t mode) : lock_(&lock), mode_(mode)
    {
        lock.enter(mode);
    }
    struct_guard_t(struct_guard_t &&other) noexcept : lock_(std::exchange(other.lock_, nullptr)), mode_(other.mode_) {}
    struct_guard_t &operator=(struct_guard_t &&other) noexcept(false)
    {
        if (this != &other) {
            exit();
            lock_ = std::exchange(other.lock_, nullptr);
            mode_ = other.mode_;
        }
        return *this;
    }
    SIM_ALWAYS_INLINE ~struct_guard_t() noexcept(false) { exit(); }

    SIM_ALWAYS_INLINE void exit()
    {
        if (lock_ != nullptr)
            std::exchange(lock_, nullptr)->exit(mode_);
    }

private:
    struct_rwlock_t *lock_ = nullptr;
    krw_t mode_ = RW_READER;
};

SIM_ALWAYS_INLINE struct_guard_t rw_enter(struct_rwlock_t &lock, krw_t mode)
{
    return struct_guard_t(lock, mode);
}
SIM_ALWAYS_INLINE void rw_enter_manual(struct_rwlock_t &lock, krw_t mode)
{
    lock.enter(mode);
}
SIM_ALWAYS_INLINE void rw_exit(struct_rwlock_t &lock)
{
    lock.exit(lock.write_held() ? RW_WRITER : RW_READER);
}
inline bool rw_tryupgrade(struct_rwlock_t &lock, bool can_succeed)
{
    return can_succeed && lock.try_upgrade();
}
inline void rw_downgrade(struct_rwlock_t &lock)
{
    lock.downgrade();
}
inline bool RW_WRITE_HELD(const struct_rwlock_t &lock)
{
    return lock.write_held();
}

} // namespace dmu
