// Since OpenZFS 2bce8049c3 a fat ZAP finds its blocks through the dnode of the header it holds.
#pragma once

#include "model/zap_impl.h"

namespace dmu {

inline Result<dmu_buf_hold_t> zap_block_hold_by_dnode(zap_t &zap, uint64_t blkid)
{
    dnode_t &dn = dmu_buf_dnode_enter(*zap.zap_dbuf);
    auto db = dmu_buf_hold_by_dnode(dn, blkid << zap.zap_block_shift);
    dmu_buf_dnode_exit(*zap.zap_dbuf);
    return db;
}

} // namespace dmu
