#include "model/struct_rwlock.h"

namespace dmu {

void rrwlock_t::enter_read()
{
    auto held = mutex_enter(rr_lock_);
    while (rr_writer_ != nullptr || (rr_writer_wanted_ && rr_anon_rcount_ == 0))
        cv_wait(rr_cv_, rr_lock_);
    ++rr_anon_rcount_;
}

void rrwlock_t::exit_read()
{
    auto held = mutex_enter(rr_lock_);
    VERIFY3(rr_anon_rcount_, >, 0u);
    if (--rr_anon_rcount_ == 0)
        cv_broadcast(rr_cv_);
}

void rrwlock_t::enter_write()
{
    Probe probe{Fn::rrw_enter_write};
    auto held = mutex_enter(rr_lock_);
    while (rr_anon_rcount_ > 0 || rr_writer_ != nullptr) {
        rr_writer_wanted_ = true;
        cv_wait(rr_cv_, rr_lock_);
    }
    rr_writer_wanted_ = false;
    rr_writer_ = &curthread();
}

void rrwlock_t::exit_write()
{
    Probe probe{Fn::rrw_exit};
    auto held = mutex_enter(rr_lock_);
    VERIFY(write_held());
    rr_writer_ = nullptr;
    cv_broadcast(rr_cv_);
}

void struct_rwlock_t::fan_out(uint32_t locks)
{
    fan_ = std::make_unique<fan_t>(locks);
}

void struct_rwlock_t::enter_fan(krw_t mode)
{
    if (mode == RW_READER) {
        Probe probe{Fn::rrm_enter_read};
        own().enter_read();
        return;
    }
    Probe probe{Fn::rrm_enter_write};
    for (rrwlock_t &lock : *fan_)
        lock.enter_write();
}

void struct_rwlock_t::exit_fan(krw_t mode)
{
    Probe probe{Fn::rrm_exit};
    if (mode == RW_READER) {
        own().exit_read();
        return;
    }
    for (rrwlock_t &lock : *fan_)
        lock.exit_write();
}

void struct_rwlock_t::downgrade()
{
    if (fan_ == nullptr) {
        plain_.downgrade();
        return;
    }
    exit_fan(RW_WRITER);
    enter_fan(RW_READER);
}

} // namespace dmu
