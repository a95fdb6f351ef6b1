// Names: locked one by one, linked and unlinked.
//
// zfs_dirent_lock puts the name on the directory's list under z_lock, waits while it is there already, and looks it up
// while it is locked. Followed: zfs_dir.c of OpenZFS 8bea98150 (2016).
#include "model/zpl_impl.h"

namespace dmu {

namespace {

bool is_dot_or_dotdot(std::string_view name)
{
    return name == "." || name == "..";
}

} // namespace

zfs_enter::zfs_enter(zfsvfs_t &zfsvfs) : lock_(zfsvfs.z_teardown_lock[curthread().id % RRM_NUM_LOCKS])
{
    Probe probe{Fn::rrm_enter_read};
    auto held = mutex_enter(lock_.rr_lock);
    ++lock_.rr_anon_rcount;
}

zfs_enter::~zfs_enter() noexcept(false)
{
    Probe probe{Fn::rrm_exit};
    auto held = mutex_enter(lock_.rr_lock);
    --lock_.rr_anon_rcount;
}

Result<zfs_dirent_lock_t> zfs_dirent_lock(znode_t &dzp, std::string_view name, uint32_t flag)
{
    Probe probe{Fn::zfs_dirent_lock};
    if (is_dot_or_dotdot(name))
        return SET_ERROR(EEXIST);

    const bool own_name_lock = (flag & ZHAVELOCK) == 0;
    if (own_name_lock)
        rw_enter_manual(dzp.z_name_lock, RW_READER);
    zfs_dirlock_t *dl = nullptr;
    bool gone = false;
    {
        auto held = mutex_enter(dzp.z_lock);
        for (;;) { // each turn waits for another user of the name
            gone = dzp.z_unlinked;
            if (gone)
                break;
            for (dl = dzp.z_dirlocks; dl != nullptr && dl->dl_name != name; dl = dl->dl_next) {
            }
            if (dl == nullptr) {
                kmem_alloc(sizeof(zfs_dirlock_t));
                dl = new zfs_dirlock_t{std::string(name), &dzp, {}, 0, dzp.z_dirlocks};
                dzp.z_dirlocks = dl;
                break;
            }
            if ((flag & ZSHARED) != 0 && dl->dl_sharecnt != 0)
                break;
            cv_wait(dl->dl_cv, dzp.z_lock);
        }
        if (!gone && (flag & ZSHARED) != 0)
            ++dl->dl_sharecnt;
    }
    if (gone) {
        if (own_name_lock)
            rw_exit(dzp.z_name_lock);
        return SET_ERROR(ENOENT);
    }
    zfs_dirent_lock_t lock(dzp, dl, own_name_lock);

    uint64_t object = 0;
    Result<> looked;
    {
        Probe match_probe{Fn::zfs_match_find};
        looked = zap_lookup(dzp.z_zfsvfs.z_os, dzp.z_id, name, 8, 1, &object);
    }
    if (looked) {
        if ((flag & ZNEW) != 0)
            return SET_ERROR(EEXIST);
        auto zp = zfs_zget(dzp.z_zfsvfs, object);
        if (!zp)
            return SET_ERROR(zp.error());
        lock.zp = std::move(*zp);
    } else if (looked.error() != ENOENT || (flag & ZEXISTS) != 0) {
        return SET_ERROR(looked.error());
    }
    return lock;
}

void zfs_dirent_lock_t::zfs_dirent_unlock()
{
    if (dl_ == nullptr)
        return;
    Probe probe{Fn::zfs_dirent_unlock};
    zfs_dirlock_t *dl = std::exchange(dl_, nullptr);
    auto held = mutex_enter(dzp_->z_lock);
    if (own_name_lock_)
        rw_exit(dzp_->z_name_lock);
    if (dl->dl_sharecnt > 1) {
        --dl->dl_sharecnt;
        return;
    }
    zfs_dirlock_t **link = &dzp_->z_dirlocks;
    while (*link != dl)
        link = &(*link)->dl_next;
    *link = dl->dl_next;
    cv_broadcast(dl->dl_cv);
    held.exit();
    delete dl;
    kmem_free(sizeof(zfs_dirlock_t));
}

void zfs_link_create(const zfs_dirent_lock_t &dl, znode_t &zp, uint32_t flag, dmu_tx_t &tx)
{
    Probe probe{Fn::zfs_link_create};
    znode_t &dzp = dl.dir();
    {
        auto held = mutex_enter(zp.z_lock);
        if ((flag & (ZRENAMING | ZNEW)) == 0)
            ++zp.z_links;
        zp.z_parent = dzp.z_id;
        sa_bulk_update(zp, tx);
    }
    {
        auto held = mutex_enter(dzp.z_lock);
        ++dzp.z_size;
        if (zp.z_is_dir)
            ++dzp.z_links;
        sa_bulk_update(dzp, tx);
    }
    auto added = zap_add(dzp.z_zfsvfs.z_os, dzp.z_id, dl.name(), {8, 1, &zp.z_id}, tx);
    VERIFY(added.ok());
}

Result<bool> zfs_link_destroy(const zfs_dirent_lock_t &dl, znode_t &zp, uint32_t flag, dmu_tx_t &tx)
{
    Probe probe{Fn::zfs_link_destroy};
    znode_t &dzp = dl.dir();
    objset_t &os = dzp.z_zfsvfs.z_os;
    bool unlinked = false;

    if ((flag & ZRENAMING) != 0) {
        auto dropped = zap_remove(os, dzp.z_id, dl.name(), tx);
        VERIFY(dropped.ok());
    } else {
        auto held = mutex_enter(zp.z_lock);
        if (zp.z_is_dir && (zp.z_size != 2 || zp.z_dirlocks != nullptr))
            return SET_ERROR(ENOTEMPTY);
        auto dropped = zap_remove(os, dzp.z_id, dl.name(), tx);
        VERIFY(dropped.ok());
        --zp.z_links;
        if (zp.z_links == (zp.z_is_dir ? 1u : 0u)) {
            zp.z_unlinked = true;
            zp.z_links = 0;
            unlinked = true;
        }
        sa_bulk_update(zp, tx);
    }

    auto held = mutex_enter(dzp.z_lock);
    --dzp.z_size;
    if (zp.z_is_dir)
        --dzp.z_links;
    sa_bulk_update(dzp, tx);
    return unlinked;
}

} // namespace dmu
