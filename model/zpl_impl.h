// Between the files of the file system: locks on names, znodes, links.
#pragma once

#include "model/dmu_tx.h"
#include "model/zap.h"
#include "model/zpl.h"

namespace dmu {

constexpr uint32_t ZNEW = 1;       // the name must not exist
constexpr uint32_t ZEXISTS = 2;    // it must
constexpr uint32_t ZSHARED = 4;    // several may look at it at a time
constexpr uint32_t ZRENAMING = 8;  // the file keeps its link count
constexpr uint32_t ZHAVELOCK = 16; // the caller has z_name_lock

constexpr uint64_t zfs_log_bytes = 256; // of a record: the file's attributes and its name

// ZFS_ENTER: the call counts as running until the end of the scope.
class zfs_enter {
public:
    explicit zfs_enter(zfsvfs_t &zfsvfs);
    ~zfs_enter() noexcept(false);
    zfs_enter(const zfs_enter &) = delete;
    zfs_enter &operator=(const zfs_enter &) = delete;

private:
    zfsvfs_t::teardown_lock_t &lock_;
};

// A name locked for one operation, and the file it names if there is one.
class [[nodiscard]] zfs_dirent_lock_t {
public:
    zfs_dirent_lock_t() = default;
    zfs_dirent_lock_t(znode_t &dzp, zfs_dirlock_t *dl, bool own_name_lock)
        : dzp_(&dzp), dl_(dl), own_name_lock_(own_name_lock)
    {
    }
    zfs_dirent_lock_t(zfs_dirent_lock_t &&other) noexcept { *this = std::move(other); }
    zfs_dirent_lock_t &operator=(zfs_dirent_lock_t &&other) noexcept
    {
        std::swap(dzp_, other.dzp_);
        std::swap(dl_, other.dl_);
        std::swap(own_name_lock_, other.own_name_lock_);
        std::swap(zp, other.zp);
        return *this;
    }
    ~zfs_dirent_lock_t() noexcept(false) { zfs_dirent_unlock(); }

    znode_t &dir() const { return *dzp_; }
    std::string_view name() const { return dl_->dl_name; }
    void zfs_dirent_unlock();

    znode_ref zp; // empty: no such name

private:
    znode_t *dzp_ = nullptr;
    zfs_dirlock_t *dl_ = nullptr;
    bool own_name_lock_ = false;
};

// EEXIST with ZNEW, ENOENT with ZEXISTS; "." and ".." are nobody's to change: EEXIST.
Result<zfs_dirent_lock_t> zfs_dirent_lock(znode_t &dzp, std::string_view name, uint32_t flag);

// 0, or why the kernel above refuses the name: "" and what no directory can hold.
int name_error(std::string_view name);

// zpl_znode.cpp
Result<znode_ref> zfs_zget(zfsvfs_t &zfsvfs, uint64_t object);
znode_ref zfs_mknode(zfsvfs_t &zfsvfs, znode_t *dzp, bool is_dir, owner_t owner, dmu_tx_t &tx);
void sa_bulk_update(znode_t &zp, dmu_tx_t &tx); // size, links, parent into the bonus buffer
void zfs_unlinked_add(znode_t &zp, dmu_tx_t &tx);

// zpl_dir.cpp
void zfs_link_create(const zfs_dirent_lock_t &dl, znode_t &zp, uint32_t flag, dmu_tx_t &tx);
// True: that was the last name. ENOTEMPTY.
Result<bool> zfs_link_destroy(const zfs_dirent_lock_t &dl, znode_t &zp, uint32_t flag, dmu_tx_t &tx);

} // namespace dmu
