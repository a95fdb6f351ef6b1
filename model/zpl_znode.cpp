// znodes: made with their object or when it is first used again, let go with the last user.
//
// The znode hangs on the object's bonus buffer, which holds the attributes; z_hold_mtx of the object covers the moments
// in which a znode appears or goes.
#include "model/zpl_impl.h"

#include <string>

namespace dmu {

namespace {

constexpr uint64_t sa_handle_bytes = 136;     // sa_handle_t
constexpr uint64_t sa_attributes_bytes = 840; // the list of a new file's attributes
constexpr uint64_t directory_bit = 1ull << 63;
constexpr uint64_t directory_entries_at_first = 2; // "." and ".."

znode_phys_t &znode_phys(const znode_t &zp)
{
    static_assert(sizeof(znode_phys_t) == DN_BONUS_WORDS * sizeof(uint64_t));
    return *static_cast<znode_phys_t *>(zp.z_sa_hdl.db_data);
}

kmutex_t &hold_mtx(zfsvfs_t &zfsvfs, uint64_t object)
{
    return zfsvfs.z_hold[object % ZFS_OBJ_MTX_SZ].z_hold_mtx;
}

dbuf_hold_t sa_buf_hold(zfsvfs_t &zfsvfs, uint64_t object)
{
    Probe probe{Fn::sa_buf_hold};
    auto db = dmu_bonus_hold(zfsvfs.z_os, object);
    VERIFY(db.ok());
    return std::move(*db);
}

// Which attributes stand where in the buffer: looked up among the objset's layouts.
void sa_handle_get_from_db(zfsvfs_t &zfsvfs)
{
    Probe probe{Fn::sa_handle_get_from_db};
    kmem_alloc(sa_handle_bytes);
    auto held = mutex_enter(zfsvfs.z_sa_os_lock);
}

// REQUIRES: z_hold_mtx of the object.
znode_t &zfs_znode_alloc(zfsvfs_t &zfsvfs, uint64_t object, dbuf_hold_t bonus)
{
    Probe probe{Fn::zfs_znode_alloc};
    kmem_alloc(sizeof(znode_t));
    auto zp = std::make_unique<znode_t>(zfsvfs, *bonus.keep());
    zp->z_id = object;
    {
        auto held = mutex_enter(zp->z_lock);
        VERIFY(dmu_buf_set_user(zp->z_sa_hdl, zp.get()) == nullptr);
    }
    {
        Probe lookup_probe{Fn::sa_bulk_lookup};
        auto held = mutex_enter(zp->z_sa_lock);
        const znode_phys_t &phys = znode_phys(*zp);
        zp->z_is_dir = (phys.zp_mode_and_size & directory_bit) != 0;
        zp->z_size = phys.zp_mode_and_size & ~directory_bit;
        zp->z_links = phys.zp_links;
        zp->z_parent = phys.zp_parent;
    }
    auto held = mutex_enter(zfsvfs.z_znodes_lock);
    ++zfsvfs.z_nr_znodes;
    return *zp.release();
}

// REQUIRES: z_hold_mtx of the object, no users.
void zfs_znode_dmu_fini(znode_t &zp)
{
    Probe probe{Fn::zfs_znode_dmu_fini};
    {
        auto held = mutex_enter(zp.z_zfsvfs.z_znodes_lock);
        --zp.z_zfsvfs.z_nr_znodes;
    }
    std::unique_ptr<znode_t> gone(&zp);
    VERIFY(dmu_buf_remove_user(zp.z_sa_hdl, &zp) == &zp);
    dbuf_rele(zp.z_sa_hdl);
    kmem_free(sa_handle_bytes);
    kmem_free(sizeof(znode_t));
}

// The final removal of a file without a name (zfs_rmnode): its object goes, and its number from the delete queue.
void zfs_rmnode(znode_t &zp)
{
    Probe probe{Fn::zfs_rmnode};
    zfsvfs_t &zfsvfs = zp.z_zfsvfs;
    objset_t &os = zfsvfs.z_os;
    const uint64_t object = zp.z_id;

    if (!zp.z_is_dir) { // dmu_free_long_range: nothing to do in an empty file but to look
        Probe free_probe{Fn::dmu_free_long_range};
        auto dn = dnode_hold(os, object);
        VERIFY(dn.ok());
    }

    auto tx = dmu_tx_create(os);
    dmu_tx_hold_free(*tx, object, 0, DMU_OBJECT_END);
    dmu_tx_hold_zap(*tx, zfsvfs.z_unlinkedobj, false, nullptr);
    if (auto assigned = dmu_tx_assign(*tx, TXG_WAIT); !assigned) {
        dmu_tx_abort(std::move(tx)); // it stays on the queue until the next mount
        auto held = mutex_enter(hold_mtx(zfsvfs, object));
        zfs_znode_dmu_fini(zp);
        return;
    }
    auto removed = zap_remove_int(os, zfsvfs.z_unlinkedobj, object, *tx);
    VERIFY(removed.ok());
    {
        Probe delete_probe{Fn::zfs_znode_delete};
        auto held = mutex_enter(hold_mtx(zfsvfs, object));
        auto freed = dmu_object_free(os, object, *tx);
        VERIFY(freed.ok());
        zfs_znode_dmu_fini(zp);
    }
    dmu_tx_commit(std::move(tx));
}

// The last user has gone (zfs_inactive, zfs_zinactive). REQUIRES: none has come meanwhile, as z_hold_mtx has seen.
void zfs_zinactive(znode_t &zp)
{
    Probe probe{Fn::zfs_zinactive};
    zfsvfs_t &zfsvfs = zp.z_zfsvfs;
    auto teardown = rw_enter(zfsvfs.z_teardown_inactive_lock, RW_READER);
    auto hold = mutex_enter(hold_mtx(zfsvfs, zp.z_id));
    if (--zp.z_users > 0)
        return;
    bool unlinked;
    {
        auto held = mutex_enter(zp.z_lock);
        unlinked = zp.z_unlinked;
    }
    if (!unlinked) {
        zfs_znode_dmu_fini(zp);
        return;
    }
    hold.exit();
    zfs_rmnode(zp);
}

} // namespace

int zfs_space_delta_cb(dmu_object_type_t bonustype, const uint64_t *bonus, owner_t &owner)
{
    Probe probe{Fn::zfs_space_delta_cb};
    if (bonustype != DMU_OT_SA)
        return ENOENT;
    owner = reinterpret_cast<const znode_phys_t *>(bonus)->zp_owner;
    return 0;
}

znode_ref znode_ref::again() const
{
    auto held = mutex_enter(hold_mtx(zp_->z_zfsvfs, zp_->z_id));
    ++zp_->z_users;
    return znode_ref(zp_);
}

void znode_ref::rele()
{
    if (zp_ != nullptr)
        zfs_zinactive(*std::exchange(zp_, nullptr));
}

Result<znode_ref> zfs_zget(zfsvfs_t &zfsvfs, uint64_t object)
{
    Probe probe{Fn::zfs_zget};
    auto hold = mutex_enter(hold_mtx(zfsvfs, object));
    Probe buf_probe{Fn::sa_buf_hold};
    auto bonus = dmu_bonus_hold(zfsvfs.z_os, object);
    if (!bonus)
        return SET_ERROR(bonus.error());
    if (dmu_object_info_from_db(**bonus).doi_bonus_type != DMU_OT_SA)
        return SET_ERROR(EINVAL);

    if (auto *zp = static_cast<znode_t *>(dmu_buf_get_user(**bonus)); zp != nullptr) {
        auto held = mutex_enter(zp->z_lock);
        if (zp->z_unlinked)
            return SET_ERROR(ENOENT);
        ++zp->z_users;
        return znode_ref(zp);
    }
    sa_handle_get_from_db(zfsvfs);
    znode_t &zp = zfs_znode_alloc(zfsvfs, object, std::move(*bonus));
    zp.z_users = 1;
    return znode_ref(&zp);
}

znode_ref zfs_mknode(zfsvfs_t &zfsvfs, znode_t *dzp, bool is_dir, owner_t owner, dmu_tx_t &tx)
{
    Probe probe{Fn::zfs_mknode};
    uint64_t object;
    if (is_dir) {
        object = zap_create(zfsvfs.z_os, DMU_OT_DIRECTORY_CONTENTS, DMU_OT_SA, DN_MAX_BONUSLEN, tx);
    } else {
        dnode_spec spec;
        spec.type = DMU_OT_PLAIN_FILE_CONTENTS;
        spec.bonustype = DMU_OT_SA;
        spec.bonuslen = DN_MAX_BONUSLEN;
        object = dmu_object_alloc(zfsvfs.z_os, spec, tx);
    }

    auto hold = mutex_enter(hold_mtx(zfsvfs, object));
    dbuf_hold_t bonus = sa_buf_hold(zfsvfs, object);
    sa_handle_get_from_db(zfsvfs);
    {
        Probe replace_probe{Fn::sa_replace_all_by_template};
        kmem_alloc(sa_attributes_bytes);
        dmu_buf_will_dirty(*bonus, tx);
        auto &phys = *static_cast<znode_phys_t *>(bonus->db_data);
        phys.zp_mode_and_size = is_dir ? directory_bit | directory_entries_at_first : 0;
        phys.zp_links = is_dir ? 2 : 1;
        phys.zp_parent = dzp != nullptr ? dzp->z_id : object;
        phys.zp_owner = owner;
        kmem_free(sa_attributes_bytes);
    }
    znode_t &zp = zfs_znode_alloc(zfsvfs, object, std::move(bonus));
    zp.z_users = 1;
    return znode_ref(&zp);
}

void sa_bulk_update(znode_t &zp, dmu_tx_t &tx)
{
    Probe probe{Fn::sa_bulk_update};
    auto held = mutex_enter(zp.z_sa_lock);
    dmu_buf_will_dirty(zp.z_sa_hdl, tx);
    settle(); // read without z_lock, as in the real code: somebody may be at it
    znode_phys_t &phys = znode_phys(zp);
    phys.zp_mode_and_size = (zp.z_is_dir ? directory_bit : 0) | zp.z_size;
    phys.zp_links = zp.z_links;
    phys.zp_parent = zp.z_parent;
}

void zfs_unlinked_add(znode_t &zp, dmu_tx_t &tx)
{
    Probe probe{Fn::zfs_unlinked_add};
    VERIFY(zp.z_unlinked);
    VERIFY3(zp.z_links, ==, 0u);
    auto added = zap_add_int(zp.z_zfsvfs.z_os, zp.z_zfsvfs.z_unlinkedobj, zp.z_id, tx);
    VERIFY(added.ok());
}

} // namespace dmu
