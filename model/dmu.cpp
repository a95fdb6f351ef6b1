// See the head of dmu.h.
#include "model/dmu.h"
#include "model/dmu_state.h"
#include "model/dmu_tx.h"
#include "model/dsl_pool.h"
#include "model/objset.h"
#include "model/zio.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace dmu {

namespace {

// What a hold owes once dbuf_hold has found the block or failed to.
Result<dmu_buf_hold_t> held_or_eio(dbuf_hold_t db)
{
    if (!db)
        return SET_ERROR(EIO);
    return dmu_buf_hold_t(db.keep());
}

Result<dmu_buf_hold_t> read_held(Result<dmu_buf_hold_t> held)
{
    if (!held)
        return held;
    if (auto read = dbuf_read(**held, DB_RF_CANFAIL | DB_RF_NOPREFETCH); !read)
        return SET_ERROR(read.error());
    return held;
}

} // namespace

void dmu_buf_hold_t::rele()
{
    if (db_ != nullptr)
        dmu_buf_rele(*std::exchange(db_, nullptr));
}

void dmu_buf_rele(dmu_buf_impl_t &db)
{
    Probe probe{Fn::dmu_buf_rele};
    dbuf_rele(db);
}

Result<dmu_buf_hold_t> dmu_buf_hold_noread(objset_t &os, uint64_t object, uint64_t offset)
{
    Probe probe{Fn::dmu_buf_hold_noread};
    auto dn = dnode_hold(os, object);
    if (!dn)
        return SET_ERROR(dn.error());
    const uint64_t blkid = dbuf_whichblock(**dn, 0, offset);
    auto reader = rw_enter((*dn)->dn_struct_rwlock, RW_READER);
    dbuf_hold_t db = dbuf_hold(**dn, blkid);
    reader.exit();
    dn->rele();
    return held_or_eio(std::move(db));
}

Result<dmu_buf_hold_t> dmu_buf_hold_noread_by_dnode(dnode_t &dn, uint64_t offset)
{
    Probe probe{Fn::dmu_buf_hold_noread_by_dnode};
    const uint64_t blkid = dbuf_whichblock(dn, 0, offset);
    auto reader = rw_enter(dn.dn_struct_rwlock, RW_READER);
    dbuf_hold_t db = dbuf_hold(dn, blkid);
    reader.exit();
    return held_or_eio(std::move(db));
}

Result<dmu_buf_hold_t> dmu_buf_hold(objset_t &os, uint64_t object, uint64_t offset)
{
    Probe probe{Fn::dmu_buf_hold};
    return read_held(dmu_buf_hold_noread(os, object, offset));
}

Result<dmu_buf_hold_t> dmu_buf_hold_by_dnode(dnode_t &dn, uint64_t offset)
{
    Probe probe{Fn::dmu_buf_hold_by_dnode};
    return read_held(dmu_buf_hold_noread_by_dnode(dn, offset));
}

dnode_t &dmu_buf_dnode_enter(dmu_buf_impl_t &db)
{
    Probe probe{Fn::dmu_buf_dnode_enter};
    zrl_add(db.db_dnode_handle->dnh_zrlock);
    return DB_DNODE(db);
}

void dmu_buf_dnode_exit(dmu_buf_impl_t &db)
{
    Probe probe{Fn::dmu_buf_dnode_exit};
    zrl_remove(db.db_dnode_handle->dnh_zrlock);
}

objset_t &dmu_buf_get_objset(const dmu_buf_impl_t &db)
{
    Probe probe{Fn::dmu_buf_get_objset};
    return *db.db_objset;
}

bool dmu_buf_freeable(dmu_buf_impl_t &db)
{
    Probe probe{Fn::dmu_buf_freeable};
    return db.db_blkptr != nullptr &&
           dsl_dataset_block_freeable(*db.db_objset->os_dsl_dataset, db.db_blkptr, db.db_blkptr->blk_birth);
}

dmu_object_info_t dmu_object_info_from_db(dmu_buf_impl_t &db)
{
    Probe probe{Fn::dmu_object_info_from_db};
    zrl_add(db.db_dnode_handle->dnh_zrlock);
    const dmu_object_info_t info = dmu_object_info_from_dnode(DB_DNODE(db));
    zrl_remove(db.db_dnode_handle->dnh_zrlock);
    return info;
}

Result<> dmu_object_set_blocksize(objset_t &os, uint64_t object, uint64_t size, uint32_t ibs, dmu_tx_t &tx)
{
    Probe probe{Fn::dmu_object_set_blocksize};
    auto dn = dnode_hold(os, object);
    if (!dn)
        return SET_ERROR(dn.error());
    return dnode_set_blksz(**dn, size, ibs, tx);
}

