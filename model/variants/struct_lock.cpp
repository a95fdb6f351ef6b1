// struct_lock "rwlock": every OpenZFS that was released. "fan-out": what zfs#4804 proposed and tried, an rrmlock in its
// place (rrwlock.c has it for the teardown lock).
#include "model/variants/struct_lock.h"

namespace dmu {

namespace {

class one_t final : public struct_lock_t {
public:
    void prepare(struct_rwlock_t &) const override {}
};

class fan_out_t final : public struct_lock_t {
public:
    explicit fan_out_t(uint32_t locks) : locks_(locks) {}
    void prepare(struct_rwlock_t &lock) const override { lock.fan_out(locks_); }

private:
    const uint32_t locks_;
};

} // namespace

std::unique_ptr<const struct_lock_t> make_struct_lock_rwlock()
{
    return std::make_unique<one_t>();
}

std::unique_ptr<const struct_lock_t> make_struct_lock_fan_out(uint32_t locks)
{
    return std::make_unique<fan_out_t>(locks);
}

} // namespace dmu
