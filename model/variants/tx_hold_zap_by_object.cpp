// by-object: OpenZFS 8bea98150 (July 2016) and everything before. The dnode is in hand, yet zap_lookup and
// zap_count_write are given the object's number and look it up for the header, for the pointer table and for the leaf:
// six times more for a directory with an external table.
#include "model/objset.h"
#include "model/variants/tx_hold_zap_estimate.h"
#include "model/variants/zap_variants.h"
#include "model/zap_impl.h"

namespace dmu {

namespace {

class by_object final : public tx_hold_zap_estimate {
    Result<> look_up(dnode_t &dn, std::string_view name) const override
    {
        return zap_lookup(*dn.dn_objset, dn.dn_object, name, 8, 0, nullptr);
    }
    Result<> count_write(dnode_t &dn, const std::string_view *name, bool add, dmu_tx_hold_t &txh) const override
    {
        return zap_count_write(*dn.dn_objset, dn.dn_object, name, add, txh.txh_space_towrite,
                               txh.txh_space_tooverwrite);
    }
    Result<dmu_buf_hold_t> zap_block_hold(zap_t &zap, uint64_t blkid) const override
    {
        return dmu_buf_hold(*zap.zap_objset, zap.zap_object, blkid << zap.zap_block_shift);
    }
};

} // namespace

std::unique_ptr<const tx_hold_zap_t> make_tx_hold_zap_by_object()
{
    return std::make_unique<by_object>();
}

} // namespace dmu
