// Three answers to the wish to become a writer.
//
// refuse: never, as in user space and in kernels whose lock cannot; the caller drops leaf and header and comes back by
// the front door. atomic: if nobody else reads, without ever letting go. drop-and-retake: an emulation that gives the
// reader lock up and waits for the writer's while the leaf is still held (zfs#4692, openzfs#18546). That turns the
// order of the locks round (header before leaf, everywhere else): a second thread that has the header, as reader or
// writer, and wants the leaf closes the ring.
#include "model/variants/zap_upgrade.h"

#include "model/config.h"
#include "model/variants/zap_variants.h"

namespace dmu {

namespace {

class refuse final : public zap_upgrade_t {
    bool zap_rw_tryupgrade(rw_guard_t &) const override { return false; }
};

class atomic final : public zap_upgrade_t {
    bool zap_rw_tryupgrade(rw_guard_t &guard) const override { return rw_tryupgrade(guard); }
};

class drop_and_retake final : public zap_upgrade_t {
    bool zap_rw_tryupgrade(rw_guard_t &guard) const override
    {
        rw_drop_and_retake(guard);
        return true;
    }
};

} // namespace

std::unique_ptr<const zap_upgrade_t> make_zap_upgrade_try(const code_config &code)
{
    if (code.rw_upgrade_can_succeed)
        return std::make_unique<atomic>();
    return std::make_unique<refuse>();
}

std::unique_ptr<const zap_upgrade_t> make_zap_upgrade_refuse(const code_config &)
{
    return std::make_unique<refuse>();
}

std::unique_ptr<const zap_upgrade_t> make_zap_upgrade_drop_and_retake(const code_config &)
{
    return std::make_unique<drop_and_retake>();
}

} // namespace dmu
