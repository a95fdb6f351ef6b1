// What system calls do: the kernel's look-up, the file system's transaction, and letting go of what was used.
//
// Every changing call has the same frame: lock the names, hold in a transaction whatever may change, assign it without
// waiting (locks are held), and if the txg has no room drop everything, wait and begin again. Each step stands where
// zfs_vnops.c of OpenZFS 8bea98150 (2016) has it; the first look-up, before the file system is asked to create, is the
// kernel's own (lookup_open in Linux, lookupnameat in illumos).
#include "model/zpl.h"

#include "model/zap.h"
#include "model/zpl_impl.h"

namespace dmu {

namespace {

constexpr uint32_t assign_rounds = 1u << 20; // of a call that finds no room; then the pool is stuck

void check_access()
{
    Probe probe{Fn::zfs_zaccess};
}

void log_change(znode_t &dzp, dmu_tx_t &tx, Fn which)
{
    Probe probe{which};
    zil_itx_assign(dzp.z_zfsvfs.z_log, zfs_log_bytes, tx);
}

// The kernel's own look-up of the last component (VOP_LOOKUP: zfs_lookup, zfs_dirlook). `found` is called with what
// is there while its name is locked.
template <class Found>
Result<znode_ref> vop_lookup(znode_t &dzp, std::string_view name, const Found &found)
{
    Probe probe{Fn::zfs_lookup};
    const zfs_enter entered(dzp.z_zfsvfs);
    check_access();
    Probe look_probe{Fn::zfs_dirlook};
    if (name == ".")
        return zfs_zget(dzp.z_zfsvfs, dzp.z_id);
    if (name == "..")
        return zfs_zget(dzp.z_zfsvfs, dzp.z_parent);
    auto dl = zfs_dirent_lock(dzp, name, ZEXISTS | ZSHARED);
    if (!dl)
        return SET_ERROR(dl.error());
    found(*dl->zp);
    return std::move(dl->zp);
}

Result<znode_ref> vop_lookup(znode_t &dzp, std::string_view name)
{
    return vop_lookup(dzp, name, [](const znode_t &) {});
}

// ---- the name cache ----

using open_dir_t = std::shared_ptr<znode_ref>;

// Null: not all of the path is known, or it has a "." or "..", which are nobody's own names.
open_dir_t find_open_dir(const zfsvfs_t &zfsvfs, std::string_view path)
{
    settle();
    const open_dir_t *dir = &zfsvfs.z_root_dir;
    while (*dir != nullptr && **dir) {
        const size_t begin = path.find_first_not_of('/');
        if (begin == std::string_view::npos)
            return *dir;
        path.remove_prefix(begin);
        const std::string_view name = path.substr(0, path.find('/'));
        path.remove_prefix(name.size());
        const auto below = zfsvfs.z_open_dirs.find((**dir)->z_id);
        if (below == zfsvfs.z_open_dirs.end())
            return nullptr;
        const auto entry = below->second.find(name);
        if (entry == below->second.end())
            return nullptr;
        dir = &entry->second;
    }
    return nullptr;
}

// An empty use is to be filled in when the name is no longer locked. REQUIRES: the name is locked.
void enter_open_dir(znode_t &dzp, std::string_view name, open_dir_t dir)
{
    settle();
    dzp.z_zfsvfs.z_open_dirs[dzp.z_id].try_emplace(std::string(name), std::move(dir));
}

// Null: it is not there. REQUIRES: the name is locked.
open_dir_t take_open_dir(znode_t &dzp, std::string_view name)
{
    settle();
    auto &open_dirs = dzp.z_zfsvfs.z_open_dirs;
    const auto below = open_dirs.find(dzp.z_id);
    if (below == open_dirs.end())
        return nullptr;
    const auto entry = below->second.find(name);
    if (entry == below->second.end())
        return nullptr;
    open_dir_t dir = std::move(entry->second);
    below->second.erase(entry);
    if (below->second.empty())
        open_dirs.erase(below);
    return dir;
}

// `attempt` assigns with the given impatience and returns its outcome; ERESTART begins again.
template <class Attempt>
auto until_assigned(Attempt attempt)
{
    txg_how_t how = TXG_NOWAIT;
    for (uint32_t round = 0; round < assign_rounds; ++round, how = TXG_WAITED) {
        auto outcome = attempt(how);
        if (outcome.error() != ERESTART)
            return outcome;
    }
    PANIC("no txg has had room for a transaction in %u rounds", assign_rounds);
}

// Assigns or cleans up: after ERESTART the transaction has been waited for and is gone, locks are the caller's to drop
// before it tries again, which it does by returning.
Result<> assign_or_give_up(dmu_tx_ptr &tx, txg_how_t how, const std::function<void()> &drop_locks)
{
    auto assigned = dmu_tx_assign(*tx, how);
    if (assigned)
        return assigned;
    drop_locks();
    if (assigned.error() == ERESTART)
        dmu_tx_wait(*tx);
    dmu_tx_abort(std::move(tx));
    return assigned;
}

Result<> zfs_create(znode_t &dzp, std::string_view name, bool is_dir, owner_t owner, txg_how_t how)
{
    Probe probe{is_dir ? Fn::zfs_mkdir : Fn::zfs_create};
    zfsvfs_t &zfsvfs = dzp.z_zfsvfs;
    const zfs_enter entered(zfsvfs);
    if (is_dir) { // before the name is locked; for a file, after
        Probe acl_probe{Fn::zfs_acl_ids_create};
    }
    auto locked = zfs_dirent_lock(dzp, name, is_dir ? ZNEW : 0);
    if (!locked)
        return SET_ERROR(locked.error());
    zfs_dirent_lock_t dl = std::move(*locked);
    if (dl.zp) // exclusive
        return SET_ERROR(EEXIST);
    check_access();
    if (!is_dir) {
        Probe acl_probe{Fn::zfs_acl_ids_create};
    }

    auto tx = dmu_tx_create(zfsvfs.z_os);
    if (is_dir) {
        dmu_tx_hold_zap(*tx, dzp.z_id, true, &name);
        dmu_tx_hold_zap(*tx, DMU_NEW_OBJECT, false, nullptr);
        dmu_tx_hold_sa_create(*tx, DN_MAX_BONUSLEN);
    } else {
        dmu_tx_hold_sa_create(*tx, DN_MAX_BONUSLEN);
        dmu_tx_hold_zap(*tx, dzp.z_id, true, &name);
        dmu_tx_hold_sa(*tx, dzp.z_id, false);
    }
    if (auto assigned = assign_or_give_up(tx, how, [&] { dl.zfs_dirent_unlock(); }); !assigned)
        return assigned;

    znode_ref zp = zfs_mknode(zfsvfs, &dzp, is_dir, owner, *tx);
    zfs_link_create(dl, *zp, ZNEW, *tx);
    if (is_dir)
        zfsvfs.z_os.os_names.named(zp->z_id, dzp.z_id, name);
    log_change(dzp, *tx, Fn::zfs_log_create);
    dmu_tx_commit(std::move(tx));
    dl.zfs_dirent_unlock();
    return {}; // zp: the file is closed, its last user gone
}

// zfs_remove and zfs_rmdir.
Result<> zfs_remove(znode_t &dzp, std::string_view name, bool is_dir, txg_how_t how)
{
    Probe probe{is_dir ? Fn::zfs_rmdir : Fn::zfs_remove};
    zfsvfs_t &zfsvfs = dzp.z_zfsvfs;
    const zfs_enter entered(zfsvfs);
    auto locked = zfs_dirent_lock(dzp, name, ZEXISTS);
    if (!locked)
        return SET_ERROR(locked.error());
    zfs_dirent_lock_t dl = std::move(*locked);
    znode_ref zp = std::move(dl.zp);
    check_access();
    if (zp->z_is_dir != is_dir)
        return SET_ERROR(is_dir ? ENOTDIR : EPERM);

    if (!is_dir) { // may it be deleted at once? Nobody else uses it then.
        auto held = mutex_enter(zp->z_lock);
    }
    auto tx = dmu_tx_create(zfsvfs.z_os);
    dmu_tx_hold_zap(*tx, dzp.z_id, false, &name);
    dmu_tx_hold_sa(*tx, zp->z_id, false);
    if (!is_dir)
        dmu_tx_hold_free(*tx, zp->z_id, 0, DMU_OBJECT_END);
    dmu_tx_hold_zap(*tx, zfsvfs.z_unlinkedobj, false, nullptr);
    if (auto assigned = assign_or_give_up(tx, how, [&] { dl.zfs_dirent_unlock(); }); !assigned)
        return assigned;

    open_dir_t was_open;
    auto unlinked = zfs_link_destroy(dl, *zp, ZEXISTS, *tx);
    if (unlinked) {
        if (*unlinked)
            zfs_unlinked_add(*zp, *tx); // whoever uses it last takes it off again
        if (is_dir) {
            zfsvfs.z_os.os_names.removed(zp->z_id);
            was_open = take_open_dir(dzp, name);
        }
        log_change(dzp, *tx, Fn::zfs_log_remove);
    }
    dmu_tx_commit(std::move(tx));
    dl.zfs_dirent_unlock();
    let_go(std::move(was_open));
    if (!unlinked)
        return SET_ERROR(unlinked.error());
    return {}; // zp: the final removal, if this was its last user
}

// Two names in two directories: locked in the order of the objects, in one directory in the order of the names, so that
// two renames the other way round cannot wait for each other.
struct rename_locks {
    zfs_dirent_lock_t source, target;
};

Result<rename_locks> lock_both(znode_t &sdzp, std::string_view from, znode_t &tdzp, std::string_view to, uint32_t have)
{
    const bool source_first = sdzp.z_id != tdzp.z_id ? sdzp.z_id < tdzp.z_id : from <= to;
    rename_locks locks;
    const auto take_source = [&]() -> int {
        auto dl = zfs_dirent_lock(sdzp, from, ZEXISTS | ZRENAMING | have);
        if (dl)
            locks.source = std::move(*dl);
        return dl.error();
    };
    const auto take_target = [&]() -> int {
        auto dl = zfs_dirent_lock(tdzp, to, ZRENAMING | have);
        if (dl)
            locks.target = std::move(*dl);
        return dl.error();
    };
    int error = source_first ? take_source() : take_target();
    if (error == 0)
        error = source_first ? take_target() : take_source();
    if (error != 0)
        return SET_ERROR(error);
    return locks;
}

// A directory has another path; the one that had that path is gone (0: there was none).
void rename_for_reports(object_names_t &names, const znode_t &zp, const znode_t &tdzp, std::string_view to,
                        uint64_t replaced)
{
    if (replaced != 0)
        names.removed(replaced);
    names.named(zp.z_id, tdzp.z_id, to);
}

// True: what was there under the new name has lost its last one.
Result<bool> zfs_rename(znode_t &sdzp, std::string_view from, znode_t &tdzp, std::string_view to, txg_how_t how)
{
    Probe probe{Fn::zfs_rename};
    zfsvfs_t &zfsvfs = sdzp.z_zfsvfs;
    const zfs_enter entered(zfsvfs);
    const bool one_dir = &sdzp == &tdzp;
    if (one_dir && from == to)
        return false;

    rw_guard_t name_lock;
    if (one_dir)
        name_lock = rw_enter(sdzp.z_name_lock, RW_READER);
    auto both = lock_both(sdzp, from, tdzp, to, one_dir ? ZHAVELOCK : 0);
    if (!both)
        return SET_ERROR(both.error());
    zfs_dirent_lock_t source = std::move(both->source);
    zfs_dirent_lock_t target = std::move(both->target);
    znode_ref szp = std::move(source.zp);
    znode_ref tzp = std::move(target.zp);
    check_access();
    if (szp->z_is_dir) {
        for (uint64_t above = tdzp.z_id; above != zfsvfs.z_root;) { // not below itself
            if (above == szp->z_id)
                return SET_ERROR(EINVAL);
            auto zp = zfs_zget(zfsvfs, above);
            if (!zp)
                return SET_ERROR(zp.error());
            above = (*zp)->z_parent;
        }
    }
    if (tzp) {
        if (szp->z_is_dir != tzp->z_is_dir)
            return SET_ERROR(szp->z_is_dir ? ENOTDIR : EISDIR);
        if (szp->z_id == tzp->z_id)
            return false;
    }

    auto tx = dmu_tx_create(zfsvfs.z_os);
    dmu_tx_hold_sa(*tx, szp->z_id, false);
    dmu_tx_hold_sa(*tx, sdzp.z_id, false);
    dmu_tx_hold_zap(*tx, sdzp.z_id, false, &from);
    dmu_tx_hold_zap(*tx, tdzp.z_id, true, &to);
    if (!one_dir)
        dmu_tx_hold_sa(*tx, tdzp.z_id, false);
    if (tzp)
        dmu_tx_hold_sa(*tx, tzp->z_id, false);
    dmu_tx_hold_zap(*tx, zfsvfs.z_unlinkedobj, false, nullptr);
    const auto drop_locks = [&] {
        source.zfs_dirent_unlock();
        target.zfs_dirent_unlock();
        name_lock.exit();
    };
    if (auto assigned = assign_or_give_up(tx, how, drop_locks); !assigned)
        return SET_ERROR(assigned.error());

    int error = 0;
    bool replaced = false;
    open_dir_t was_open;
    if (tzp) {
        auto unlinked = zfs_link_destroy(target, *tzp, ZEXISTS, *tx);
        error = unlinked.error();
        if (unlinked && *unlinked) {
            zfs_unlinked_add(*tzp, *tx);
            replaced = true;
        }
    }
    if (error == 0) {
        zfs_link_create(target, *szp, ZRENAMING, *tx);
        sa_bulk_update(*szp, *tx);
        auto dropped = zfs_link_destroy(source, *szp, ZRENAMING, *tx);
        VERIFY(dropped.ok());
        if (szp->z_is_dir) {
            rename_for_reports(zfsvfs.z_os.os_names, *szp, tdzp, to, tzp ? tzp->z_id : 0);
            was_open = take_open_dir(tdzp, to);
            if (open_dir_t moved = take_open_dir(sdzp, from))
                enter_open_dir(tdzp, to, std::move(moved));
        }
        log_change(sdzp, *tx, Fn::zfs_log_rename);
    }
    dmu_tx_commit(std::move(tx));
    source.zfs_dirent_unlock();
    target.zfs_dirent_unlock();
    let_go(std::move(was_open));
    if (error != 0)
        return SET_ERROR(error);
    return replaced;
}

Result<> create_any(znode_t &dzp, std::string_view name, bool is_dir, owner_t owner)
{
    if (const int error = name_error(name))
        return SET_ERROR(error);
    if (auto there = vop_lookup(dzp, name))
        return SET_ERROR(EEXIST);
    else if (there.error() != ENOENT)
        return SET_ERROR(there.error());
    return until_assigned([&](txg_how_t how) { return zfs_create(dzp, name, is_dir, owner, how); });
}

Result<> remove_any(znode_t &dzp, std::string_view name, bool is_dir)
{
    if (const int error = name_error(name))
        return SET_ERROR(error);
    if (name == "." || name == "..")
        return SET_ERROR(EINVAL);
    if (auto there = vop_lookup(dzp, name); !there)
        return SET_ERROR(there.error());
    return until_assigned([&](txg_how_t how) { return zfs_remove(dzp, name, is_dir, how); });
}

} // namespace

void let_go(std::shared_ptr<znode_ref> use)
{
    if (use == nullptr)
        return;
    settle();
    if (use.use_count() == 1)
        use->rele();
}

int name_error(std::string_view name)
{
    if (name.empty())
        return ENOENT;
    if (name.size() >= MAXNAMELEN)
        return ENAMETOOLONG;
    if (name.find('/') != std::string_view::npos || name.find('\0') != std::string_view::npos)
        return EINVAL;
    return 0;
}

Result<> zpl_mkdir(znode_t &dzp, std::string_view name, owner_t owner)
{
    Probe probe{Fn::zpl_mkdir};
    charge_system_call();
    return create_any(dzp, name, true, owner);
}

Result<> zpl_create(znode_t &dzp, std::string_view name, owner_t owner)
{
    Probe probe{Fn::zpl_create};
    charge_system_call(); // opens
    charge_system_call(); // closes
    return create_any(dzp, name, false, owner);
}

Result<> zpl_unlink(znode_t &dzp, std::string_view name)
{
    Probe probe{Fn::zpl_unlink};
    charge_system_call();
    return remove_any(dzp, name, false);
}

Result<> zpl_rmdir(znode_t &dzp, std::string_view name)
{
    Probe probe{Fn::zpl_rmdir};
    charge_system_call();
    return remove_any(dzp, name, true);
}

Result<bool> zpl_rename(znode_t &sdzp, std::string_view from, znode_t &tdzp, std::string_view to)
{
    Probe probe{Fn::zpl_rename};
    charge_system_call();
    for (const std::string_view name : {from, to})
        if (const int error = name_error(name))
            return SET_ERROR(error);
    if (auto there = vop_lookup(sdzp, from); !there)
        return SET_ERROR(there.error());
    if (auto there = vop_lookup(tdzp, to); !there && there.error() != ENOENT)
        return SET_ERROR(there.error());
    return until_assigned([&](txg_how_t how) { return zfs_rename(sdzp, from, tdzp, to, how); });
}

Result<> zpl_lookup(znode_t &dzp, std::string_view name)
{
    Probe probe{Fn::zpl_lookup};
    charge_system_call();
    if (const int error = name_error(name))
        return SET_ERROR(error);
    auto found = vop_lookup(dzp, name);
    if (!found)
        return SET_ERROR(found.error());
    return {};
}

Result<zfs_attributes_t> zpl_stat(znode_t &dzp, std::string_view name)
{
    Probe probe{Fn::zpl_stat};
    charge_system_call();
    if (const int error = name_error(name))
        return SET_ERROR(error);
    auto found = vop_lookup(dzp, name);
    if (!found)
        return SET_ERROR(found.error());
    znode_t &zp = **found;
    Probe getattr_probe{Fn::zfs_getattr};
    const zfs_enter entered(zp.z_zfsvfs);
    auto held = mutex_enter(zp.z_lock);
    return zfs_attributes_t{zp.z_id, zp.z_is_dir, zp.z_size, zp.z_links};
}

Result<uint64_t> zpl_readdir(znode_t &dzp, const std::function<bool(const std::string &, uint64_t)> &visit)
{
    Probe probe{Fn::zfs_readdir};
    charge_system_call();
    const zfs_enter entered(dzp.z_zfsvfs);
    {
        Probe lookup_probe{Fn::sa_bulk_lookup};
        auto held = mutex_enter(dzp.z_sa_lock);
    }
    uint64_t entries = 0;
    for (const auto &[name, object] : {std::pair<std::string, uint64_t>{".", dzp.z_id}, {"..", dzp.z_parent}}) {
        ++entries;
        if (!visit(name, object))
            return entries;
    }
    zap_cursor_t cursor(dzp.z_zfsvfs.z_os, dzp.z_id);
    for (;;) { // the directory ends
        auto entry = cursor.retrieve();
        if (entry.error() == ENOENT)
            return entries;
        if (!entry)
            return SET_ERROR(entry.error());
        ++entries;
        if (!visit(entry->za_name, entry->za_first_integer))
            return entries;
        cursor.advance();
    }
}

Result<znode_ref> zfs_open_dir(zfsvfs_t &zfsvfs, std::string_view path)
{
    if (open_dir_t known = find_open_dir(zfsvfs, path)) {
        znode_ref use = known->again();
        let_go(std::move(known)); // it may be known no longer
        return use;
    }
    znode_ref zp;
    auto entry = std::make_shared<znode_ref>();
    if (path.find_first_not_of('/') == std::string_view::npos) {
        auto root = zfs_zget(zfsvfs, zfsvfs.z_root);
        VERIFY(root.ok());
        zp = std::move(*root);
        settle();
        if (zfsvfs.z_root_dir == nullptr)
            zfsvfs.z_root_dir = entry;
    } else {
        path = path.substr(0, path.find_last_not_of('/') + 1);
        const size_t slash = path.rfind('/');
        const std::string_view last = slash == std::string_view::npos ? path : path.substr(slash + 1);
        auto parent = zfs_open_dir(zfsvfs, slash == std::string_view::npos ? "" : path.substr(0, slash));
        if (!parent)
            return SET_ERROR(parent.error());
        if (const int error = name_error(last))
            return SET_ERROR(error);
        znode_t &dzp = **parent;
        bool named = false;
        auto found = vop_lookup(dzp, last, [&](const znode_t &there) {
            named = there.z_is_dir; // not by "." or ".."
            if (named)
                enter_open_dir(dzp, last, entry);
        });
        if (!found)
            return SET_ERROR(found.error());
        if (!(*found)->z_is_dir)
            return SET_ERROR(ENOTDIR);
        zp = std::move(*found);
        if (named)
            zfsvfs.z_os.os_names.named(zp->z_id, dzp.z_id, last); // unless it was made here, it has no name yet
    }
    znode_ref use = zp.again();
    settle();
    *entry = std::move(zp);
    let_go(std::move(entry)); // somebody else may have put it there first, or it is there no longer
    return use;
}

} // namespace dmu
