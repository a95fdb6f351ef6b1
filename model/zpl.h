// A file system on the DMU: the transactions that make, find, rename and remove files, in the order of the real ones.
//
// An object of the objset is a file or a directory; its znode_t is made when somebody uses it and goes with the last
// user. Names live in ZAPs. A name is changed under a lock of its own (a zfs_dirlock_t on the directory's list), so two
// creates in one directory meet only in the directory's z_lock, its bonus buffer (size, times, link count) and the ZAP.
// A file that has lost its last name goes to the delete queue, a ZAP of object numbers, and is taken off it by whoever
// drops the last use.
//
// Followed: OpenZFS 8bea98150 (July 2016), zfs_vnops.c, zfs_dir.c, zfs_znode.c; where Linux and illumos differ the
// kernel above is named at the step. Left out: access control, quotas, attributes beyond size, links, parent and owner,
// extended attributes, normalised names.
#pragma once

#include "model/dmu.h"
#include "model/objset.h"
#include "model/result.h"
#include "model/spl.h"
#include "model/zil.h"

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace dmu {

struct znode_t;
struct zfsvfs_t;

constexpr uint64_t MASTER_NODE_OBJ = 1;
constexpr size_t MAXNAMELEN = 256; // the terminator included
constexpr uint32_t ZFS_OBJ_MTX_SZ = 64;
constexpr uint32_t RRM_NUM_LOCKS = 17;

// A name of a directory that somebody is working on.
struct zfs_dirlock_t {
    std::string dl_name;
    znode_t *dl_dzp;
    kcondvar_t dl_cv;
    uint32_t dl_sharecnt = 0;
    zfs_dirlock_t *dl_next = nullptr;
};

// What the bonus buffer of a file says; its words in this order.
struct znode_phys_t {
    uint64_t zp_mode_and_size; // bit 63: a directory
    uint64_t zp_links;
    uint64_t zp_parent;
    owner_t zp_owner;
};
// Whose a file is, by its bonus buffer. ENOENT: such an object is nobody's.
int zfs_space_delta_cb(dmu_object_type_t bonustype, const uint64_t *bonus, owner_t &owner);

// A part of a file that somebody reads, or writes alone.
struct locked_range_t {
    uint64_t lr_offset, lr_length;
    bool lr_writer;
};

struct znode_t : dmu_buf_user_t {
    znode_t(zfsvfs_t &zfsvfs, dmu_buf_impl_t &bonus) : z_zfsvfs(zfsvfs), z_sa_hdl(bonus) {}

    // immutable
    zfsvfs_t &z_zfsvfs;
    uint64_t z_id = 0;
    bool z_is_dir = false;

    krwlock_t z_name_lock{"z_name_lock"}; // writer: a rename within the directory

    kmutex_t z_lock{"z_lock"};
    // under z_lock:
    zfs_dirlock_t *z_dirlocks = nullptr;
    uint64_t z_size = 0; // of a directory: entries
    uint64_t z_links = 0;
    uint64_t z_parent = 0;
    bool z_unlinked = false;

    kmutex_t z_range_lock{"z_range_lock"};
    // under z_range_lock:
    std::list<locked_range_t> z_ranges; // being read or written
    kcondvar_t z_range_cv;

    kmutex_t z_sa_lock{"sa_handle_lock"}; // the attributes in the bonus buffer
    dmu_buf_impl_t &z_sa_hdl;             // the bonus buffer, held

    uint64_t z_users = 0; // of the vnode; under z_hold_mtx of the object
};

// Somebody uses a file; the last one to stop lets the znode go, and the file too if it has no name any more.
class [[nodiscard]] znode_ref {
public:
    znode_ref() = default;
    explicit znode_ref(znode_t *held) : zp_(held) {}
    znode_ref(znode_ref &&other) noexcept : zp_(std::exchange(other.zp_, nullptr)) {}
    znode_ref &operator=(znode_ref &&other)
    {
        rele();
        zp_ = std::exchange(other.zp_, nullptr);
        return *this;
    }
    ~znode_ref() noexcept(false) { rele(); }

    explicit operator bool() const { return zp_ != nullptr; }
    znode_t &operator*() const { return *zp_; }
    znode_t *operator->() const { return zp_; }
    znode_ref again() const; // one more use of the same file
    void rele();             // VN_RELE

private:
    znode_t *zp_ = nullptr;
};

struct zfsvfs_t {
    explicit zfsvfs_t(objset_t &os) : z_os(os) {}
    zfsvfs_t(const zfsvfs_t &) = delete;
    zfsvfs_t &operator=(const zfsvfs_t &) = delete;

    objset_t &z_os;
    uint64_t z_root = 0;        // object numbers, as the master node names them
    uint64_t z_unlinkedobj = 0; // the delete queue
    zilog_t z_log;

    // Every call enters as reader, on one of several counters, so that an unmount can wait for them all.
    struct teardown_lock_t {
        kmutex_t rr_lock{"rr_lock"};
        uint64_t rr_anon_rcount = 0;
    };
    std::array<teardown_lock_t, RRM_NUM_LOCKS> z_teardown_lock;
    krwlock_t z_teardown_inactive_lock{"z_teardown_inactive_lock"};

    struct obj_hold_t {
        kmutex_t z_hold_mtx{"z_hold_mtx"};
    };
    std::array<obj_hold_t, ZFS_OBJ_MTX_SZ> z_hold; // making and unmaking the znode of an object

    kmutex_t z_znodes_lock{"z_znodes_lock"};
    uint64_t z_nr_znodes = 0;         // under z_znodes_lock
    kmutex_t z_sa_os_lock{"sa_lock"}; // the layouts known to the objset

    // The kernel's name cache, for directories only: opening a file in a directory that is in use asks nobody. By
    // directory and name in it; an entry comes, goes and moves while its name is locked. Whoever has found one keeps it
    // until the use is its own.
    std::shared_ptr<znode_ref> z_root_dir;
    std::map<uint64_t, std::map<std::string, std::shared_ptr<znode_ref>, std::less<>>> z_open_dirs;
};

// An empty file system in an empty objset, and one that is there already.
std::unique_ptr<zfsvfs_t> zfs_create_fs(objset_t &os);
std::unique_ptr<zfsvfs_t> zfs_mount(objset_t &os);
void zfs_umount(std::unique_ptr<zfsvfs_t> zfsvfs);

// The directory of that path ("" is the root). ENOENT, ENOTDIR, ENAMETOOLONG. Directories in use are found in the name
// cache.
Result<znode_ref> zfs_open_dir(zfsvfs_t &zfsvfs, std::string_view path);
// One of several that share a use is done with it (null: with none); with the last it ends. Settles first, since who is
// last is known only when everybody before has been let first. Not left to a shared_ptr's destructor, which may not
// throw.
void let_go(std::shared_ptr<znode_ref> use);

struct zfs_attributes_t {
    uint64_t object;
    bool is_dir;
    uint64_t size;
    uint64_t links;
};

// What a system call does, the kernel's own steps around the file system's included.
Result<> zpl_mkdir(znode_t &dzp, std::string_view name, owner_t owner = {});  // EEXIST
Result<> zpl_create(znode_t &dzp, std::string_view name, owner_t owner = {}); // EEXIST (exclusive create)
Result<> zpl_unlink(znode_t &dzp, std::string_view name);                     // ENOENT, EPERM for a directory
Result<> zpl_rmdir(znode_t &dzp, std::string_view name);                      // ENOENT, ENOTDIR, ENOTEMPTY
// True: what was there under the new name has lost its last one.
Result<bool> zpl_rename(znode_t &sdzp, std::string_view from, znode_t &tdzp, std::string_view to);
Result<> zpl_lookup(znode_t &dzp, std::string_view name);
Result<zfs_attributes_t> zpl_stat(znode_t &dzp, std::string_view name);
// Visits every entry, "." and ".." too; the number of entries. Returning false ends it.
Result<uint64_t> zpl_readdir(znode_t &dzp, const std::function<bool(const std::string &, uint64_t)> &visit);

// The file, open as long as the use lives. ENOENT, EISDIR, ENAMETOOLONG.
Result<znode_ref> zfs_open_file(znode_t &dzp, std::string_view name);
// Asked between two pieces of what is read or written; false ends it there, as a signal does. Null: it goes to the end.
using go_on_t = std::function<bool()>;
// The bytes read: fewer than size at the file's end. EIO.
Result<uint64_t> zpl_read(znode_t &zp, uint64_t offset, uint64_t size, const go_on_t &go_on = nullptr);
// Which bytes is not asked. REQUIRES: offset + size fits a file.
Result<> zpl_write(znode_t &zp, uint64_t offset, uint64_t size, const go_on_t &go_on = nullptr);
Result<> zpl_truncate(znode_t &zp, uint64_t size); // shorter, or longer by a hole

// The recorded sequence without a file system around it: one transaction, one object, one name.
Result<uint64_t> dmu_create(objset_t &os, uint64_t dir, std::string_view name);
Result<> dmu_unlink(objset_t &os, uint64_t dir, std::string_view name);

} // namespace dmu
