// user_accounting "per-dnode": OpenZFS before 9b7a83cbb6 (October 2016).
//
// Every change goes to the ZAPs at once. Two million new files of one user are two million look-ups and as many updates
// of one and the same entry, and the same again for their group.
#include "model/variants/user_accounting.h"

#include "model/zap.h"

namespace dmu {

namespace {

class per_dnode_t final : public userquota_task_t {
public:
    per_dnode_t(objset_t &os, dmu_tx_t &tx) : os_(os), tx_(tx) {}

    void update(owner_t owner, int64_t delta) override
    {
        auto user = zap_increment_int(os_, DMU_USERUSED_OBJECT, owner.uid, delta, tx_);
        VERIFY(user.ok());
        auto group = zap_increment_int(os_, DMU_GROUPUSED_OBJECT, owner.gid, delta, tx_);
        VERIFY(group.ok());
    }
    void flush() override {}

private:
    objset_t &os_;
    dmu_tx_t &tx_;
};

} // namespace

std::unique_ptr<userquota_task_t> make_userquota_per_dnode(objset_t &os, dmu_tx_t &tx)
{
    return std::make_unique<per_dnode_t>(os, tx);
}

} // namespace dmu
