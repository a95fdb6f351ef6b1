// Reading, writing and truncating files: the range lock, the transaction of each record, and the copying between.
//
// A file stays open from its first read or write on, as with a program that keeps its descriptor. A reader has the
// range it reads shared, a writer has its own alone; a file that has not yet a full record is locked whole while it
// grows. A write is one transaction a record. Followed: OpenZFS 8bea98150 (2016) and 64b6c47d90 (2019), zfs_vnops.c,
// zfs_rlock.c, zfs_znode.c. Left out: access times, synchronous writes, direct writes into borrowed buffers, mapped
// pages; a truncation frees everything in one transaction.
#include <algorithm>
#include <bit>

#include "model/dmu.h"
#include "model/dmu_state.h"
#include "model/zpl_impl.h"

namespace dmu {

namespace {

constexpr uint64_t zfs_read_chunk_size = 1 << 20;
constexpr uint64_t whole_file = UINT64_MAX;

bool overlap(const locked_range_t &range, uint64_t offset, uint64_t length)
{
    const auto end = [](uint64_t from, uint64_t size) { return size > whole_file - from ? whole_file : from + size; };
    return offset < end(range.lr_offset, range.lr_length) && range.lr_offset < end(offset, length);
}

// A range of a file, until the end of the scope.
class [[nodiscard]] range_lock_t {
public:
    range_lock_t(znode_t &zp, uint64_t offset, uint64_t length, bool writer) : zp_(zp)
    {
        Probe probe{Fn::zfs_range_lock};
        kmem_alloc(sizeof(locked_range_t));
        auto held = mutex_enter(zp.z_range_lock);
        const auto in_the_way = [&](const locked_range_t &other) {
            return (writer || other.lr_writer) && overlap(other, offset, length);
        };
        while (std::any_of(zp.z_ranges.begin(), zp.z_ranges.end(), in_the_way))
            cv_wait(zp.z_range_cv, zp.z_range_lock);
        at_ = zp.z_ranges.insert(zp.z_ranges.end(), {offset, length, writer});
    }
    ~range_lock_t() noexcept(false)
    {
        Probe probe{Fn::zfs_range_unlock};
        auto held = mutex_enter(zp_.z_range_lock);
        zp_.z_ranges.erase(at_);
        cv_broadcast(zp_.z_range_cv);
        kmem_free(sizeof(locked_range_t));
    }
    range_lock_t(const range_lock_t &) = delete;
    range_lock_t &operator=(const range_lock_t &) = delete;

private:
    znode_t &zp_;
    std::list<locked_range_t>::iterator at_;
};

// The dnode of a file, from the handle of its attributes.
dnode_t &dnode_of(znode_t &zp)
{
    return DB_DNODE(zp.z_sa_hdl);
}

// Until it has more than one block, a file's block is as large as the file, up to a record. REQUIRES: the whole file is
// locked.
void zfs_grow_blocksize(znode_t &zp, uint64_t size, dmu_tx_t &tx)
{
    Probe probe{Fn::zfs_grow_blocksize};
    const dnode_t &dn = dnode_of(zp);
    if (size <= dn.dn_datablksz || (zp.z_size > dn.dn_datablksz && !std::has_single_bit(dn.dn_datablksz)))
        return;
    auto grown = dmu_object_set_blocksize(zp.z_zfsvfs.z_os, zp.z_id, size, 0, tx);
    VERIFY(grown.ok() || grown.error() == ENOTSUP);
}

// One record's part of a write. ENOSPC and the like: the transaction cannot be.
Result<> write_record(znode_t &zp, uint64_t offset, uint64_t bytes, bool grow)
{
    zfsvfs_t &zfsvfs = zp.z_zfsvfs;
    auto tx = dmu_tx_create(zfsvfs.z_os);
    dmu_tx_hold_sa(*tx, zp.z_id, false);
    dmu_tx_hold_write(*tx, zp.z_id, offset, bytes);
    if (auto assigned = dmu_tx_assign(*tx, TXG_WAIT); !assigned) {
        dmu_tx_abort(std::move(tx));
        return assigned;
    }
    if (grow)
        zfs_grow_blocksize(zp, std::min(zfsvfs.z_os.os_dmu.config.dataset.recordsize, offset + bytes), *tx);
    auto written = dmu_write_uio_dnode(dnode_of(zp), offset, bytes, *tx);
    VERIFY(written.ok());
    {
        auto held = mutex_enter(zp.z_lock);
        zp.z_size = std::max(zp.z_size, offset + bytes);
    }
    sa_bulk_update(zp, *tx);
    {
        Probe log_probe{Fn::zfs_log_write};
        zil_itx_assign(zfsvfs.z_log, zfs_log_bytes, *tx);
    }
    dmu_tx_commit(std::move(tx));
    return {};
}

} // namespace

Result<znode_ref> zfs_open_file(znode_t &dzp, std::string_view name)
{
    if (const int error = name_error(name))
        return SET_ERROR(error);
    if (name == "." || name == "..")
        return SET_ERROR(EISDIR);
    Probe probe{Fn::zfs_lookup};
    const zfs_enter entered(dzp.z_zfsvfs);
    auto dl = zfs_dirent_lock(dzp, name, ZEXISTS | ZSHARED);
    if (!dl)
        return SET_ERROR(dl.error());
    znode_ref zp = std::move(dl->zp);
    if (zp->z_is_dir)
        return SET_ERROR(EISDIR);
    return zp;
}

Result<uint64_t> zpl_read(znode_t &zp, uint64_t offset, uint64_t size, const go_on_t &go_on)
{
    Probe probe{Fn::zpl_read};
    charge_system_call();
    Probe read_probe{Fn::zfs_read};
    const zfs_enter entered(zp.z_zfsvfs);
    const range_lock_t range(zp, offset, size, false);
    if (offset >= zp.z_size)
        return uint64_t{0};
    const uint64_t bytes = std::min(size, zp.z_size - offset);
    for (uint64_t done = 0; done < bytes;) {
        const uint64_t at = offset + done;
        const uint64_t chunk = std::min(bytes - done, zfs_read_chunk_size - at % zfs_read_chunk_size);
        if (auto read = dmu_read_uio_dnode(dnode_of(zp), at, chunk); !read)
            return SET_ERROR(read.error());
        done += chunk;
        if (done < bytes && go_on != nullptr && !go_on())
            return done;
    }
    return bytes;
}

Result<> zpl_write(znode_t &zp, uint64_t offset, uint64_t size, const go_on_t &go_on)
{
    Probe probe{Fn::zpl_write};
    charge_system_call();
    Probe write_probe{Fn::zfs_write};
    const zfs_enter entered(zp.z_zfsvfs);
    const uint64_t record = zp.z_zfsvfs.z_os.os_dmu.config.dataset.recordsize;
    settle(); // asked without a lock, as in the real code: who is writing may make it larger
    const uint32_t block = dnode_of(zp).dn_datablksz;
    const bool grow = offset + size > block && (!std::has_single_bit(block) || block < record);
    const range_lock_t range(zp, grow ? 0 : offset, grow ? whole_file : size, true);
    for (uint64_t done = 0; done < size;) {
        const uint64_t at = offset + done;
        const uint64_t bytes = std::min(size - done, record - at % record);
        if (auto written = write_record(zp, at, bytes, grow); !written)
            return written;
        done += bytes;
        if (done < size && go_on != nullptr && !go_on())
            break;
    }
    return {};
}

Result<> zpl_truncate(znode_t &zp, uint64_t size)
{
    Probe probe{Fn::zpl_truncate};
    charge_system_call();
    Probe free_probe{Fn::zfs_freesp};
    zfsvfs_t &zfsvfs = zp.z_zfsvfs;
    const zfs_enter entered(zfsvfs);
    const range_lock_t range(zp, 0, whole_file, true);
    auto tx = dmu_tx_create(zfsvfs.z_os);
    dmu_tx_hold_sa(*tx, zp.z_id, false);
    if (size < zp.z_size)
        dmu_tx_hold_free(*tx, zp.z_id, size, DMU_OBJECT_END);
    if (auto assigned = dmu_tx_assign(*tx, TXG_WAIT); !assigned) {
        dmu_tx_abort(std::move(tx));
        return assigned;
    }
    if (size < zp.z_size) {
        auto freed = dmu_free_range(zfsvfs.z_os, zp.z_id, size, DMU_OBJECT_END, *tx);
        VERIFY(freed.ok());
    } else {
        zfs_grow_blocksize(zp, std::min(zfsvfs.z_os.os_dmu.config.dataset.recordsize, size), *tx);
    }
    {
        auto held = mutex_enter(zp.z_lock);
        zp.z_size = size;
    }
    sa_bulk_update(zp, *tx);
    {
        Probe log_probe{Fn::zfs_log_write};
        zil_itx_assign(zfsvfs.z_log, zfs_log_bytes, *tx);
    }
    dmu_tx_commit(std::move(tx));
    return {};
}

} // namespace dmu
