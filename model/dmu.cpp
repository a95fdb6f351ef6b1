// See the head of dmu.h.
#include "model/dmu.h"
#include "model/dsl_pool.h"
#include "model/objset.h"

#include <algorithm>
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

Result<> dmu_write(objset_t &os, uint64_t object, uint64_t offset, uint64_t size, dmu_tx_t &tx)
{
    Probe probe{Fn::dmu_write};
    if (size == 0)
        return {};
    auto dn = dnode_hold(os, object);
    if (!dn)
        return SET_ERROR(dn.error());

    // Every block of the range is held before the first one changes.
    std::vector<dmu_buf_hold_t> blocks;
    {
        Probe array_probe{Fn::dmu_buf_hold_array_by_dnode};
        auto reader = rw_enter((*dn)->dn_struct_rwlock, RW_READER);
        const uint64_t last = dbuf_whichblock(**dn, 0, offset + size - 1);
        for (uint64_t blkid = dbuf_whichblock(**dn, 0, offset); blkid <= last; ++blkid) {
            auto held = held_or_eio(dbuf_hold(**dn, blkid));
            if (!held)
                return SET_ERROR(held.error());
            blocks.push_back(std::move(*held));
        }
    }

    const uint64_t end = offset + size;
    for (const dmu_buf_hold_t &block : blocks) {
        const uint64_t begin_of_block = block->db_blkid * block->db_size;
        const uint64_t from = std::max(offset, begin_of_block) - begin_of_block;
        const uint64_t until = std::min(end, begin_of_block + block->db_size) - begin_of_block;
        const bool whole = from == 0 && until == block->db_size;
        if (whole)
            dmu_buf_will_fill(*block, tx);
        else
            dmu_buf_will_dirty(*block, tx);
        if (whole)
            dmu_buf_fill_done(*block, tx);
    }
    return {};
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
        dbuf_prefetch(**dn, 0, blkid);
    VERIFY3(first, <=, last);
}

} // namespace dmu
