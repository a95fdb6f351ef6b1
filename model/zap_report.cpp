// See the head of zap_report.h.
#include "model/zap_report.h"

#include "model/zap_impl.h"

namespace dmu {

namespace {

zap_lock_t enter(objset_t &os, uint64_t zapobj)
{
    auto lock = zap_lockdir(os, zapobj, nullptr, RW_READER, true, false);
    VERIFY(lock.ok());
    return std::move(*lock);
}

} // namespace

bool zap_shape_t::operator==(const zap_shape_t &other) const
{
    return micro == other.micro && data_block_size == other.data_block_size && num_leafs == other.num_leafs &&
           freeblk == other.freeblk && table.zt_blk == other.table.zt_blk &&
           table.zt_numblks == other.table.zt_numblks && table.zt_shift == other.table.zt_shift &&
           table.zt_nextblk == other.table.zt_nextblk && table.zt_blks_copied == other.table.zt_blks_copied;
}

zap_shape_t zap_shape(objset_t &os, uint64_t zapobj)
{
    const zap_lock_t zap = enter(os, zapobj);
    zap_shape_t shape;
    shape.micro = zap->zap_ismicro;
    shape.data_block_size = zap->zap_dbuf->db_size;
    if (!shape.micro) {
        shape.num_leafs = zap->f_phys().zap_num_leafs;
        shape.freeblk = zap->f_phys().zap_freeblk;
        shape.table = zap->f_phys().zap_ptrtbl;
    }
    return shape;
}

std::vector<zap_leaf_row_t> zap_leaf_rows(objset_t &os, uint64_t zapobj)
{
    const zap_lock_t zap = enter(os, zapobj);
    std::vector<zap_leaf_row_t> rows;
    if (zap->zap_ismicro)
        return rows;
    const uint64_t pointers = 1ull << zap->f_phys().zap_ptrtbl.zt_shift;
    uint64_t last = 0;
    for (uint64_t index = 0; index < pointers; ++index) {
        auto blkid = zap_idx_to_blk(*zap, index);
        VERIFY(blkid.ok());
        if (*blkid == last)
            continue;
        last = *blkid;
        auto leaf = zap_get_leaf_byblk(*zap, *blkid, nullptr, RW_READER);
        VERIFY(leaf.ok());
        const zap_leaf_header &header = leaf->bytes().header();
        rows.push_back({index, *blkid, header.lh_prefix_len, header.lh_prefix, header.lh_nentries, header.lh_nfree});
    }
    return rows;
}

zap_place_t zap_place(objset_t &os, uint64_t zapobj, std::string_view name)
{
    const zap_lock_t zap = enter(os, zapobj);
    const zap_name_t zn(*zap, name);
    zap_place_t place;
    place.hash = zn.hash();
    if (zap->zap_ismicro) {
        if (const auto slot = mze_find(*zap, zn)) {
            place.found = true;
            place.slot = *slot;
            place.cd = zap->m_slot(*slot).mze_cd;
        }
        return place;
    }
    auto leaf = zap_deref_leaf(*zap, zn.hash(), nullptr, RW_READER);
    VERIFY(leaf.ok());
    const zap_leaf_block bytes = leaf->bytes();
    place.leaf_blkid = (*leaf)->l_blkid;
    place.bucket = bytes.bucket_of(zn.hash());
    place.prefix_len = bytes.header().lh_prefix_len;
    place.prefix = bytes.header().lh_prefix;
    if (const auto entry = bytes.lookup(zn.key(), zn.hash())) {
        place.found = true;
        place.slot = entry->zeh_chunk;
        place.cd = entry->zeh_cd;
    }
    return place;
}

} // namespace dmu
