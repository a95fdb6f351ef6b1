// See the head of zil.h.
#include "model/zil.h"

#include "model/dmu_tx.h"

namespace dmu {

void zil_itx_assign(zilog_t &zilog, uint64_t bytes, dmu_tx_t &tx)
{
    {
        Probe probe{Fn::zil_itx_create};
        kmem_alloc(bytes);
        touch_fresh(bytes);
    }
    Probe probe{Fn::zil_itx_assign};
    const uint64_t txg = dmu_tx_get_txg(tx);
    itxg_t &itxg = zilog.zl_itxg[txg & TXG_MASK];
    auto held = mutex_enter(itxg.itxg_lock);
    if (itxg.itxg_txg != txg) {
        itxg.itxg_txg = txg;
        itxg.itxg_records = 0;
    }
    ++itxg.itxg_records;
    zilog.zl_itx_list_sz.fetch_add(bytes);
    held.exit();
    kmem_free(bytes); // of the record, when its txg has synced
}

} // namespace dmu
