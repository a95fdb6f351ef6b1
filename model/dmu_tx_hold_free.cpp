// What freeing a range may cost: the block pointers cleared, and the memory of the indirect blocks they are in.
//
// The level-1 blocks of the range are visited one by one through dnode_next_offset, which passes over those that do not
// exist. Code bases before the fix of zfs#3064 assumed that every one exists: for a huge sparse object the estimate was
// then above what any txg can hold, and the transaction was never assigned (code.hold_free_whole_range). Followed:
// OpenZFS 8bea98150 (2016).
#include <algorithm>

#include "model/dbuf.h"
#include "model/dmu_tx.h"
#include "model/dnode.h"
#include "model/objset.h"
#include "model/spa.h"

namespace dmu {

namespace {

constexpr uint32_t DN_MAX_OFFSET_SHIFT = 64;

struct block_span {
    uint64_t first = 0, count = 0;
    uint64_t last() const { return first + count - 1; }
};

// The existing level-0 blocks that a range covers; none where nothing would be freed.
block_span blocks_of(const dnode_t &dn, uint64_t off, uint64_t len)
{
    if (dn.dn_maxblkid == 0)
        return off == 0 && len >= dn.dn_datablksz ? block_span{0, 1} : block_span{};
    const uint64_t first = off >> dn.dn_datablkshift;
    if (first > dn.dn_maxblkid)
        return {};
    const uint64_t count = (len + dn.dn_datablksz - 1) >> dn.dn_datablkshift;
    return {first, std::min(count, dn.dn_maxblkid - first + 1)};
}

// Adds what the pointers of one block will give up.
void count_pointers(dmu_tx_hold_t &txh, const blkptr_t *bps, uint64_t count)
{
    dnode_t &dn = *txh.txh_dnode;
    for (uint64_t i = 0; i < count; ++i) {
        if (dsl_dataset_block_freeable(*dn.dn_objset->os_dsl_dataset, &bps[i], bps[i].blk_birth))
            txh.txh_space_tofree += bp_get_dsize(*txh.txh_tx->tx_pool->dp_spa, bps[i]);
        txh.txh_space_tounref += BP_IS_HOLE(bps[i]) ? 0 : bps[i].blk_lsize;
    }
}

struct level1_count {
    uint64_t present = 0, skipped = 0;
};

// REQUIRES: dn_struct_rwlock is held as reader.
Result<level1_count> count_level1(dmu_tx_hold_t &txh, block_span span, bool whole_range)
{
    dnode_t &dn = *txh.txh_dnode;
    const uint32_t epbs = dn.dn_indblkshift - SPA_BLKPTRSHIFT;
    const uint64_t last = span.last();
    level1_count level1;
    const auto rest = [&](uint64_t blkid) { return (last >> epbs) - (blkid >> epbs) + 1; };

    for (uint64_t blkid = span.first; blkid <= last;) {
        const next_offset_t next = dnode_next_offset(dn, DNODE_FIND_HAVELOCK, blkid << dn.dn_datablkshift, 2, 1, 0);
        const uint64_t found = next.offset >> dn.dn_datablkshift;
        if (next.error == ESRCH || found > last) {
            level1.skipped += rest(blkid);
            break;
        }
        if (found > blkid) {
            level1.skipped += (found >> epbs) - (blkid >> epbs) - 1;
            blkid = found;
        }

        Result<dbuf_hold_t> db = dbuf_hold_impl(dn, 1, blkid >> epbs, false, false);
        if (!db)
            return SET_ERROR(db.error());
        txh.txh_memory_tohold += (*db)->db_size;
        if (Result<> read = dbuf_read(**db, DB_RF_HAVESTRUCT | DB_RF_CANFAIL); !read)
            return SET_ERROR(read.error());

        const uint64_t in_block = blkid & ((1ull << epbs) - 1);
        const uint64_t count = std::min<uint64_t>((1ull << epbs) - in_block, last - blkid + 1);
        count_pointers(txh, (*db)->blkptrs() + in_block, count);
        ++level1.present;
        blkid += count;
    }

    if (whole_range) {
        txh.txh_memory_tohold += level1.skipped << dn.dn_indblkshift;
        level1.present += level1.skipped;
        level1.skipped = 0;
    }
    return level1;
}

void dmu_tx_count_free(dmu_tx_hold_t &txh, uint64_t off, uint64_t len)
{
    Probe probe{Fn::dmu_tx_count_free};
    dnode_t &dn = *txh.txh_dnode;
    const uint32_t epbs = dn.dn_indblkshift - SPA_BLKPTRSHIFT;

    // The number of levels must not change while the blocks are looked at.
    auto reader = rw_enter(dn.dn_struct_rwlock, RW_READER);
    const block_span span = blocks_of(dn, off, len);
    if (span.count == 0)
        return;
    level1_count level1{.present = 1};
    if (dn.dn_nlevels == 1) {
        VERIFY3(span.last(), <, dn.dn_nblkptr);
        count_pointers(txh, dn.dn_phys->dn_blkptr + span.first, span.count);
    } else {
        const bool whole_range = dn.dn_objset->os_spa.spa_config.code.hold_free_whole_range;
        Result<level1_count> counted = count_level1(txh, span, whole_range);
        if (!counted) {
            txh.txh_tx->tx_err = counted.error();
            return;
        }
        level1 = *counted;
    }
    reader.exit();

    // Memory of the levels above, at the worst depth and with the level-1 blocks spread as far apart as possible.
    const uint32_t levels = (DN_MAX_OFFSET_SHIFT - dn.dn_datablkshift) / epbs;
    uint64_t blocks = 1 + ((span.count >> epbs) >> epbs);
    for (uint32_t level = 0; level < levels; ++level, blocks = 1 + (blocks >> epbs))
        txh.txh_memory_tohold += std::max<uint64_t>(std::min(blocks, level1.present), 1) << dn.dn_indblkshift;

    // Level-1 blocks that did not exist may by the time the transaction runs.
    txh.txh_fudge += level1.skipped << dn.dn_indblkshift;
    txh.txh_memory_tohold += std::min(level1.skipped, DMU_MAX_DELETEBLKCNT >> epbs) << dn.dn_indblkshift;
}

// Reads every level-1 block of the range that exists.
Result<> check_level1(dnode_t &dn, uint64_t off, uint64_t len)
{
    if (dn.dn_nlevels <= 1)
        return {};
    const uint32_t shift = dn.dn_datablkshift + dn.dn_indblkshift - SPA_BLKPTRSHIFT;
    const uint64_t end = dn.dn_datablkshift == 0 ? 0 : (off + len) >> shift;
    for (uint64_t i = dn.dn_datablkshift == 0 ? 0 : off >> shift; i <= end; ++i) {
        const next_offset_t next = dnode_next_offset(dn, 0, i << shift, 2, 1, 0);
        i = next.offset >> shift;
        if (next.error == ESRCH || i > end)
            break;
        if (Result<> read = dmu_tx_check_ioerr(dn, 1, i); !read)
            return read;
    }
    return {};
}

} // namespace

void dmu_tx_hold_free(dmu_tx_t &tx, uint64_t object, uint64_t off, uint64_t len)
{
    Probe probe{Fn::dmu_tx_hold_free};
    VERIFY3(tx.tx_txg, ==, 0u);
    dmu_tx_hold_t *txh = dmu_tx_hold_object_impl(tx, *tx.tx_objset, object, THT_FREE, off, len);
    if (txh == nullptr)
        return;
    dnode_t &dn = *txh->txh_dnode;
    dmu_tx_count_dnode(*txh);

    const uint64_t size = (dn.dn_maxblkid + 1) * dn.dn_datablksz;
    if (off >= size)
        return;
    if (len == DMU_OBJECT_END)
        len = size - off;
    dmu_tx_count_dnode(*txh); // counted twice, as the real code does

    // A block that is only partly covered is not freed but written.
    if (dn.dn_datablkshift == 0) {
        if (off != 0 || len < dn.dn_datablksz)
            dmu_tx_count_write(*txh, 0, dn.dn_datablksz);
    } else {
        if (off % dn.dn_datablksz != 0)
            dmu_tx_count_write(*txh, off, 1);
        if ((off + len) % dn.dn_datablksz != 0)
            dmu_tx_count_write(*txh, off + len, 1);
    }

    if (Result<> read = check_level1(dn, off, len); !read) {
        tx.tx_err = read.error();
        return;
    }
    dmu_tx_count_free(*txh, off, len);
}

} // namespace dmu
