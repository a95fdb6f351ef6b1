// Freeing a stretch of an object: in open context what is in memory, in the sync thread what is on disk.
//
// A transaction clears the dbufs, dirties the level-1 blocks that the stretch begins and ends in (and those between, so
// that they stay in memory), and notes the blocks; sync then frees them. Followed: OpenZFS 81285582b9, dnode.c.
#include <algorithm>
#include <cstring>

#include "model/dbuf_impl.h"
#include "model/dmu_tx.h"
#include "model/dnode_impl.h"
#include "model/objset.h"

namespace dmu {

namespace {

void ranges_clear(blkid_ranges &ranges, uint64_t first, uint64_t last)
{
    auto at = ranges.upper_bound({first, ~0ull});
    if (at != ranges.begin() && std::prev(at)->second >= first)
        --at;
    while (at != ranges.end() && at->first <= last) {
        const auto [from, to] = *at;
        at = ranges.erase(at);
        if (from < first)
            ranges.insert({from, first - 1});
        if (to > last)
            at = ranges.insert({last + 1, to}).first;
    }
}

bool ranges_contain(const blkid_ranges &ranges, uint64_t blkid)
{
    auto at = ranges.upper_bound({blkid, ~0ull});
    return at != ranges.begin() && std::prev(at)->second >= blkid;
}

void dnode_dirty_l1(dnode_t &dn, uint64_t l1blkid, dmu_tx_t &tx)
{
    if (auto db = dbuf_hold_level(dn, 1, l1blkid))
        dmu_buf_will_dirty(*db, tx);
}

// Zeroes part of a block, unless it is neither on disk nor dirty. REQUIRES: dn_struct_rwlock held as writer; it is
// dropped and taken again between.
void zero_part(dnode_t &dn, uint64_t blkid, uint64_t from, uint64_t bytes, dmu_tx_t &tx)
{
    auto db = dbuf_hold_impl(dn, 0, blkid, true, false);
    if (!db)
        return;
    dmu_buf_impl_t &part = **db;
    if (part.db_last_dirty == nullptr && (part.db_blkptr == nullptr || BP_IS_HOLE(*part.db_blkptr)))
        return;
    rw_exit(dn.dn_struct_rwlock);
    dmu_buf_will_dirty(part, tx);
    rw_enter_manual(dn.dn_struct_rwlock, RW_WRITER);
    if (part.db_buf->b_data->kind == block_kind::bytes)
        std::memset(part.bytes() + from, 0, bytes);
}

// The level-1 blocks of [first, last], those inside only where they exist.
void dirty_indirects(dnode_t &dn, uint64_t first, uint64_t last, dmu_tx_t &tx)
{
    dnode_dirty_l1(dn, first, tx);
    if (last != first)
        dnode_dirty_l1(dn, last, tx);
    const uint32_t shift = dn.dn_datablkshift + dn.dn_indblkshift - SPA_BLKPTRSHIFT;
    for (uint64_t l1 = first + 1; l1 < last; ++l1) {
        const next_offset_t next = dnode_next_offset(dn, DNODE_FIND_HAVELOCK, l1 << shift, 2, 1, 0);
        l1 = next.offset >> shift;
        if (next.error != 0 || l1 >= last)
            break;
        dnode_dirty_l1(dn, l1, tx);
    }
}

// The whole blocks within [off, off + len), after the partial ones at its ends have been zeroed; nblks is 0 for none.
struct blocks_t {
    uint64_t blkid = 0;
    uint64_t nblks = 0;
    bool indirect = true; // its level-1 blocks have to be dirtied
};
blocks_t whole_blocks(dnode_t &dn, uint64_t off, uint64_t len, dmu_tx_t &tx)
{
    const uint64_t blksz = dn.dn_datablksz;
    const bool trunc = len == DMU_OBJECT_END;
    if (trunc)
        len = ~0ull - off;
    uint64_t head = 0;
    if (dn.dn_datablkshift != 0) {
        if (off >> dn.dn_datablkshift > dn.dn_maxblkid)
            return {};
        head = (blksz - off % blksz) % blksz;
    } else {
        VERIFY(dn.dn_maxblkid == 0);
        if (off == 0 && len >= blksz)
            return {0, 1, false};
        if (off >= blksz)
            return {};
        head = blksz - off;
    }
    if (head != 0) {
        head = std::min(head, len);
        zero_part(dn, dbuf_whichblock(dn, 0, off), off % blksz, head, tx);
        off += head;
        len -= head;
    }
    if (len == 0 || off / blksz > dn.dn_maxblkid)
        return {};
    const uint64_t tail = trunc ? 0 : len % blksz;
    if (tail != 0) {
        zero_part(dn, dbuf_whichblock(dn, 0, off + len - tail), 0, tail, tx);
        len -= tail;
    }
    if (len == 0)
        return {};
    return {off / blksz, len / blksz + (trunc ? 1 : 0), true};
}

} // namespace

void dnode_free_range(dnode_t &dn, uint64_t off, uint64_t len, dmu_tx_t &tx)
{
    Probe probe{Fn::dnode_free_range};
    rw_enter_manual(dn.dn_struct_rwlock, RW_WRITER);

    const blocks_t freed = whole_blocks(dn, off, len, tx);
    if (freed.nblks != 0) {
        const uint64_t last = freed.blkid + freed.nblks - 1;
        if (freed.indirect && dn.dn_nlevels > 1) {
            const uint32_t epbs = dn.dn_indblkshift - SPA_BLKPTRSHIFT;
            dirty_indirects(dn, freed.blkid >> epbs, std::min(last, dn.dn_maxblkid) >> epbs, tx);
        }
        {
            auto held = mutex_enter(dn.dn_mtx);
            auto &ranges = dn.dn_free_ranges[tx.tx_txg & TXG_MASK];
            if (ranges == nullptr)
                ranges = std::make_unique<blkid_ranges>();
            ranges_clear(*ranges, freed.blkid, last);
            ranges->insert({freed.blkid, last});
        }
        dbuf_free_range(dn, freed.blkid, last, tx);
        dnode_setdirty(dn, tx);
    }
    rw_exit(dn.dn_struct_rwlock);
}

void dnode_unfree_block(dnode_t &dn, uint64_t blkid, uint64_t txg)
{
    if (auto &ranges = dn.dn_free_ranges[txg & TXG_MASK])
        ranges_clear(*ranges, blkid, blkid);
}

bool dnode_block_freed(dnode_t &dn, uint64_t blkid)
{
    Probe probe{Fn::dnode_block_freed};
    if (blkid == DMU_BONUS_BLKID)
        return false;
    if (dn.dn_free_txg != 0)
        return true;
    auto held = mutex_enter(dn.dn_mtx);
    return std::any_of(dn.dn_free_ranges.begin(), dn.dn_free_ranges.end(),
                       [&](const auto &ranges) { return ranges != nullptr && ranges_contain(*ranges, blkid); });
}

} // namespace dmu
