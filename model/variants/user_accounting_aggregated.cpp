// user_accounting "aggregated": OpenZFS 6988, 9b7a83cbb6 (October 2016).
//
// The changes are summed up in memory, an entry for each owner, and each entry goes to its ZAP once, at the end. The
// ZAPs are asked once for an owner and txg instead of once for a dnode. A sum of 0 asks for nothing. The entries go in
// the order of their names; the real code's in the order in which its tree is taken down.
#include <map>
#include <string>

#include "model/variants/user_accounting.h"
#include "model/zap.h"

namespace dmu {

namespace {

constexpr uint64_t userquota_node_bytes = 56; // the name, the delta, the tree's links

// By the name that the entry has in the ZAP.
using deltas_t = std::map<std::string, int64_t>;

void userquota_update_cache(deltas_t &deltas, uint32_t id, int64_t delta)
{
    Probe probe{Fn::userquota_update_cache};
    const auto [entry, fresh] = deltas.try_emplace(zap_int_name(id));
    if (fresh)
        kmem_alloc(userquota_node_bytes);
    entry->second += delta;
}

class aggregated_t final : public userquota_task_t {
public:
    aggregated_t(objset_t &os, dmu_tx_t &tx) : os_(os), tx_(tx) {}

    void update(owner_t owner, int64_t delta) override
    {
        VERIFY(!flushed_);
        userquota_update_cache(users_, owner.uid, delta);
        userquota_update_cache(groups_, owner.gid, delta);
    }
    void flush() override
    {
        Probe probe{Fn::do_userquota_cacheflush};
        flush(users_, DMU_USERUSED_OBJECT);
        flush(groups_, DMU_GROUPUSED_OBJECT);
        flushed_ = true;
    }

private:
    void flush(const deltas_t &deltas, uint64_t zapobj)
    {
        for (const auto &[name, delta] : deltas) {
            auto incremented = zap_increment(os_, zapobj, name, delta, tx_);
            VERIFY(incremented.ok());
            kmem_free(userquota_node_bytes);
        }
    }

    objset_t &os_;
    dmu_tx_t &tx_;
    deltas_t users_, groups_;
    bool flushed_ = false;
};

} // namespace

std::unique_ptr<userquota_task_t> make_userquota_aggregated(objset_t &os, dmu_tx_t &tx)
{
    return std::make_unique<aggregated_t>(os, tx);
}

} // namespace dmu
