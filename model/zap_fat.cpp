// The shape of a fat ZAP: header, pointer table, and how both grow.
//
// The top zt_shift bits of a hash index the pointer table, which says which leaf to read. A leaf with a prefix of p
// bits is pointed at 2^(zt_shift - p) times; when it is full it splits in two with p + 1 bits, and where p had reached
// zt_shift the table must double first. It starts in the second half of the header (1,024 pointers), moves to a block
// of its own, and from then on doubles into new blocks, one old block a step, so that no single add pays for the whole
// table; while that goes on every store goes to both tables. Steps are also taken ahead of need, by any add that leaves
// a leaf with few free chunks. The table never shrinks; leaves do where that is chosen (variants/zap_shrink.h).
#include "model/dmu_state.h"
#include "model/zap_impl.h"

#include <bit>
#include <cstring>
#include <memory>
#include <tuple>

namespace dmu {

namespace {

uint64_t *words(const dmu_buf_hold_t &db)
{
    return reinterpret_cast<uint64_t *>(db->bytes());
}

Result<dmu_buf_hold_t> hold_by_object(zap_t &zap, uint64_t blkid)
{
    return dmu_buf_hold(*zap.zap_objset, zap.zap_object, blkid << zap.zap_block_shift);
}

uint64_t zap_allocate_blocks(zap_t &zap, uint64_t count)
{
    Probe probe{Fn::zap_allocate_blocks};
    VERIFY(RW_WRITE_HELD(zap.zap_rwlock));
    const uint64_t first = zap.f_phys().zap_freeblk;
    zap.f_phys().zap_freeblk += count;
    return first;
}

// Every pointer twice: the table has become one bit finer.
void zap_ptrtbl_transfer(const uint64_t *from, uint64_t *to, uint64_t count)
{
    Probe probe{Fn::zap_ptrtbl_transfer};
    for (uint64_t i = 0; i < count; ++i)
        to[2 * i] = to[2 * i + 1] = from[i];
}

// --- the external table
// -----------------------------------------------------------------------------------------------

// Which block of the table, and which word of it.
struct table_place {
    uint64_t block;
    uint64_t word;
};

table_place place_of(const zap_t &zap, uint64_t index)
{
    const uint32_t words_shift = zap.zap_block_shift - 3;
    return {index >> words_shift, index & ((1ull << words_shift) - 1)};
}

Result<uint64_t> zap_table_load(zap_t &zap, uint64_t index)
{
    Probe probe{Fn::zap_table_load};
    const zap_table_phys_t &table = zap.f_phys().zap_ptrtbl;
    const auto hold = [&](uint64_t blkid) {
        return zap.zap_objset->os_dmu.variants.tx_hold_zap->zap_block_hold(zap, blkid);
    };

    const table_place place = place_of(zap, index);
    uint64_t value;
    {
        auto db = hold(table.zt_blk + place.block);
        if (!db)
            return SET_ERROR(db.error());
        value = words(*db)[place.word];
    }
    // The table under construction is read too, so that an error shows now and not when a store must succeed.
    if (table.zt_nextblk != 0) {
        auto db = hold(table.zt_nextblk + place_of(zap, index * 2).block);
        if (!db)
            return SET_ERROR(db.error());
    }
    return value;
}

Result<> zap_table_store(zap_t &zap, uint64_t index, uint64_t value, dmu_tx_t &tx)
{
    Probe probe{Fn::zap_table_store};
    const zap_table_phys_t &table = zap.f_phys().zap_ptrtbl;

    const table_place place = place_of(zap, index);
    auto db = hold_by_object(zap, table.zt_blk + place.block);
    if (!db)
        return SET_ERROR(db.error());
    dmu_buf_will_dirty(**db, tx);

    if (table.zt_nextblk != 0) {
        const table_place next_place = place_of(zap, index * 2);
        auto next = hold_by_object(zap, table.zt_nextblk + next_place.block);
        if (!next)
            return SET_ERROR(next.error());
        dmu_buf_will_dirty(**next, tx);
        words(*next)[next_place.word] = value;
        words(*next)[next_place.word + 1] = value;
    }
    words(*db)[place.word] = value;
    return {};
}

// One step: one block of the old table into two of the new one; after the last, the new one takes over.
Result<> zap_table_grow(zap_t &zap, dmu_tx_t &tx)
{
    Probe probe{Fn::zap_table_grow};
    zap_table_phys_t &table = zap.f_phys().zap_ptrtbl;
    const uint32_t bs = zap.zap_block_shift;
    const uint64_t half = 1ull << (bs - 4); // pointers in half a block
    VERIFY(RW_WRITE_HELD(zap.zap_rwlock));
    VERIFY3(table.zt_blk, !=, 0u);
    VERIFY3(table.zt_numblks, >, 0u);

    if (table.zt_nextblk == 0) {
        VERIFY3(table.zt_blks_copied, ==, 0u);
        table.zt_nextblk = zap_allocate_blocks(zap, table.zt_numblks * 2);
        dmu_prefetch(*zap.zap_objset, zap.zap_object, table.zt_blk << bs, table.zt_numblks << bs);
    }

    const uint64_t done = table.zt_blks_copied;
    {
        auto from = hold_by_object(zap, table.zt_blk + done);
        if (!from)
            return SET_ERROR(from.error());
        for (uint64_t part = 0; part < 2; ++part) {
            auto to = hold_by_object(zap, table.zt_nextblk + 2 * done + part);
            VERIFY(to.ok());
            dmu_buf_will_dirty(**to, tx);
            zap_ptrtbl_transfer(words(*from) + part * half, words(*to), half);
        }
    }

    if (++table.zt_blks_copied == table.zt_numblks) {
        auto freed = dmu_free_range(*zap.zap_objset, zap.zap_object, table.zt_blk << bs, table.zt_numblks << bs, tx);
        VERIFY(freed.ok());
        table.zt_blk = table.zt_nextblk;
        table.zt_numblks *= 2;
        ++table.zt_shift;
        table.zt_nextblk = 0;
        table.zt_blks_copied = 0;
    }
    return {};
}

Result<> zap_grow_ptrtbl(zap_t &zap, dmu_tx_t &tx)
{
    Probe probe{Fn::zap_grow_ptrtbl};
    {
        Probe bits_probe{Fn::zap_hashbits};
        zap_getflags_probe();
    }
    // A table with more bits than the hash would be of no use; two bits short of that, something is odd already.
    zap_table_phys_t &table = zap.f_phys().zap_ptrtbl;
    if (table.zt_shift >= ZAP_HASHBITS - 2)
        return SET_ERROR(ENOSPC);
    if (table.zt_numblks != 0)
        return zap_table_grow(zap, tx);

    // Out of the header, into a whole block: that doubles it.
    const uint32_t embedded_shift = zap_embedded_ptrtbl_shift(zap.zap_block_shift);
    VERIFY3(table.zt_shift, ==, embedded_shift);
    VERIFY3(table.zt_blk, ==, 0u);
    const uint64_t fresh = zap_allocate_blocks(zap, 1);
    auto db = hold_by_object(zap, fresh);
    if (!db)
        return SET_ERROR(db.error());
    dmu_buf_will_dirty(**db, tx);
    zap_ptrtbl_transfer(&zap.embedded_ptrtbl_ent(0), words(*db), 1ull << embedded_shift);
    table.zt_blk = fresh;
    table.zt_numblks = 1;
    ++table.zt_shift;
    return {};
}

// --- leaves
// -----------------------------------------------------------------------------------------------------------

std::unique_ptr<zap_leaf_t> new_leaf(uint64_t blkid, uint32_t block_shift, dmu_buf_impl_t &db)
{
    auto leaf = std::make_unique<zap_leaf_t>();
    kmem_alloc(sizeof(zap_leaf_t));
    leaf->l_blkid = blkid;
    leaf->l_bs = block_shift;
    leaf->l_dbuf = &db;
    return leaf;
}

// The in-memory half of a leaf that was read from disk; a thread that comes second takes the first one's.
zap_leaf_t &zap_open_leaf(uint64_t blkid, dmu_buf_impl_t &db)
{
    Probe probe{Fn::zap_open_leaf};
    VERIFY3(blkid, !=, 0u);
    auto leaf = new_leaf(blkid, static_cast<uint32_t>(std::bit_width(db.db_size)) - 1, db);
    auto writer = rw_enter(leaf->l_rwlock, RW_WRITER);
    auto *winner = static_cast<zap_leaf_t *>(dmu_buf_set_user(db, leaf.get()));
    writer.exit();
    return winner != nullptr ? *winner : *leaf.release();
}

zap_leaf_hold_t zap_create_leaf(zap_t &zap, dmu_tx_t &tx)
{
    Probe probe{Fn::zap_create_leaf};
    VERIFY(RW_WRITE_HELD(zap.zap_rwlock));

    const uint64_t blkid = zap_allocate_blocks(zap, 1);
    auto held = hold_by_object(zap, blkid);
    VERIFY(held.ok());
    dmu_buf_hold_t db = std::move(*held);
    auto owned = new_leaf(blkid, zap.zap_block_shift, *db);
    auto writer = rw_enter(owned->l_rwlock, RW_WRITER);
    auto *winner = dmu_buf_set_user(*db, owned.get());
    VERIFY(winner == nullptr);
    zap_leaf_t &leaf = *owned.release();
    dmu_buf_will_dirty(*db, tx);

    leaf.bytes().init();
    ++zap.f_phys().zap_num_leafs;
    return zap_leaf_hold_t(leaf, std::move(db), std::move(writer));
}

} // namespace

zap_phys_t &zap_t::f_phys() const
{
    return *reinterpret_cast<zap_phys_t *>(zap_dbuf->bytes());
}

uint64_t &zap_t::embedded_ptrtbl_ent(uint64_t index) const
{
    const uint64_t entries = 1ull << zap_embedded_ptrtbl_shift(zap_block_shift);
    VERIFY3(index, <, entries);
    return reinterpret_cast<uint64_t *>(zap_dbuf->bytes())[entries + index];
}

zap_leaf_block zap_leaf_t::bytes() const
{
    return zap_leaf_block(l_dbuf->bytes(), l_bs);
}

// What was a microzap's block becomes a header; block 1 becomes the only leaf.
void fzap_upgrade(zap_t &zap, dmu_tx_t &tx)
{
    Probe probe{Fn::fzap_upgrade};
    VERIFY(RW_WRITE_HELD(zap.zap_rwlock));
    zap.zap_ismicro = false;
    zap.zap_block_shift = static_cast<uint32_t>(std::bit_width(zap.zap_dbuf->db_size)) - 1;

    std::memset(zap.zap_dbuf->bytes(), 0, zap.zap_dbuf->db_size);
    zap_phys_t &header = zap.f_phys();
    header.zap_block_type = ZBT_HEADER;
    header.zap_magic = ZAP_MAGIC;
    header.zap_ptrtbl.zt_shift = zap_embedded_ptrtbl_shift(zap.zap_block_shift);
    header.zap_freeblk = 2;
    header.zap_num_leafs = 1;
    header.zap_salt = zap.zap_salt;
    for (uint64_t i = 0; i < 1ull << header.zap_ptrtbl.zt_shift; ++i)
        zap.embedded_ptrtbl_ent(i) = 1;

    auto db = hold_by_object(zap, 1);
    VERIFY(db.ok());
    dmu_buf_will_dirty(**db, tx);
    kmem_alloc(sizeof(zap_leaf_t));
    zap_leaf_block((*db)->bytes(), zap.zap_block_shift).init();
    kmem_free(sizeof(zap_leaf_t));
}

Result<> zap_set_idx_to_blk(zap_t &zap, uint64_t index, uint64_t blkid, dmu_tx_t &tx)
{
    Probe probe{Fn::zap_set_idx_to_blk};
    VERIFY(RW_WRITE_HELD(zap.zap_rwlock));
    if (zap.f_phys().zap_ptrtbl.zt_blk != 0)
        return zap_table_store(zap, index, blkid, tx);
    zap.embedded_ptrtbl_ent(index) = blkid;
    return {};
}

Result<uint64_t> zap_idx_to_blk(zap_t &zap, uint64_t index)
{
    Probe probe{Fn::zap_idx_to_blk};
    if (zap.f_phys().zap_ptrtbl.zt_numblks != 0)
        return zap_table_load(zap, index);
    return zap.embedded_ptrtbl_ent(index);
}

Result<zap_leaf_hold_t> zap_get_leaf_byblk(zap_t &zap, uint64_t blkid, dmu_tx_t *tx, krw_t how)
{
    Probe probe{Fn::zap_get_leaf_byblk};
    if (blkid == 0)
        return SET_ERROR(ENOENT);

    auto held = zap.zap_objset->os_dmu.variants.tx_hold_zap->zap_block_hold(zap, blkid);
    if (!held)
        return SET_ERROR(held.error());
    dmu_buf_hold_t db = std::move(*held);

    auto *leaf = static_cast<zap_leaf_t *>(dmu_buf_get_user(*db));
    if (leaf == nullptr)
        leaf = &zap_open_leaf(blkid, *db);
    auto guard = rw_enter(leaf->l_rwlock, how);
    if (how == RW_WRITER)
        leaf->l_contents.write(leaf_lines);
    else
        leaf->l_contents.read(leaf_lines);
    // Locked before it is dirtied: dirtying may move the bytes away from under a reader.
    if (how == RW_WRITER)
        dmu_buf_will_dirty(*db, *tx);
    VERIFY3(leaf->l_blkid, ==, blkid);
    VERIFY3(leaf->bytes().header().lh_block_type, ==, ZBT_LEAF);
    VERIFY3(leaf->bytes().header().lh_magic, ==, ZAP_LEAF_MAGIC);
    return zap_leaf_hold_t(*leaf, std::move(db), std::move(guard));
}

Result<zap_leaf_hold_t> zap_deref_leaf(zap_t &zap, uint64_t hash, dmu_tx_t *tx, krw_t how)
{
    Probe probe{Fn::zap_deref_leaf};
    const zap_phys_t &header = zap.f_phys();
    if (header.zap_block_type != ZBT_HEADER || header.zap_magic != ZAP_MAGIC)
        return SET_ERROR(EIO);

    auto blkid = zap_idx_to_blk(zap, zap_hash_index(hash, header.zap_ptrtbl.zt_shift));
    if (!blkid)
        return SET_ERROR(blkid.error());
    auto leaf = zap_get_leaf_byblk(zap, *blkid, tx, how);
    if (leaf)
        VERIFY(leaf->bytes().covers(hash));
    return leaf;
}

// Makes room in `leaf` for `hash`: on success it is the leaf that covers the hash now, which may still be full.
Result<> zap_expand_leaf(zap_lock_t &lock, uint64_t hash, zap_leaf_hold_t &leaf, dmu_tx_t &tx)
{
    Probe probe{Fn::zap_expand_leaf};
    const uint64_t old_prefix_len = leaf.bytes().header().lh_prefix_len;
    const auto table_shift = [&] { return lock->f_phys().zap_ptrtbl.zt_shift; };
    VERIFY(leaf.bytes().covers(hash));

    if (!lock.zap_tryupgradedir(tx) || old_prefix_len == table_shift()) {
        // The leaf goes first: whoever holds the header as writer may be waiting for it.
        leaf.zap_put_leaf();
        if (auto retaken = lock.retake_as_writer(tx); !retaken)
            return retaken;
        VERIFY(!lock->zap_ismicro);

        while (old_prefix_len == table_shift()) { // zap_grow_ptrtbl refuses to go on for ever
            if (auto grown = zap_grow_ptrtbl(*lock, tx); !grown)
                return grown;
        }
        auto found = zap_deref_leaf(*lock, hash, &tx, RW_WRITER);
        if (!found)
            return SET_ERROR(found.error());
        leaf = std::move(*found);
        if (leaf.bytes().header().lh_prefix_len != old_prefix_len)
            return {}; // somebody else split it meanwhile
    }
    VERIFY(RW_WRITE_HELD(lock->zap_rwlock));
    VERIFY3(old_prefix_len, <, table_shift());

    // The pointers that the new leaf takes over are the upper half of the old one's.
    const uint64_t finer_bits = table_shift() - (old_prefix_len + 1);
    const uint64_t first = (zap_hash_index(hash, old_prefix_len + 1) | 1) << finer_bits;
    const uint64_t count = 1ull << finer_bits;
    for (uint64_t i = 0; i < count; ++i) { // errors must show before anything is changed
        auto blkid = zap_idx_to_blk(*lock, first + i);
        if (!blkid)
            return SET_ERROR(blkid.error());
        VERIFY3(*blkid, ==, leaf->l_blkid);
    }

    zap_leaf_hold_t sibling = zap_create_leaf(*lock, tx);
    leaf.bytes().split(sibling.bytes());
    for (uint64_t i = 0; i < count; ++i) {
        auto stored = zap_set_idx_to_blk(*lock, first + i, sibling->l_blkid, tx);
        VERIFY(stored.ok());
    }

    if (sibling.bytes().covers(hash))
        leaf = std::move(sibling); // gives the old one back
    return {};
}

void zap_put_leaf_maybe_grow_ptrtbl(zap_lock_t &lock, zap_leaf_hold_t &leaf, dmu_tx_t &tx)
{
    Probe probe{Fn::zap_put_leaf_maybe_grow_ptrtbl};
    const uint64_t shift = lock->f_phys().zap_ptrtbl.zt_shift;
    const zap_leaf_header &header = leaf.bytes().header();
    const bool soon_full = header.lh_prefix_len == shift && header.lh_nfree < ZAP_LEAF_LOW_WATER;
    leaf.zap_put_leaf();
    if (!soon_full && lock->f_phys().zap_ptrtbl.zt_nextblk == 0)
        return;

    if (!lock.zap_tryupgradedir(tx) && !lock.retake_as_writer(tx))
        return;
    // Unless it was finished by somebody else while the lock was down. No space: then it stays as it is.
    if (lock->f_phys().zap_ptrtbl.zt_shift == shift)
        std::ignore = zap_grow_ptrtbl(*lock, tx);
}

} // namespace dmu
