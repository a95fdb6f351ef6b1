// Followed: OpenZFS 81285582b9 (2016-05), dmu_object.c.
#include "model/dmu_object.h"

#include "model/dmu_state.h"
#include "model/dmu_tx.h"
#include "model/eras.h"
#include "model/objset.h"
#include "model/variants/variants.h"

#include <array>
#include <bit>

namespace dmu {

uint64_t dmu_object_alloc(objset_t &os, const dnode_spec &spec, dmu_tx_t &tx)
{
    Probe probe{Fn::dmu_object_alloc};
    VERIFY(tx.tx_txg != 0);
    VERIFY(spec.slots == DNODE_MIN_SLOTS || knows_large_dnodes(os.os_dmu.config.code));
    const uint64_t *calls = curthread().calls;
    const auto now = [calls] {
        return std::array{calls[static_cast<size_t>(Fn::dmu_object_alloc)],
                          calls[static_cast<size_t>(Fn::dnode_next_offset)], dnode_hold_impl_calls(calls)};
    };
    const auto before = now();
    const uint64_t object = os.os_dmu.variants.object_alloc->dmu_object_alloc(os, spec, tx);
    const auto after = now();
    if (after[0] == before[0] && !costs_no_time()) { // else the counting began anew meanwhile, or is over
        ++os.os_dmu.alloc_next_offsets[static_cast<size_t>(std::bit_width(after[1] - before[1]))];
        ++os.os_dmu.alloc_holds[static_cast<size_t>(std::bit_width(after[2] - before[2]))];
    }
    return object;
}

Result<> dmu_object_claim(objset_t &os, uint64_t object, const dnode_spec &spec, dmu_tx_t &tx)
{
    Probe probe{Fn::dmu_object_claim};
    if (object == DMU_META_DNODE_OBJECT && !dmu_tx_is_syncing(tx))
        return SET_ERROR(EBADF);
    auto held = dnode_hold_impl(os, object, DNODE_MUST_BE_FREE, spec.slots);
    if (!held)
        return SET_ERROR(held.error());
    dnode_allocate(**held, spec, tx);
    if (os.os_dmu.era.new_object_by_dnode)
        dmu_tx_add_new_object(tx, **held);
    held->rele();
    if (!os.os_dmu.era.new_object_by_dnode)
        dmu_tx_add_new_object(tx, os, object);
    return {};
}

Result<> dmu_object_free(objset_t &os, uint64_t object, dmu_tx_t &tx)
{
    Probe probe{Fn::dmu_object_free};
    auto held = dnode_hold_impl(os, object, DNODE_MUST_BE_ALLOCATED, 0);
    if (!held)
        return SET_ERROR(held.error());
    dnode_t &dn = **held;
    VERIFY(dn.dn_type != DMU_OT_NONE);
    dnode_free_range(dn, 0, DMU_OBJECT_END, tx);
    dnode_free(dn, tx);
    return {};
}

object_next_t dmu_object_next(objset_t &os, uint64_t object, bool hole, uint64_t txg)
{
    Probe probe{Fn::dmu_object_next};
    const next_offset_t next = dnode_next_offset(DMU_META_DNODE(os), hole ? DNODE_FIND_HOLE : 0,
                                                 (object + 1) << DNODE_SHIFT, 0, DNODES_PER_BLOCK, txg);
    return {next.error, next.offset >> DNODE_SHIFT};
}

dmu_object_info_t dmu_object_info_from_dnode(dnode_t &dn)
{
    auto reader = rw_enter(dn.dn_struct_rwlock, RW_READER);
    auto held = mutex_enter(dn.dn_mtx);
    Probe probe{Fn::dmu_object_info_from_dnode};

    dmu_object_info_t info{};
    info.doi_data_block_size = dn.dn_datablksz;
    info.doi_metadata_block_size = dn.dn_indblkshift != 0 ? 1u << dn.dn_indblkshift : 0;
    info.doi_type = dn.dn_type;
    info.doi_bonus_type = dn.dn_bonustype;
    info.doi_bonus_size = dn.dn_bonuslen;
    info.doi_indirection = dn.dn_nlevels;
    info.doi_max_offset = (dn.dn_maxblkid + 1) * dn.dn_datablksz;
    info.doi_physical_blocks_512 = (dn.dn_phys->dn_used + 256) >> SPA_MINBLOCKSHIFT;
    return info;
}

Result<dmu_object_info_t> dmu_object_info(objset_t &os, uint64_t object)
{
    auto held = dnode_hold(os, object);
    if (!held)
        return SET_ERROR(held.error());
    return dmu_object_info_from_dnode(**held);
}

} // namespace dmu