Result<> dmu_free_range(objset_t &os, uint64_t object, uint64_t offset, uint64_t size, dmu_tx_t &tx)
{
    Probe probe{Fn::dmu_free_range};
    auto dn = dnode_hold(os, object);
    if (!dn)
        return SET_ERROR(dn.error());
    dnode_free_range(**dn, offset, size, tx);
    return {};
}

namespace {

// The blocks of a range, all held; released together.
class dmu_buf_array_t {
public:
    dmu_buf_array_t() = default;
    dmu_buf_array_t(const dmu_buf_array_t &) = delete;
    dmu_buf_array_t &operator=(const dmu_buf_array_t &) = delete;
    ~dmu_buf_array_t() noexcept(false) { rele(); }

    void rele() // dmu_buf_rele_array
    {
        if (bytes_ == 0)
            return;
        Probe probe{Fn::dmu_buf_rele_array};
        for (dmu_buf_impl_t *db : held_)
            dbuf_rele(*db);
        held_.clear();
        kmem_free(std::exchange(bytes_, 0));
    }
    void reserve(uint64_t nblks)
    {
        bytes_ = nblks * sizeof(dmu_buf_impl_t *);
        kmem_zalloc(bytes_);
        held_.reserve(nblks);
    }
    void take(dmu_buf_impl_t *db) { held_.push_back(db); }
    auto begin() const { return held_.begin(); }
    auto end() const { return held_.end(); }

private:
    std::vector<dmu_buf_impl_t *> held_;
    uint64_t bytes_ = 0;
};

// Every block of the range is held, and read if `read`, before any of them is looked at. The prefetcher is told of them
// together. EIO: one could not be read, or the range lies beyond the one block of an object with an odd block size.
Result<> dmu_buf_hold_array_by_dnode(dnode_t &dn, uint64_t offset, uint64_t length, bool read, dmu_buf_array_t &array)
{
    Probe probe{Fn::dmu_buf_hold_array_by_dnode};
    VERIFY3(length, <=, DMU_MAX_ACCESS);
    auto reader = rw_enter(dn.dn_struct_rwlock, RW_READER);
    uint64_t nblks = 1;
    if (dn.dn_datablkshift != 0)
        nblks = ((offset + length - 1) >> dn.dn_datablkshift) - (offset >> dn.dn_datablkshift) + 1;
    else if (offset + length > dn.dn_datablksz)
        return SET_ERROR(EIO);
    array.reserve(nblks);
    zio_t zio;
    const uint64_t blkid = dbuf_whichblock(dn, 0, offset);
    for (uint64_t i = 0; i < nblks; ++i) {
        Probe block_probe{Fn::dmu_buf_hold_array_block};
        dbuf_hold_t db = dbuf_hold(dn, blkid + i);
        if (!db)
            return SET_ERROR(EIO);
        if (read)
            (void)dbuf_read(*db, DB_RF_CANFAIL | DB_RF_NEVERWAIT | DB_RF_HAVESTRUCT | DB_RF_NOPREFETCH);
        array.take(db.keep());
    }
    if (length <= zfetch_array_rd_sz)
        dmu_zfetch(dn, blkid, nblks, read, true);
    reader.exit();
    zio.wait();
    if (!read)
        return {};
    // Somebody else may have been reading or filling one of them.
    for (dmu_buf_impl_t *db : array) {
        auto held = mutex_enter(db->db_mtx);
        while (db->db_state == DB_READ || db->db_state == DB_FILL)
            cv_wait(db->db_changed, db->db_mtx);
        if (db->db_state == DB_UNCACHED)
            return SET_ERROR(EIO);
    }
    return {};
}

// The part of [offset, end) that lies in the block.
struct part_t {
    uint64_t from;  // in the block
    uint64_t bytes; // 0 < bytes <= db_size
    bool whole;
};
part_t part_of(const dmu_buf_impl_t &db, uint64_t offset, uint64_t end)
{
    const uint64_t begin = std::max(offset, db.db_offset());
    const uint64_t until = std::min(end, db.db_offset() + db.db_size);
    return {begin - db.db_offset(), until - begin, until - begin == db.db_size};
}

bool keeps_bytes(const dmu_buf_impl_t &db)
{
    return db.db_buf->b_data->kind == block_kind::bytes;
}

Result<> dmu_read_blocks(dnode_t &dn, uint64_t offset, uint64_t size, uint8_t *to)
{
    // A single block of an odd size ends where it ends; beyond it there are zeroes.
    if (dn.dn_maxblkid == 0) {
        const uint64_t there = offset > dn.dn_datablksz ? 0 : std::min<uint64_t>(size, dn.dn_datablksz - offset);
        if (to != nullptr)
            std::memset(to + there, 0, size - there);
        size = there;
    }
    while (size > 0) {
        const uint64_t length = std::min(size, DMU_MAX_ACCESS / 2);
        dmu_buf_array_t array;
        if (auto held = dmu_buf_hold_array_by_dnode(dn, offset, length, true, array); !held)
            return held;
        for (dmu_buf_impl_t *db : array) {
            Probe block_probe{Fn::dmu_read_block};
            const part_t part = part_of(*db, offset, offset + length);
            charge_copy(part.bytes);
            if (to == nullptr)
                continue;
            if (keeps_bytes(*db))
                std::memcpy(to, db->bytes() + part.from, part.bytes);
            to += part.bytes;
        }
        offset += length;
        size -= length;
    }
    return {};
}

} // namespace

