// What a transaction says it will change, and the worst that this can cost.
//
// A hold looks the object up, reads the blocks that the change will need (so that an error shows while nothing has been
// changed yet) and adds to four sums: bytes written to new places (towrite) or over blocks that become free
// (tooverwrite), bytes given up (tofree, tounref), and memory. The estimates assume the smallest blocks and the deepest
// tree that the object may have by the time the transaction runs. Followed: OpenZFS 8bea98150 (2016).
#include <algorithm>
#include <array>
#include <bit>

#include "model/dbuf.h"
#include "model/dmu_state.h"
#include "model/dmu_tx.h"
#include "model/dnode.h"
#include "model/objset.h"
#include "model/spa.h"
#include "model/variants/tx_hold_zap.h"

namespace dmu {

namespace {

constexpr uint32_t DN_MAX_OFFSET_SHIFT = 64;
constexpr uint32_t DN_MAX_LEVELS =
    2 + (DN_MAX_OFFSET_SHIFT - SPA_MINBLOCKSHIFT) / (DN_MIN_INDBLKSHIFT - SPA_BLKPTRSHIFT);

uint32_t highbit64(uint64_t value)
{
    return static_cast<uint32_t>(std::bit_width(value));
}

uint32_t epbs(const dnode_t &dn)
{
    return dn.dn_indblkshift - SPA_BLKPTRSHIFT;
}

uint64_t indirect_bytes(const dnode_t &dn)
{
    return 1ull << dn.dn_indblkshift;
}

// The code base's largest indirect block, also the one that new objects get.
uint32_t max_indblkshift(const dmu_tx_t &tx)
{
    return tx.tx_objset->os_spa.spa_config.dataset.indirect_shift;
}

bool freeable(const dnode_t &dn, const blkptr_t &bp)
{
    return dsl_dataset_block_freeable(*dn.dn_objset->os_dsl_dataset, &bp, bp.blk_birth);
}

// Which block of each level was counted last: neighbours share their ancestors.
using twig_history = std::array<uint64_t, DN_MAX_LEVELS>;

// A block that exists and will be written again, and its ancestors. An ancestor is as freeable as what lies below it.
void dmu_tx_count_twig(dmu_tx_hold_t &txh, const dmu_buf_impl_t *db, uint64_t blkid, twig_history &history)
{
    dnode_t &dn = *txh.txh_dnode;
    bool overwritten = false;
    for (uint32_t level = 0; level < dn.dn_nlevels && history[level] != blkid; ++level, blkid >>= epbs(dn)) {
        history[level] = blkid;
        const uint64_t space = level == 0 ? dn.dn_datablksz : indirect_bytes(dn);

        if (db == dn.dn_dbuf)
            db = nullptr; // above the top level: the dnode's own block
        const blkptr_t *bp = db != nullptr ? db->db_blkptr : nullptr;
        overwritten = bp != nullptr && (overwritten || freeable(dn, *bp));
        (overwritten ? txh.txh_space_tooverwrite : txh.txh_space_towrite) += space;
        if (bp != nullptr)
            txh.txh_space_tounref += bp_get_dsize(*txh.txh_tx->tx_pool->dp_spa, *bp);
        if (db != nullptr)
            db = db->db_parent;
    }
}

// The first and last level-0 block, where they are not covered whole, and every level-1 block between.
Result<> check_write_blocks(dnode_t &dn, uint64_t off, uint64_t len)
{
    if (dn.dn_maxblkid == 0) {
        if (off < dn.dn_datablksz && (off > 0 || len < dn.dn_datablksz))
            return dmu_tx_check_ioerr(dn, 0, 0);
        return {};
    }

    const uint64_t start = off >> dn.dn_datablkshift;
    const uint64_t end = (off + len - 1) >> dn.dn_datablkshift;
    if (off % dn.dn_datablksz != 0 || len < dn.dn_datablksz) {
        if (Result<> read = dmu_tx_check_ioerr(dn, 0, start); !read)
            return read;
    }
    if (end != start && end <= dn.dn_maxblkid && (off + len) % dn.dn_datablksz != 0) {
        if (Result<> read = dmu_tx_check_ioerr(dn, 0, end); !read)
            return read;
    }
    if (dn.dn_nlevels > 1) {
        for (uint64_t i = (start >> epbs(dn)) + 1; i < end >> epbs(dn); ++i)
            if (Result<> read = dmu_tx_check_ioerr(dn, 1, i); !read)
                return read;
    }
    return {};
}

struct shift_range {
    uint32_t min, max;
};

// Bytes that will be written beyond what exists, with indirect blocks of the worst shape above them.
void count_new_blocks(dmu_tx_hold_t &txh, uint64_t off, uint64_t len, shift_range data, shift_range indirect)
{
    const uint64_t record = 1ull << data.max;
    uint64_t start = off & ~(record - 1);
    uint64_t end = ((off + len + record - 1) & ~(record - 1)) - 1; // the last byte, so that it cannot overflow
    txh.txh_space_towrite += end - start + 1;

    start >>= data.min;
    end >>= data.min;
    const int per_level = static_cast<int>(indirect.min - SPA_BLKPTRSHIFT);
    for (int bits = 64 - static_cast<int>(data.min); bits >= 0; bits -= per_level) {
        start >>= per_level;
        end >>= per_level;
        txh.txh_space_towrite += (end - start + 1) << indirect.max;
        if (start != 0)
            txh.txh_space_towrite += 1ull
                                     << indirect.max; // what is at the object's start moves under a new first block
    }
}

} // namespace

namespace {

// Adds a hold of dn (null: a new object), which the caller has referenced. An object that joins an assigned transaction
// has just been allocated by it: nobody else can have claimed it.
dmu_tx_hold_t *add_hold(dmu_tx_t &tx, dnode_t *dn, dmu_tx_hold_type type, uint64_t arg1, uint64_t arg2)
{
    if (dn != nullptr && tx.tx_txg != 0) {
        auto held = mutex_enter(dn->dn_mtx);
        VERIFY3(dn->dn_assigned_txg, ==, 0u);
        dn->dn_assigned_txg = tx.tx_txg;
        zfs_refcount_add(dn->dn_tx_holds);
    }

    kmem_zalloc(sizeof(dmu_tx_hold_t));
    VERIFY3(tx.tx_hold_count, <, TX_HOLDS_MAX);
    dmu_tx_hold_t &txh = tx.tx_holds[tx.tx_hold_count++];
    txh = {};
    txh.txh_tx = &tx;
    txh.txh_dnode = dn;
    txh.txh_arg1 = arg1;
    txh.txh_arg2 = arg2;
    txh.txh_type = type;
    return &txh;
}

} // namespace

dmu_tx_hold_t *dmu_tx_hold_object_impl(dmu_tx_t &tx, objset_t &os, uint64_t object, dmu_tx_hold_type type,
                                       uint64_t arg1, uint64_t arg2)
{
    Probe probe{Fn::dmu_tx_hold_object_impl};
    if (object == DMU_NEW_OBJECT)
        return add_hold(tx, nullptr, type, arg1, arg2);
    Result<dnode_hold_t> hold = dnode_hold(os, object);
    if (!hold) {
        tx.tx_err = hold.error();
        return nullptr;
    }
    return add_hold(tx, hold->keep(), type, arg1, arg2);
}

void dmu_tx_add_new_object(dmu_tx_t &tx, objset_t &os, uint64_t object)
{
    Probe probe{Fn::dmu_tx_add_new_object};
    // The sync thread may change anything, and a hold on a dnode would only be in its way.
    if (!dmu_tx_is_syncing(tx))
        dmu_tx_hold_object_impl(tx, os, object, THT_NEWOBJECT, 0, 0);
}

void dmu_tx_add_new_object(dmu_tx_t &tx, dnode_t &dn)
{
    Probe probe{Fn::dmu_tx_add_new_object};
    if (dmu_tx_is_syncing(tx))
        return;
    Probe hold{Fn::dmu_tx_hold_dnode_impl};
    zfs_refcount_add(dn.dn_holds);
    add_hold(tx, &dn, THT_NEWOBJECT, 0, 0);
}

Result<> dmu_tx_check_ioerr(dnode_t &dn, uint32_t level, uint64_t blkid)
{
    Probe probe{Fn::dmu_tx_check_ioerr};
    auto reader = rw_enter(dn.dn_struct_rwlock, RW_READER);
    dbuf_hold_t db = dbuf_hold_level(dn, static_cast<uint8_t>(level), blkid);
    reader.exit();
    if (!db)
        return SET_ERROR(EIO);
    return dbuf_read(*db, DB_RF_CANFAIL | DB_RF_NOPREFETCH);
}

void dmu_tx_count_dnode(dmu_tx_hold_t &txh)
{
    Probe probe{Fn::dmu_tx_count_dnode};
    const dnode_t &mdn = DMU_META_DNODE(*txh.txh_tx->tx_objset);
    const uint64_t space = mdn.dn_datablksz + (static_cast<uint64_t>(mdn.dn_nlevels - 1) << mdn.dn_indblkshift);

    const dnode_t *dn = txh.txh_dnode;
    const blkptr_t *bp = dn != nullptr ? dn->dn_dbuf->db_blkptr : nullptr;
    if (bp != nullptr && freeable(*dn, *bp))
        txh.txh_space_tooverwrite += space;
    else
        txh.txh_space_towrite += space;
    if (bp != nullptr)
        txh.txh_space_tounref += space;
}

void dmu_tx_count_write(dmu_tx_hold_t &txh, uint64_t off, uint64_t len)
{
    Probe probe{Fn::dmu_tx_count_write};
    if (len == 0)
        return;
    dmu_tx_t &tx = *txh.txh_tx;
    const uint64_t recordsize = tx.tx_objset->os_spa.spa_config.dataset.recordsize;
    shift_range data{SPA_MINBLOCKSHIFT, highbit64(recordsize) - 1};
    shift_range indirect{DN_MIN_INDBLKSHIFT, max_indblkshift(tx)};

    if (dnode_t *dn = txh.txh_dnode) {
        if (Result<> read = check_write_blocks(*dn, off, len); !read) {
            tx.tx_err = read.error();
            return;
        }

        // With more than one block the block size is fixed; a single one may still grow.
        uint64_t start, end, delta = dn->dn_datablksz;
        if (dn->dn_maxblkid == 0) {
            start = off < dn->dn_datablksz ? 0 : 1;
            end = off + len <= dn->dn_datablksz ? 0 : 1;
            if (start == 0 && (off > 0 || len < dn->dn_datablksz))
                delta -= off;
            data.min = highbit64(dn->dn_datablksz - 1);
            data.max = std::max(data.max, data.min);
        } else {
            start = off >> dn->dn_datablkshift;
            end = (off + len - 1) >> dn->dn_datablkshift;
            delta = (dn->dn_datablksz - off % dn->dn_datablksz) % dn->dn_datablksz;
            data = {dn->dn_datablkshift, dn->dn_datablkshift};
        }
        indirect = {dn->dn_indblkshift, dn->dn_indblkshift};

        twig_history history;
        history.fill(~0ull);
        while (start <= dn->dn_maxblkid) {
            auto reader = rw_enter(dn->dn_struct_rwlock, RW_READER);
            Result<dbuf_hold_t> db = dbuf_hold_impl(*dn, 0, start, false, false);
            reader.exit();
            if (!db) {
                tx.tx_err = db.error();
                return;
            }
            dmu_tx_count_twig(txh, db->get(), start, history);
            db->rele();

            if (++start > end) {
                // All of it exists; indirect blocks may still appear above it before the transaction runs.
                const int per_level = static_cast<int>(indirect.min - SPA_BLKPTRSHIFT);
                for (int bits = 64 - static_cast<int>(data.min) - per_level * (dn->dn_nlevels - 1); bits >= 0;
                     bits -= per_level)
                    txh.txh_fudge += 1ull << indirect.max;
                break;
            }
            off += delta;
            if (len >= delta)
                len -= delta;
            delta = dn->dn_datablksz;
        }
        if (start > end) {
            if (txh.txh_space_towrite + txh.txh_space_tooverwrite > 2 * DMU_MAX_ACCESS)
                tx.tx_err = EFBIG;
            return;
        }
    }

    count_new_blocks(txh, off, len, data, indirect);
    if (txh.txh_space_towrite + txh.txh_space_tooverwrite > 2 * DMU_MAX_ACCESS)
        tx.tx_err = EFBIG;
}

void dmu_tx_hold_bonus(dmu_tx_t &tx, uint64_t object)
{
    Probe probe{Fn::dmu_tx_hold_bonus};
    VERIFY3(tx.tx_txg, ==, 0u);
    if (dmu_tx_hold_t *txh = dmu_tx_hold_object_impl(tx, *tx.tx_objset, object, THT_BONUS, 0, 0))
        dmu_tx_count_dnode(*txh);
}

void dmu_tx_hold_write(dmu_tx_t &tx, uint64_t object, uint64_t off, uint64_t len)
{
    Probe probe{Fn::dmu_tx_hold_write};
    VERIFY3(tx.tx_txg, ==, 0u);
    VERIFY3(len, <=, DMU_MAX_ACCESS);
    VERIFY(len == 0 || ~0ull - off >= len - 1);
    if (dmu_tx_hold_t *txh = dmu_tx_hold_object_impl(tx, *tx.tx_objset, object, THT_WRITE, off, len)) {
        dmu_tx_count_write(*txh, off, len);
        dmu_tx_count_dnode(*txh);
    }
}

void dmu_tx_hold_space(dmu_tx_t &tx, uint64_t space)
{
    VERIFY3(tx.tx_txg, ==, 0u);
    if (dmu_tx_hold_t *txh = dmu_tx_hold_object_impl(tx, *tx.tx_objset, DMU_NEW_OBJECT, THT_SPACE, space, 0))
        txh->txh_space_towrite += space;
}

// --- directories
// ------------------------------------------------------------------------------------------------------

void dmu_tx_hold_zap(dmu_tx_t &tx, uint64_t object, bool add, const std::string_view *name)
{
    Probe probe{Fn::dmu_tx_hold_zap};
    VERIFY3(tx.tx_txg, ==, 0u);
    const uint64_t holds_before = dnode_hold_impl_calls(curthread().calls);
    dmu_tx_hold_t *txh = dmu_tx_hold_object_impl(tx, *tx.tx_objset, object, THT_ZAP, add, name != nullptr);
    if (txh != nullptr)
        tx.tx_objset->os_dmu.variants.tx_hold_zap->hold(*txh, add, name);
    const uint64_t holds = dnode_hold_impl_calls(curthread().calls);
    if (name != nullptr && holds >= holds_before) { // below it: the counting began anew meanwhile
        auto &rows = tx.tx_pool->dp_hold_zap_holds;
        ++rows[std::min<uint64_t>(holds - holds_before, rows.size() - 1)];
    }
}

// --- system attributes
// ------------------------------------------------------------------------------------------------

void dmu_tx_hold_sa_create(dmu_tx_t &tx, uint64_t)
{
    Probe probe{Fn::dmu_tx_hold_sa_create};
    const sa_os_t &sa = tx.tx_objset->os_sa;
    dmu_tx_hold_bonus(tx, DMU_NEW_OBJECT);
    if (sa.sa_master_obj == 0)
        return;
    VERIFY3(sa.sa_layout_attr_obj, !=, 0u); // made with the file system
    dmu_tx_hold_zap(tx, sa.sa_layout_attr_obj, true, nullptr);
}

void dmu_tx_hold_sa(dmu_tx_t &tx, uint64_t object, bool may_grow)
{
    Probe probe{Fn::dmu_tx_hold_sa};
    const sa_os_t &sa = tx.tx_objset->os_sa;
    dmu_tx_hold_bonus(tx, object);
    if (sa.sa_master_obj == 0)
        return;
    VERIFY3(sa.sa_layout_attr_obj, !=, 0u);
    if (may_grow)
        dmu_tx_hold_zap(tx, sa.sa_layout_attr_obj, true, nullptr);
}

// --- a check
// ----------------------------------------------------------------------------------------------------------

void dmu_tx_dirty_buf(const dmu_tx_t &tx, const dmu_buf_impl_t &db)
{
    VERIFY3(tx.tx_txg, !=, 0u);
    if (tx.tx_anyobj || db.db_object == DMU_META_DNODE_OBJECT)
        return;

    // A hold of the object, and one that covers this change: its own, or one of an object that did not exist then.
    const dnode_t &dn = DB_DNODE(db);
    const bool bonus = db.db_blkid == DMU_BONUS_BLKID;
    bool object = false, place = false;
    for (uint32_t i = 0; i < tx.tx_hold_count && !(object && place); ++i) {
        const dmu_tx_hold_t &txh = tx.tx_holds[i];
        if (txh.txh_dnode != nullptr && txh.txh_dnode != &dn)
            continue;
        object |= txh.txh_dnode == &dn;
        place |= txh.txh_type == THT_ZAP || txh.txh_type == THT_WRITE || txh.txh_type == THT_FREE ||
                 (txh.txh_type == THT_BONUS && bonus);
    }
    if (!object || !place)
        PANIC("dirtying object %llu level %u block %llu, which the transaction does not hold",
              static_cast<unsigned long long>(db.db_object), db.db_level, static_cast<unsigned long long>(db.db_blkid));
}

} // namespace dmu
