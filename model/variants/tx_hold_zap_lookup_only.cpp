// lookup-only: OpenZFS 73cdcc632 (2019). The worst a change of one entry can write is 128 KiB, be it a full microzap or
// seven blocks of a fat ZAP, so that much is charged and nothing counted; what remains is reading the blocks that the
// change will need.
#include "model/objset.h"
#include "model/variants/tx_hold_zap.h"
#include "model/variants/zap_by_dnode.h"
#include "model/variants/zap_variants.h"

namespace dmu {

namespace {

class lookup_only final : public tx_hold_zap_t {
    void hold(dmu_tx_hold_t &txh, bool, const std::string_view *name) const override
    {
        Probe probe{Fn::dmu_tx_hold_zap_impl};
        {
            Probe count_probe{Fn::dmu_tx_count_dnode};
            txh.txh_space_towrite += DNODE_SIZE;
        }
        txh.txh_space_towrite += MZAP_MAX_BLKSZ;
        if (txh.txh_dnode == nullptr)
            return;

        dnode_t &dn = *txh.txh_dnode;
        if (dn.dn_maxblkid == 0 || name == nullptr) {
            if (auto readable = dmu_tx_check_ioerr(dn, 0, 0); !readable)
                txh.txh_tx->tx_err = readable.error();
        } else if (auto looked = zap_lookup_by_dnode(dn, *name, 8, 0, nullptr); looked.error() == EIO) {
            txh.txh_tx->tx_err = EIO;
        }
    }
    Result<dmu_buf_hold_t> zap_block_hold(zap_t &zap, uint64_t blkid) const override
    {
        return zap_block_hold_by_dnode(zap, blkid);
    }
};

} // namespace

std::unique_ptr<const tx_hold_zap_t> make_tx_hold_zap_lookup_only()
{
    return std::make_unique<lookup_only>();
}

} // namespace dmu
