// What callers want of a fat ZAP: look up, add, update, remove, count. The shape it takes on the way is zap_fat.cpp's.
//
// Each call finds its leaf under the reader side of zap_rwlock and works under the leaf's own lock. An add to a full
// leaf makes room first, which may take several rounds: after one split all entries may still be on the same side.
#include "model/dmu_state.h"
#include "model/variants/zap_shrink.h"
#include "model/zap_impl.h"

#include <cstring>
#include <vector>

namespace dmu {

namespace {

Result<> fzap_checkname(const zap_name_t &zn)
{
    Probe probe{Fn::fzap_checkname};
    if (zn.key().size() + 1 > ZAP_MAXNAMELEN)
        return SET_ERROR(ENAMETOOLONG);
    return {};
}

Result<> fzap_checksize(uint64_t integer_size, uint64_t num_integers)
{
    Probe probe{Fn::fzap_checksize};
    if (integer_size != 1 && integer_size != 2 && integer_size != 4 && integer_size != 8)
        return SET_ERROR(EINVAL);
    if (num_integers > ZAP_MAXVALUELEN / integer_size)
        return SET_ERROR(E2BIG);
    return {};
}

Result<> fzap_check(const zap_name_t &zn, const zap_value_t &value)
{
    Probe probe{Fn::fzap_check};
    if (auto checked = fzap_checkname(zn); !checked)
        return checked;
    return fzap_checksize(value.integer_size, value.num_integers);
}

void zap_increment_num_entries(zap_t &zap, int64_t delta, dmu_tx_t &tx)
{
    Probe probe{Fn::zap_increment_num_entries};
    dmu_buf_will_dirty(*zap.zap_dbuf, tx);
    auto held = mutex_enter(zap.zap_num_entries_mtx);
    VERIFY(delta > 0 || zap.f_phys().zap_num_entries > 0);
    zap.f_phys().zap_num_entries += static_cast<uint64_t>(delta);
}

// Tries `change` on the leaf that covers the name, making room as often as it asks for that (EAGAIN).
template <class Change>
Result<> change_leaf(zap_lock_t &lock, const zap_name_t &zn, dmu_tx_t &tx, Change change)
{
    auto found = zap_deref_leaf(*lock, zn.hash(), &tx, RW_WRITER);
    if (!found)
        return SET_ERROR(found.error());
    zap_leaf_hold_t leaf = std::move(*found);

    Result<> outcome;
    for (uint32_t splits = 0;; ++splits) {
        VERIFY3(splits, <=, ZAP_HASHBITS); // each one lengthens the prefix
        outcome = change(leaf.bytes());
        if (outcome.error() != EAGAIN)
            break;
        if (auto expanded = zap_expand_leaf(lock, zn.hash(), leaf, tx); !expanded) {
            outcome = expanded;
            break;
        }
    }
    if (lock && leaf)
        zap_put_leaf_maybe_grow_ptrtbl(lock, leaf, tx);
    return outcome;
}

Result<> create_entry(zap_t &zap, const zap_leaf_block &leaf, const zap_name_t &zn, const zap_value_t &value,
                      uint32_t cd, dmu_tx_t &tx)
{
    auto created = leaf.entry_create(zn.key(), zn.hash(), cd, value);
    if (!created)
        return SET_ERROR(created.error());
    zap_increment_num_entries(zap, 1, tx);
    return {};
}

} // namespace

Result<> fzap_lookup(zap_t &zap, const zap_name_t &zn, uint64_t integer_size, uint64_t num_integers, void *buf,
                     std::string *realname)
{
    Probe probe{Fn::fzap_lookup};
    if (auto checked = fzap_checkname(zn); !checked)
        return checked;
    auto leaf = zap_deref_leaf(zap, zn.hash(), nullptr, RW_READER);
    if (!leaf)
        return SET_ERROR(leaf.error());

    const auto entry = leaf->bytes().lookup(zn.key(), zn.hash());
    if (!entry)
        return SET_ERROR(ENOENT);
    if (auto checked = fzap_checksize(integer_size, num_integers); !checked)
        return checked;
    auto read = leaf->bytes().entry_read(*entry, integer_size, num_integers, buf);

    // The name as stored is read back whether it is wanted or not.
    char name[ZAP_MAXNAMELEN] = {};
    std::ignore = leaf->bytes().entry_read_name(*entry, realname != nullptr ? sizeof(name) : 0, name);
    if (realname != nullptr)
        *realname = name;
    return read;
}

Result<zap_length_t> fzap_length(zap_t &zap, const zap_name_t &zn)
{
    Probe probe{Fn::fzap_length};
    auto leaf = zap_deref_leaf(zap, zn.hash(), nullptr, RW_READER);
    if (!leaf)
        return SET_ERROR(leaf.error());
    const auto entry = leaf->bytes().lookup(zn.key(), zn.hash());
    if (!entry)
        return SET_ERROR(ENOENT);
    return zap_length_t{entry->zeh_integer_size, entry->zeh_num_integers};
}

Result<> fzap_add_cd(zap_lock_t &lock, const zap_name_t &zn, const zap_value_t &value, uint32_t cd, dmu_tx_t &tx)
{
    Probe probe{Fn::fzap_add_cd};
    return change_leaf(lock, zn, tx, [&](const zap_leaf_block &leaf) -> Result<> {
        if (leaf.lookup(zn.key(), zn.hash()))
            return SET_ERROR(EEXIST);
        return create_entry(*lock, leaf, zn, value, cd, tx);
    });
}

Result<> fzap_add(zap_lock_t &lock, const zap_name_t &zn, const zap_value_t &value, dmu_tx_t &tx)
{
    Probe probe{Fn::fzap_add};
    if (auto checked = fzap_check(zn, value); !checked)
        return checked;
    return fzap_add_cd(lock, zn, value, ZAP_NEED_CD, tx);
}

Result<> fzap_update(zap_lock_t &lock, const zap_name_t &zn, const zap_value_t &value, dmu_tx_t &tx)
{
    Probe probe{Fn::fzap_update};
    if (auto checked = fzap_check(zn, value); !checked)
        return checked;
    return change_leaf(lock, zn, tx, [&](const zap_leaf_block &leaf) -> Result<> {
        if (const auto entry = leaf.lookup(zn.key(), zn.hash()))
            return leaf.entry_update(*entry, value);
        return create_entry(*lock, leaf, zn, value, ZAP_NEED_CD, tx);
    });
}

Result<> fzap_remove(zap_lock_t &lock, const zap_name_t &zn, dmu_tx_t &tx)
{
    Probe probe{Fn::fzap_remove};
    zap_t &zap = *lock;
    auto leaf = zap_deref_leaf(zap, zn.hash(), &tx, RW_WRITER);
    if (!leaf)
        return SET_ERROR(leaf.error());
    const auto entry = leaf->bytes().lookup(zn.key(), zn.hash());
    if (!entry)
        return SET_ERROR(ENOENT);
    leaf->bytes().entry_remove(*entry);
    zap_increment_num_entries(zap, -1, tx);
    return zap.zap_objset->os_dmu.variants.zap_shrink->removed(lock, zn, *leaf, tx);
}

// Header, pointer table and leaf, each once where nothing grows; an add may move or extend the table and split the
// leaf.
Result<> fzap_count_write(zap_t &zap, const zap_name_t &zn, bool add, uint64_t &towrite, uint64_t &tooverwrite)
{
    Probe probe{Fn::fzap_count_write};
    const auto overwritten = [add](dmu_buf_impl_t &db) { return !add && dmu_buf_freeable(db); };

    const uint64_t header_size = zap.zap_dbuf->db_size;
    (overwritten(*zap.zap_dbuf) ? tooverwrite : towrite) += header_size;
    if (add)
        towrite += header_size * (zap.f_phys().zap_ptrtbl.zt_blk == 0 ? 1 : 3);

    auto leaf = zap_deref_leaf(zap, zn.hash(), nullptr, RW_READER);
    if (!leaf)
        return SET_ERROR(leaf.error());
    dmu_buf_impl_t &leaf_db = *(*leaf)->l_dbuf;
    if (overwritten(leaf_db))
        tooverwrite += leaf_db.db_size;
    else
        towrite += uint64_t{leaf_db.db_size} * (add ? 2 : 1);
    return {};
}

uint64_t fzap_count(zap_t &zap)
{
    Probe probe{Fn::fzap_count};
    auto held = mutex_enter(zap.zap_num_entries_mtx);
    return zap.f_phys().zap_num_entries;
}

void fzap_get_stats(zap_t &zap, zap_stats_t &stats)
{
    Probe probe{Fn::fzap_get_stats};
    const zap_phys_t &header = zap.f_phys();
    const zap_table_phys_t &table = header.zap_ptrtbl;
    stats.zs_blocksize = 1ull << zap.zap_block_shift;
    stats.zs_num_leafs = header.zap_num_leafs;
    stats.zs_num_entries = header.zap_num_entries;
    stats.zs_num_blocks = header.zap_freeblk;
    stats.zs_salt = header.zap_salt;
    stats.zs_ptrtbl_len = 1ull << table.zt_shift;
    stats.zs_ptrtbl_nextblk = table.zt_nextblk;
    stats.zs_ptrtbl_blks_copied = table.zt_blks_copied;
    stats.zs_ptrtbl_zt_blk = table.zt_blk;
    stats.zs_ptrtbl_zt_numblks = table.zt_numblks;
    stats.zs_ptrtbl_zt_shift = table.zt_shift;

    // A leaf's pointers stand side by side, so each leaf is visited once.
    if (table.zt_numblks != 0)
        dmu_prefetch(*zap.zap_objset, zap.zap_object, table.zt_blk << zap.zap_block_shift,
                     table.zt_numblks << zap.zap_block_shift);
    uint64_t last = 0;
    for (uint64_t index = 0; index < stats.zs_ptrtbl_len; ++index) {
        auto blkid = zap_idx_to_blk(zap, index);
        if (!blkid || *blkid == last)
            continue;
        last = *blkid;
        if (auto leaf = zap_get_leaf_byblk(zap, *blkid, nullptr, RW_READER))
            leaf->bytes().stats(table.zt_shift, stats);
    }
}

} // namespace dmu