Result<> dmu_read_by_dnode(dnode_t &dn, uint64_t offset, uint64_t size, void *data)
{
    if (!dn.dn_objset->os_dmu.era.read_by_dnode)
        return dmu_read_blocks(dn, offset, size, static_cast<uint8_t *>(data));
    Probe probe{Fn::dmu_read_impl};
    return dmu_read_blocks(dn, offset, size, static_cast<uint8_t *>(data));
}

Result<> dmu_read(objset_t &os, uint64_t object, uint64_t offset, uint64_t size, void *data)
{
    Probe probe{Fn::dmu_read};
    auto dn = dnode_hold(os, object);
    if (!dn)
        return SET_ERROR(dn.error());
    return dmu_read_by_dnode(**dn, offset, size, data);
}

namespace {

Result<> dmu_write_blocks(dnode_t &dn, uint64_t offset, uint64_t size, const void *data, dmu_tx_t &tx)
{
    dmu_buf_array_t array;
    if (auto held = dmu_buf_hold_array_by_dnode(dn, offset, size, false, array); !held)
        return held;
    const auto *from = static_cast<const uint8_t *>(data);
    for (dmu_buf_impl_t *db : array) {
        const part_t part = part_of(*db, offset, offset + size);
        if (part.whole)
            dmu_buf_will_fill(*db, tx);
        else
            dmu_buf_will_dirty(*db, tx);
        charge_copy(part.bytes);
        if (from != nullptr) {
            if (keeps_bytes(*db))
                std::memcpy(db->bytes() + part.from, from, part.bytes);
            from += part.bytes;
        }
        if (part.whole)
            dmu_buf_fill_done(*db, tx);
    }
    return {};
}

} // namespace

Result<> dmu_write(objset_t &os, uint64_t object, uint64_t offset, uint64_t size, const void *data, dmu_tx_t &tx)
{
    Probe probe{Fn::dmu_write};
    if (size == 0)
        return {};
    auto dn = dnode_hold(os, object);
    if (!dn)
        return SET_ERROR(dn.error());
    return dmu_write_blocks(**dn, offset, size, data, tx);
}

Result<> dmu_read_uio_dnode(dnode_t &dn, uint64_t offset, uint64_t size)
{
    Probe probe{Fn::dmu_read_uio_dnode};
    return dmu_read_blocks(dn, offset, size, nullptr);
}

Result<> dmu_write_uio_dnode(dnode_t &dn, uint64_t offset, uint64_t size, dmu_tx_t &tx)
{
    Probe probe{Fn::dmu_write_uio_dnode};
    return dmu_write_blocks(dn, offset, size, nullptr, tx);
}

void dmu_prefetch(objset_t &os, uint64_t object, uint64_t offset, uint64_t length)
{
    Probe probe{Fn::dmu_prefetch};
    VERIFY3(length, >, 0u);
    auto dn = dnode_hold(os, object);
    if (!dn)
        return;
    auto reader = rw_enter((*dn)->dn_struct_rwlock, RW_READER);
    const uint64_t last = dbuf_whichblock(**dn, 0, offset + length - 1);
    const uint64_t first = dbuf_whichblock(**dn, 0, offset);
    for (uint64_t blkid = dbuf_whichblock(**dn, 0, offset); blkid <= last; ++blkid)
        dbuf_prefetch(**dn, 0, blkid, prefetch_t::asked_for);
    VERIFY3(first, <=, last);
}

} // namespace dmu
