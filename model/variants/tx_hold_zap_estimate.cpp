// OpenZFS 8bea98150 and 2bce8049c3 (2016). A new ZAP may take a header and a leaf. A microzap that nothing is added to
// is its one block. Otherwise the name is looked up, to read what there is, and the ZAP counts what may be written;
// since header, table and leaf can be far apart, three indirect blocks of each level come on top.
#include "model/variants/tx_hold_zap_estimate.h"

#include "model/dsl_pool.h"
#include "model/objset.h"
#include "model/spa.h"
#include "model/zap.h"

namespace dmu {

namespace {

// As large as it can be, because it may grow before the transaction has run.
void count_microzap(dmu_tx_hold_t &txh, dnode_t &dn)
{
    const blkptr_t &bp = dn.dn_phys->dn_blkptr[0];
    if (dsl_dataset_block_freeable(*dn.dn_objset->os_dsl_dataset, &bp, bp.blk_birth))
        txh.txh_space_tooverwrite += MZAP_MAX_BLKSZ;
    else
        txh.txh_space_towrite += MZAP_MAX_BLKSZ;
    if (!BP_IS_HOLE(bp))
        txh.txh_space_tounref += MZAP_MAX_BLKSZ;
}

} // namespace

void tx_hold_zap_estimate::hold(dmu_tx_hold_t &txh, bool add, const std::string_view *name) const
{
    dmu_tx_t &tx = *txh.txh_tx;
    dmu_tx_count_dnode(txh);
    if (txh.txh_dnode == nullptr) {
        dmu_tx_count_write(txh, 0, 2ull << fzap_default_block_shift);
        return;
    }

    dnode_t &dn = *txh.txh_dnode;
    if (dn.dn_maxblkid == 0 && !add) {
        if (auto readable = dmu_tx_check_ioerr(dn, 0, 0); !readable)
            tx.tx_err = readable.error();
        else
            count_microzap(txh, dn);
        return;
    }
    if (dn.dn_maxblkid > 0 && name != nullptr) {
        if (auto looked = look_up(dn, *name); looked.error() == EIO) {
            tx.tx_err = EIO;
            return;
        }
    }
    std::ignore = count_write(dn, name, add, txh); // what it cannot read, the real code does not count either

    const uint32_t epbs = dn.dn_indblkshift - SPA_BLKPTRSHIFT;
    for (uint64_t blocks = dn.dn_maxblkid >> epbs; blocks != 0; blocks >>= epbs)
        txh.txh_space_towrite += 3ull << dn.dn_indblkshift; // every dataset has a snapshot before it: its origin
}

} // namespace dmu
