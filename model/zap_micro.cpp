// The one-block form: slots of 64 bytes, found through an index in memory.
//
// The block itself has no order: a new entry takes the next free slot after the one taken last. The index maps (hash,
// cd) to slots, is built by reading the whole block when the zap_t is made, and serves look-ups and cursors. An entry
// that does not fit a slot, or a 2,048th one, turns the block into the header of a fat ZAP: all entries are added to
// that one by one, in slot order. An empty name is stored as a free slot: it is found until the block is read again.
#include "model/dmu_state.h"
#include "model/zap_hash.h"
#include "model/zap_impl.h"

#include <bit>
#include <cstring>
#include <vector>

namespace dmu {

namespace {

constexpr uint64_t mzap_ent_bytes = 48; // mzap_ent_t: a tree node, hash, cd and slot

void mze_insert(zap_t &zap, uint32_t slot, uint64_t hash)
{
    Probe probe{Fn::mze_insert};
    kmem_alloc(mzap_ent_bytes);
    zap.zap_avl.emplace(zap_t::place{hash, zap.m_slot(slot).mze_cd}, slot);
}

uint32_t mze_find_unused_cd(const zap_t &zap, uint64_t hash)
{
    Probe probe{Fn::mze_find_unused_cd};
    uint32_t cd = 0;
    for (auto entry = zap.zap_avl.find({hash, 0}); entry != zap.zap_avl.end() && entry->first == zap_t::place{hash, cd};
         ++entry)
        ++cd;
    return cd;
}

std::string_view slot_name(const mzap_ent_phys_t &slot)
{
    return {slot.mze_name, strnlen(slot.mze_name, MZAP_NAME_LEN)};
}

} // namespace

mzap_phys_t &zap_t::m_phys() const
{
    return *reinterpret_cast<mzap_phys_t *>(zap_dbuf->bytes());
}

mzap_ent_phys_t &zap_t::m_slot(uint32_t slot) const
{
    VERIFY3(slot, <, zap_num_chunks);
    return reinterpret_cast<mzap_ent_phys_t *>(zap_dbuf->bytes() + sizeof(mzap_phys_t))[slot];
}

// Two threads may find a block without a zap_t at the same time; the buffer keeps the first one's.
zap_t *mzap_open(objset_t &os, uint64_t object, dmu_buf_impl_t &db)
{
    Probe probe{Fn::mzap_open};
    const auto *words = reinterpret_cast<const uint64_t *>(db.bytes());
    const bool micro = words[0] == ZBT_MICRO;
    const bool fat = words[0] == ZBT_HEADER && words[1] == ZAP_MAGIC;
    if (!micro && !fat)
        return nullptr;

    auto zap = std::make_unique<zap_t>();
    kmem_alloc(sizeof(zap_t));
    auto writer = rw_enter(zap->zap_rwlock, RW_WRITER);
    zap->zap_objset = &os;
    zap->zap_object = object;
    zap->zap_dbuf = &db;
    zap->zap_ismicro = micro;
    if (!micro)
        zap->zap_block_shift = static_cast<uint32_t>(std::bit_width(db.db_size)) - 1;

    if (auto *winner = static_cast<zap_t *>(dmu_buf_set_user(db, zap.get())); winner != nullptr) {
        writer.exit();
        return winner;
    }

    if (micro) {
        zap->zap_salt = zap->m_phys().mz_salt;
        zap->zap_num_chunks = mzap_slots(db.db_size);
        for (uint32_t slot = 0; slot < zap->zap_num_chunks; ++slot) {
            if (zap->m_slot(slot).mze_name[0] == 0)
                continue;
            ++zap->zap_num_entries;
            const zap_name_t zn(*zap, slot_name(zap->m_slot(slot)));
            mze_insert(*zap, slot, zn.hash());
        }
    } else {
        zap->zap_salt = zap->f_phys().zap_salt;
    }
    writer.exit();
    return zap.release(); // the buffer's from here on
}

std::optional<uint32_t> mze_find(const zap_t &zap, const zap_name_t &zn)
{
    Probe probe{Fn::mze_find};
    VERIFY(zap.zap_ismicro);
    for (auto entry = zap.zap_avl.lower_bound({zn.hash(), 0});
         entry != zap.zap_avl.end() && entry->first.hash == zn.hash(); ++entry) {
        Probe match_probe{Fn::zap_match};
        if (slot_name(zap.m_slot(entry->second)) == zn.key())
            return entry->second;
    }
    return std::nullopt;
}

void mzap_addent(zap_t &zap, const zap_name_t &zn, uint64_t value)
{
    Probe probe{Fn::mzap_addent};
    VERIFY(zap.zap_ismicro);
    VERIFY3(zn.key().size(), <, MZAP_NAME_LEN);

    const uint32_t cd = mze_find_unused_cd(zap, zn.hash());
    for (uint32_t tried = 0; tried < zap.zap_num_chunks; ++tried) {
        const uint32_t slot = (zap.zap_alloc_next + tried) % zap.zap_num_chunks;
        mzap_ent_phys_t &entry = zap.m_slot(slot);
        if (entry.mze_name[0] != 0)
            continue;
        entry = {};
        entry.mze_value = value;
        entry.mze_cd = cd;
        std::memcpy(entry.mze_name, zn.key().data(), zn.key().size());
        ++zap.zap_num_entries;
        zap.zap_alloc_next = (slot + 1) % zap.zap_num_chunks;
        mze_insert(zap, slot, zn.hash());
        return;
    }
    PANIC("mzap_addent: no free slot in a microzap that is not full");
}

void mze_remove(zap_t &zap, uint32_t slot, uint64_t hash)
{
    Probe probe{Fn::mze_remove};
    for (auto entry = zap.zap_avl.lower_bound({hash, 0}); entry != zap.zap_avl.end() && entry->first.hash == hash;
         ++entry) {
        if (entry->second != slot)
            continue;
        zap.zap_avl.erase(entry);
        kmem_free(mzap_ent_bytes);
        return;
    }
    PANIC("mze_remove: slot %u is not in the index", slot);
}

Result<> mzap_upgrade(zap_lock_t &lock, dmu_tx_t &tx)
{
    Probe probe{Fn::mzap_upgrade};
    VERIFY(RW_WRITE_HELD(lock->zap_rwlock));

    const uint64_t size = lock->zap_dbuf->db_size;
    kmem_alloc(size);
    std::vector<mzap_ent_phys_t> entries(lock->zap_num_chunks);
    std::memcpy(static_cast<void *>(entries.data()), lock->zap_dbuf->bytes() + sizeof(mzap_phys_t),
                size - MZAP_ENT_LEN);

    if (auto resized =
            dmu_object_set_blocksize(*lock->zap_objset, lock->zap_object, 1u << fzap_default_block_shift, 0, tx);
        !resized)
        return resized;
    {
        Probe destroy_probe{Fn::mze_destroy};
        lock->zap_avl.clear();
    }
    fzap_upgrade(*lock, tx);

    for (const mzap_ent_phys_t &entry : entries) {
        if (entry.mze_name[0] == 0)
            continue;
        const zap_name_t zn(*lock, slot_name(entry));
        if (auto added = fzap_add_cd(lock, zn, {8, 1, &entry.mze_value}, entry.mze_cd, tx); !added)
            return added;
    }
    kmem_free(size);
    return {};
}

void mzap_create_impl(objset_t &os, uint64_t object, dmu_tx_t &tx)
{
    Probe probe{Fn::mzap_create_impl};
    auto db = dmu_buf_hold(os, object, 0);
    VERIFY(db.ok());
    dmu_buf_will_dirty(**db, tx);
    auto &header = *reinterpret_cast<mzap_phys_t *>((*db)->bytes());
    header.mz_block_type = ZBT_MICRO;
    header.mz_salt = os.os_dmu.config.dataset.zap_salt;
    header.mz_normflags = 0;
}

} // namespace dmu
