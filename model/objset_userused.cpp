// What each owner uses: user accounting, a part of every sync of a file system.
//
// Two ZAPs beside the meta-dnode, userused and groupused, have an entry for each owner: the bytes of all its files, a
// dnode's own size for each included. Nobody changes them but sync. When a dnode is dirtied for the first time it is
// found out whose it was; when it is synced, whose it is, from the bonus buffer as that txg leaves it. It then waits,
// held, on a list until all blocks are on disk and dn_used is right; what it used before is taken from the old owner
// and what it uses now is given to the new one. How that reaches the ZAPs is a choice
// (model/variants/user_accounting.h). The ZAPs are then synced in the same txg, with the root block once more.
//
// A fresh dnode has an old owner too, number 0, but was not accounted for, so nothing is taken; a freed one is not
// accounted for any more, so nothing is given. What has no owner (the delete queue) is on the list, and that is all.
//
// Followed: OpenZFS 81285582b9, dmu_objset.c. Left out: numbers of objects by owner (1de321e626, October 2016), one
// task for each list of synced dnodes (64fc776208, 2017; one thread does it here however many sync), attributes in
// spill blocks, file systems older than accounting.
#include "model/dmu_state.h"
#include "model/dmu_tx.h"
#include "model/objset.h"
#include "model/variants/variants.h"
#include "model/zap.h"
#include "model/zpl.h"

namespace dmu {

namespace {

// The change of the bonus buffer that belongs to the txg; null: none. It stays until the sync thread has written it.
const dbuf_dirty_record_t *bonus_record(const dnode_t &dn, uint64_t txg)
{
    if (dn.dn_bonus == nullptr)
        return nullptr;
    const dbuf_dirty_record_t *dr = dn.dn_bonus->db_last_dirty;
    while (dr != nullptr && dr->dr_txg != txg)
        dr = dr->dr_next;
    return dr;
}

// As the syncing txg leaves it. A buffer that this txg does not change says what dn_phys says.
int owner_after(dnode_t &dn, uint64_t txg, owner_t &owner)
{
    settle();
    const dbuf_dirty_record_t *dr = bonus_record(dn, txg);
    if (dr == nullptr)
        return zfs_space_delta_cb(dn.dn_bonustype, dn.dn_phys->dn_bonus, owner);
    auto held = mutex_enter(dr->dr_dbuf->db_mtx); // later txgs may be giving the record a copy
    return zfs_space_delta_cb(dn.dn_bonustype, dr->dr_bonus, owner);
}

} // namespace

void dmu_objset_userquota_get_ids(dnode_t &dn, bool before, const dmu_tx_t &tx)
{
    Probe probe{Fn::dmu_objset_userquota_get_ids};
    VERIFY(dmu_objset_userused_enabled(*dn.dn_objset));
    charge_peek();
    if (before && (dn.dn_id_flags & DN_ID_CHKED_BONUS) != 0)
        return;

    owner_t owner;
    int error = ENOENT;
    if (dn.dn_bonuslen != 0)
        error = before ? zfs_space_delta_cb(dn.dn_bonustype, dn.dn_phys->dn_bonus, owner)
                       : owner_after(dn, tx.tx_txg, owner);

    auto held = mutex_enter(dn.dn_mtx);
    dn.dn_id_flags |= DN_ID_CHKED_BONUS;
    if (error != 0)
        return;
    (before ? dn.dn_old : dn.dn_new) = owner;
    dn.dn_id_flags |= before ? DN_ID_OLD_EXIST : DN_ID_NEW_EXIST;
}

namespace {

// What the dnode itself takes is its owner's, too.
void do_userquota_update(userquota_task_t &task, uint64_t used, uint8_t flags, owner_t owner, bool subtract)
{
    Probe probe{Fn::do_userquota_update};
    if ((flags & DNODE_FLAG_USERUSED_ACCOUNTED) == 0)
        return;
    const auto delta = static_cast<int64_t>(DNODE_SIZE + used);
    task.update(owner, subtract ? -delta : delta);
}

void create_used_objects(objset_t &os, dmu_tx_t &tx)
{
    for (const uint64_t object : accounting_objects) {
        auto claimed = zap_create_claim(os, object, DMU_OT_USERGROUP_USED, tx);
        VERIFY(claimed.ok());
    }
}

} // namespace

void dmu_objset_do_userquota_updates(objset_t &os, dmu_tx_t &tx)
{
    Probe probe{Fn::dmu_objset_do_userquota_updates};
    list_t<dnode_t> &list = os.os_synced_dnodes[tx.tx_txg & TXG_MASK];
    const auto task = os.os_dmu.variants.make_userquota_task(os, tx);

    while (dnode_t *dn = list.head()) {
        Probe dnode_probe{Fn::dmu_objset_do_userquota_updates_dnode};
        const dnode_phys_t &phys = *dn->dn_phys;
        VERIFY(!DMU_OBJECT_IS_SPECIAL(dn->dn_object));
        VERIFY(phys.dn_type == DMU_OT_NONE || (phys.dn_flags & DNODE_FLAG_USERUSED_ACCOUNTED) != 0);
        VERIFY(dn->dn_id_flags != 0);
        if (dmu_objset_used_dnode(os, DMU_USERUSED_OBJECT)->dn_type == DMU_OT_NONE)
            create_used_objects(os, tx);

        if ((dn->dn_id_flags & DN_ID_OLD_EXIST) != 0)
            do_userquota_update(*task, dn->dn_oldused, dn->dn_oldflags, dn->dn_old, true);
        if ((dn->dn_id_flags & DN_ID_NEW_EXIST) != 0)
            do_userquota_update(*task, phys.dn_used, phys.dn_flags, dn->dn_new, false);
        {
            auto held = mutex_enter(dn->dn_mtx);
            if ((dn->dn_id_flags & DN_ID_NEW_EXIST) != 0) {
                dn->dn_old = dn->dn_new;
                dn->dn_id_flags |= DN_ID_OLD_EXIST;
            }
            dn->dn_id_flags &= static_cast<uint8_t>(~DN_ID_NEW_EXIST);
        }
        list.remove(dn);
        dnode_rele(*dn);
    }
    task->flush();
}

// --- for reports
// ------------------------------------------------------------------------------------------------------

namespace {

std::map<uint32_t, uint64_t> used_entries(objset_t &os, uint64_t zapobj)
{
    std::map<uint32_t, uint64_t> used;
    if (!dmu_objset_userused_enabled(os) || dmu_objset_used_dnode(os, zapobj)->dn_type == DMU_OT_NONE)
        return used;
    zap_cursor_t cursor(os, zapobj);
    for (auto entry = cursor.retrieve(); entry; cursor.advance(), entry = cursor.retrieve())
        used[static_cast<uint32_t>(zap_int_of_name(entry->za_name))] = entry->za_first_integer;
    return used;
}

} // namespace

userused_report_t userused_report(objset_t &os)
{
    return {used_entries(os, DMU_USERUSED_OBJECT), used_entries(os, DMU_GROUPUSED_OBJECT)};
}

} // namespace dmu
