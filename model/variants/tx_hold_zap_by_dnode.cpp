// by-dnode: OpenZFS 2bce8049c3 (July 2016, "dmu_tx_hold_zap() does dnode_hold() 7x on same object"). The dnode that the
// transaction holds goes down through every call, so the directory is looked up once, by the hold itself.
#include "model/objset.h"
#include "model/variants/tx_hold_zap_estimate.h"
#include "model/variants/zap_by_dnode.h"
#include "model/variants/zap_variants.h"

namespace dmu {

namespace {

class by_dnode final : public tx_hold_zap_estimate {
    Result<> look_up(dnode_t &dn, std::string_view name) const override
    {
        return zap_lookup_by_dnode(dn, name, 8, 0, nullptr);
    }
    Result<> count_write(dnode_t &dn, const std::string_view *name, bool add, dmu_tx_hold_t &txh) const override
    {
        return zap_count_write_by_dnode(dn, name, add, txh.txh_space_towrite, txh.txh_space_tooverwrite);
    }
    Result<dmu_buf_hold_t> zap_block_hold(zap_t &zap, uint64_t blkid) const override
    {
        return zap_block_hold_by_dnode(zap, blkid);
    }
};

} // namespace

std::unique_ptr<const tx_hold_zap_t> make_tx_hold_zap_by_dnode()
{
    return std::make_unique<by_dnode>();
}

} // namespace dmu
