// Walking a ZAP in hash order. See zap_cursor_t in zap.h.
//
// The order (hash, cd) does not depend on the form, so a walk survives an upgrade, a split, and being continued from a
// cookie after a reboot. Of a fat ZAP every leaf is visited, full or empty: a directory that was once large stays slow
// to read.
#include "model/zap_impl.h"

namespace dmu {

// What a cursor keeps between two calls: buffers, no locks.
struct zap_cursor_holds {
    zap_t *zap = nullptr;
    dmu_buf_hold_t zap_db;
    zap_leaf_t *leaf = nullptr;
    dmu_buf_hold_t leaf_db;

    void drop_leaf()
    {
        leaf = nullptr;
        leaf_db.rele();
    }
};

zap_cursor_t::zap_cursor_t(objset_t &os, uint64_t zapobj, uint64_t serialized)
    : zc_objset(&os), zc_zapobj(zapobj), zc_serialized(serialized)
{
}

zap_cursor_t::~zap_cursor_t() noexcept(false)
{
    Probe probe{Fn::zap_cursor_fini};
    if (!zc_holds)
        return;
    {
        auto reader = rw_enter(zc_holds->zap->zap_rwlock, RW_READER);
        Probe unlock_probe{Fn::zap_unlockdir};
        reader.exit();
        zc_holds->zap_db.rele();
    }
    if (zc_holds->leaf != nullptr) {
        auto reader = rw_enter(zc_holds->leaf->l_rwlock, RW_READER);
        Probe put_probe{Fn::zap_put_leaf};
        reader.exit();
        zc_holds->drop_leaf();
    }
}

uint64_t zap_cursor_t::serialize() const
{
    Probe probe{Fn::zap_cursor_serialize};
    if (zc_hash == end_cookie)
        return end_cookie;
    if (!zc_holds)
        return zc_serialized;
    return (zc_hash >> (64 - ZAP_HASHBITS)) | (uint64_t{zc_cd} << ZAP_HASHBITS);
}

void zap_cursor_t::advance()
{
    Probe probe{Fn::zap_cursor_advance};
    if (zc_hash != end_cookie)
        ++zc_cd;
}

Result<zap_attribute_t> zap_cursor_t::retrieve()
{
    Probe probe{Fn::zap_cursor_retrieve};
    if (zc_hash == end_cookie)
        return SET_ERROR(ENOENT);

    rw_guard_t reader;
    if (!zc_holds) {
        auto lock = zap_lockdir(*zc_objset, zc_zapobj, nullptr, RW_READER, true, false);
        if (!lock)
            return SET_ERROR(lock.error());
        zc_holds = std::make_unique<zap_cursor_holds>();
        zc_holds->zap = &**lock;
        zc_holds->zap_db = lock->release_buffer(reader);

        // An advance before the first retrieve has counted in zc_cd already.
        zc_hash = zc_serialized << (64 - ZAP_HASHBITS);
        const uint64_t cd = zc_cd + (zc_serialized >> ZAP_HASHBITS);
        zc_cd = cd < UINT32_MAX ? static_cast<uint32_t>(cd) : 0; // a cookie nobody handed out
    } else {
        reader = rw_enter(zc_holds->zap->zap_rwlock, RW_READER);
    }
    return zc_holds->zap->zap_ismicro ? retrieve_micro() : retrieve_fat();
}

Result<zap_attribute_t> zap_cursor_t::retrieve_micro()
{
    const zap_t &zap = *zc_holds->zap;
    const auto entry = zap.zap_avl.lower_bound({zc_hash, zc_cd});
    if (entry == zap.zap_avl.end()) {
        zc_hash = end_cookie;
        return SET_ERROR(ENOENT);
    }
    zc_hash = entry->first.hash;
    zc_cd = entry->first.cd;
    const mzap_ent_phys_t &slot = zap.m_slot(entry->second);
    return zap_attribute_t{slot.mze_name, 8, 1, slot.mze_value};
}

Result<zap_attribute_t> zap_cursor_t::retrieve_fat()
{
    Probe probe{Fn::fzap_cursor_retrieve};
    zap_t &zap = *zc_holds->zap;

    // The leaf of the last call serves as long as it covers the place; it may have split, or have been read to its end.
    if (zc_holds->leaf != nullptr && !zc_holds->leaf->bytes().covers(zc_hash)) {
        auto reader = rw_enter(zc_holds->leaf->l_rwlock, RW_READER);
        Probe put_probe{Fn::zap_put_leaf};
        reader.exit();
        zc_holds->drop_leaf();
    }
    for (;;) { // once a leaf: the place only moves on
        zap_leaf_hold_t leaf;
        if (zc_holds->leaf != nullptr) {
            auto guard = rw_enter(zc_holds->leaf->l_rwlock, RW_READER);
            leaf = zap_leaf_hold_t(*zc_holds->leaf, std::move(zc_holds->leaf_db), std::move(guard));
            zc_holds->leaf = nullptr;
        } else {
            auto found = zap_deref_leaf(zap, zc_hash, nullptr, RW_READER);
            if (!found)
                return SET_ERROR(found.error());
            leaf = std::move(*found);
        }

        if (const auto entry = leaf.bytes().lookup_closest(zc_hash, zc_cd)) {
            zc_hash = entry->zeh_hash;
            zc_cd = entry->zeh_cd;
            zap_attribute_t attribute;
            attribute.za_integer_length = entry->zeh_integer_size;
            attribute.za_num_integers = entry->zeh_num_integers;
            if (entry->zeh_num_integers != 0)
                std::ignore = leaf.bytes().entry_read(*entry, 8, 1, &attribute.za_first_integer); // the first is enough
            char name[ZAP_MAXNAMELEN] = {};
            auto read = leaf.bytes().entry_read_name(*entry, sizeof(name), name);
            VERIFY(read.ok());
            attribute.za_name = name;
            zc_holds->leaf = &*leaf;
            zc_holds->leaf_db = leaf.release_buffer();
            return attribute;
        }

        // Nothing left here: on to the first hash of the next leaf, or past the last one.
        const uint64_t prefix_len = leaf.bytes().header().lh_prefix_len;
        const uint64_t covered = prefix_len == 0 ? UINT64_MAX : (1ull << (64 - prefix_len)) - 1;
        zc_hash = (zc_hash | covered) + 1;
        zc_cd = 0;
        if (zc_hash == 0) {
            zc_hash = end_cookie;
            return SET_ERROR(ENOENT);
        }
    }
}

} // namespace dmu
