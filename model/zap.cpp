// Entering a ZAP, and the calls that serve both of its forms. See the head of zap.h.
#include "model/zap.h"
#include "model/dmu_state.h"
#include "model/zap_hash.h"
#include "model/zap_impl.h"

#include <charconv>
#include <cstdio>

namespace dmu {

// --- a name
// -----------------------------------------------------------------------------------------------------------

namespace {

constexpr uint64_t zap_name_bytes = 312; // zap_name_t with room for a normalised name

} // namespace

zap_name_t::zap_name_t(zap_t &zap, std::string_view name) : key_(name.substr(0, name.find('\0')))
{
    Probe probe{Fn::zap_name_alloc};
    kmem_alloc(zap_name_bytes);
    Probe hash_probe{Fn::zap_hash};
    zap_getflags_probe(); // hashed by the caller?
    zap_getflags_probe(); // a key of words?
    hash_ = zap_hash_bytes(zap.zap_salt, key_);
    Probe bits_probe{Fn::zap_hashbits};
    zap_getflags_probe();
}

zap_name_t::~zap_name_t() noexcept(false)
{
    Probe probe{Fn::zap_name_free};
    kmem_free(zap_name_bytes);
}

// --- locks
// ------------------------------------------------------------------------------------------------------------

zap_lock_t::zap_lock_t(zap_t &zap, dmu_buf_hold_t db, rw_guard_t guard)
    : zap_(&zap), db_(std::move(db)), guard_(std::move(guard))
{
}

void zap_lock_t::zap_unlockdir()
{
    if (zap_ == nullptr)
        return;
    Probe probe{Fn::zap_unlockdir};
    zap_ = nullptr;
    guard_.exit();
    db_.rele();
}

bool zap_lock_t::zap_tryupgradedir(dmu_tx_t &tx)
{
    Probe probe{Fn::zap_tryupgradedir};
    if (RW_WRITE_HELD(zap_->zap_rwlock))
        return true;
    if (!zap_->zap_objset->os_dmu.variants.zap_upgrade->zap_rw_tryupgrade(guard_))
        return false;
    dmu_buf_will_dirty(*zap_->zap_dbuf, tx);
    return true;
}

Result<> zap_lock_t::retake_as_writer(dmu_tx_t &tx)
{
    objset_t &os = *zap_->zap_objset;
    const uint64_t object = zap_->zap_object;
    zap_unlockdir();
    auto retaken = zap_lockdir(os, object, &tx, RW_WRITER, false, false);
    if (!retaken)
        return SET_ERROR(retaken.error());
    *this = std::move(*retaken);
    return {};
}

dmu_buf_hold_t zap_lock_t::release_buffer(rw_guard_t &guard)
{
    zap_ = nullptr;
    guard = std::move(guard_);
    return std::move(db_);
}

zap_lock_t &zap_lock_t::operator=(zap_lock_t &&other)
{
    zap_unlockdir();
    zap_ = std::exchange(other.zap_, nullptr);
    db_ = std::move(other.db_);
    guard_ = std::move(other.guard_);
    return *this;
}

zap_leaf_hold_t::zap_leaf_hold_t(zap_leaf_t &leaf, dmu_buf_hold_t db, rw_guard_t guard)
    : leaf_(&leaf), db_(std::move(db)), guard_(std::move(guard))
{
}

zap_leaf_hold_t &zap_leaf_hold_t::operator=(zap_leaf_hold_t &&other)
{
    zap_put_leaf();
    leaf_ = std::exchange(other.leaf_, nullptr);
    db_ = std::move(other.db_);
    guard_ = std::move(other.guard_);
    return *this;
}

dmu_buf_hold_t zap_leaf_hold_t::release_buffer()
{
    leaf_ = nullptr;
    guard_.exit();
    return std::move(db_);
}

void zap_leaf_hold_t::zap_put_leaf()
{
    if (leaf_ == nullptr)
        return;
    Probe probe{Fn::zap_put_leaf};
    leaf_ = nullptr;
    guard_.exit();
    db_.rele();
}

// --- zap_lockdir
// ------------------------------------------------------------------------------------------------------

namespace {

bool is_zap_type(dmu_object_type_t type)
{
    switch (type) {
    case DMU_OT_DIRECTORY_CONTENTS:
    case DMU_OT_MASTER_NODE:
    case DMU_OT_UNLINKED_SET:
    case DMU_OT_ZAP_OTHER:
    case DMU_OT_USERGROUP_USED:
    case DMU_OT_SA_MASTER_NODE:
    case DMU_OT_SA_ATTR_REGISTRATION:
    case DMU_OT_SA_ATTR_LAYOUTS:
        return true;
    default:
        return false;
    }
}

Result<zap_lock_t> zap_lockdir_impl(dmu_buf_hold_t db, dmu_tx_t *tx, krw_t lti, bool fatreader, bool adding)
{
    Probe probe{Fn::zap_lockdir_impl};
    objset_t &os = dmu_buf_get_objset(*db);
    if (!is_zap_type(dmu_object_info_from_db(*db).doi_type))
        return SET_ERROR(EINVAL);

    auto *zap = static_cast<zap_t *>(dmu_buf_get_user(*db));
    if (zap == nullptr)
        zap = mzap_open(os, db->db_object, *db);
    if (zap == nullptr)
        return SET_ERROR(EIO);

    // A microzap that becomes fat while we wait for its writer lock needs no more than a reader.
    const auto wanted = [&] { return !zap->zap_ismicro && fatreader ? RW_READER : lti; };
    krw_t entered = wanted();
    auto guard = rw_enter(zap->zap_rwlock, entered);
    if (entered != wanted()) {
        VERIFY(entered == RW_WRITER);
        rw_downgrade(guard);
        entered = RW_READER;
    }
    if (entered == RW_WRITER)
        dmu_buf_will_dirty(*db, *tx);

    zap_lock_t lock(*zap, std::move(db), std::move(guard));
    if (!zap->zap_ismicro || tx == nullptr || !adding || zap->zap_num_entries < zap->zap_num_chunks)
        return lock;

    // The block is full: one sector more, or another form.
    const uint64_t larger = zap->zap_dbuf->db_size + MZAP_GROWTH;
    if (larger > MZAP_MAX_BLKSZ) {
        if (auto upgraded = mzap_upgrade(lock, *tx); !upgraded)
            return SET_ERROR(upgraded.error());
        return lock;
    }
    auto resized = dmu_object_set_blocksize(os, zap->zap_object, larger, 0, *tx);
    VERIFY(resized.ok());
    zap->zap_num_chunks = mzap_slots(zap->zap_dbuf->db_size);
    return lock;
}

} // namespace

Result<zap_lock_t> zap_lockdir(objset_t &os, uint64_t zapobj, dmu_tx_t *tx, krw_t lti, bool fatreader, bool adding)
{
    Probe probe{Fn::zap_lockdir};
    auto db = dmu_buf_hold(os, zapobj, 0);
    if (!db)
        return SET_ERROR(db.error());
    return zap_lockdir_impl(std::move(*db), tx, lti, fatreader, adding);
}

Result<zap_lock_t> zap_lockdir_by_dnode(dnode_t &dn, dmu_tx_t *tx, krw_t lti, bool fatreader, bool adding)
{
    Probe probe{Fn::zap_lockdir_by_dnode};
    auto db = dmu_buf_hold_by_dnode(dn, 0);
    if (!db)
        return SET_ERROR(db.error());
    return zap_lockdir_impl(std::move(*db), tx, lti, fatreader, adding);
}

// --- looking up
// -------------------------------------------------------------------------------------------------------

namespace {

// A look-up only reads, so the lock of either form is the reader's.
Result<zap_lock_t> reader_of(objset_t &os, uint64_t zapobj)
{
    return zap_lockdir(os, zapobj, nullptr, RW_READER, true, false);
}

Result<> zap_lookup_impl(zap_t &zap, std::string_view name, uint64_t integer_size, uint64_t num_integers, void *buf,
                         matchtype_t mt, std::string *realname)
{
    Probe probe{Fn::zap_lookup_impl};
    if (mt != matchtype_t::MT_EXACT) // nothing but normalised names could match otherwise
        return SET_ERROR(ENOTSUP);
    const zap_name_t zn(zap, name);
    if (!zap.zap_ismicro)
        return fzap_lookup(zap, zn, integer_size, num_integers, buf, realname);

    const auto slot = mze_find(zap, zn);
    if (!slot)
        return SET_ERROR(ENOENT);
    if (num_integers < 1)
        return SET_ERROR(EOVERFLOW);
    if (integer_size != 8)
        return SET_ERROR(EINVAL);
    *static_cast<uint64_t *>(buf) = zap.m_slot(*slot).mze_value;
    if (realname != nullptr)
        *realname = zap.m_slot(*slot).mze_name;
    return {};
}

} // namespace

Result<> zap_lookup_norm(objset_t &os, uint64_t zapobj, std::string_view name, uint64_t integer_size,
                         uint64_t num_integers, void *buf, matchtype_t mt, std::string *realname)
{
    Probe probe{Fn::zap_lookup_norm};
    auto lock = reader_of(os, zapobj);
    if (!lock)
        return SET_ERROR(lock.error());
    return zap_lookup_impl(**lock, name, integer_size, num_integers, buf, mt, realname);
}

Result<> zap_lookup(objset_t &os, uint64_t zapobj, std::string_view name, uint64_t integer_size, uint64_t num_integers,
                    void *buf)
{
    Probe probe{Fn::zap_lookup};
    return zap_lookup_norm(os, zapobj, name, integer_size, num_integers, buf, matchtype_t::MT_EXACT, nullptr);
}

Result<> zap_lookup_norm_by_dnode(dnode_t &dn, std::string_view name, uint64_t integer_size, uint64_t num_integers,
                                  void *buf, matchtype_t mt, std::string *realname)
{
    Probe probe{Fn::zap_lookup_norm_by_dnode};
    auto lock = zap_lockdir_by_dnode(dn, nullptr, RW_READER, true, false);
    if (!lock)
        return SET_ERROR(lock.error());
    return zap_lookup_impl(**lock, name, integer_size, num_integers, buf, mt, realname);
}

Result<> zap_lookup_by_dnode(dnode_t &dn, std::string_view name, uint64_t integer_size, uint64_t num_integers,
                             void *buf)
{
    Probe probe{Fn::zap_lookup_by_dnode};
    return zap_lookup_norm_by_dnode(dn, name, integer_size, num_integers, buf, matchtype_t::MT_EXACT, nullptr);
}

Result<> zap_contains(objset_t &os, uint64_t zapobj, std::string_view name)
{
    Probe probe{Fn::zap_contains};
    auto looked = zap_lookup_norm(os, zapobj, name, 0, 0, nullptr, matchtype_t::MT_EXACT, nullptr);
    if (looked.error() == EOVERFLOW || looked.error() == EINVAL)
        return {}; // it is there; its value was not asked for
    return looked;
}

Result<zap_length_t> zap_length(objset_t &os, uint64_t zapobj, std::string_view name)
{
    Probe probe{Fn::zap_length};
    auto lock = reader_of(os, zapobj);
    if (!lock)
        return SET_ERROR(lock.error());
    zap_t &zap = **lock;
    const zap_name_t zn(zap, name);
    if (!zap.zap_ismicro)
        return fzap_length(zap, zn);
    if (!mze_find(zap, zn))
        return SET_ERROR(ENOENT);
    return zap_length_t{8, 1};
}

Result<uint64_t> zap_count(objset_t &os, uint64_t zapobj)
{
    Probe probe{Fn::zap_count};
    auto lock = reader_of(os, zapobj);
    if (!lock)
        return SET_ERROR(lock.error());
    zap_t &zap = **lock;
    return zap.zap_ismicro ? zap.zap_num_entries : fzap_count(zap);
}

Result<zap_stats_t> zap_get_stats(objset_t &os, uint64_t zapobj)
{
    Probe probe{Fn::zap_get_stats};
    auto lock = reader_of(os, zapobj);
    if (!lock)
        return SET_ERROR(lock.error());
    zap_t &zap = **lock;
    zap_stats_t stats;
    if (zap.zap_ismicro) {
        stats.zs_blocksize = zap.zap_dbuf->db_size;
        stats.zs_num_entries = zap.zap_num_entries;
        stats.zs_num_blocks = 1;
    } else {
        fzap_get_stats(zap, stats);
    }
    return stats;
}

// --- changing
// ---------------------------------------------------------------------------------------------------------

namespace {

bool fits_microzap(std::string_view key, const zap_value_t &value)
{
    return value.integer_size == 8 && value.num_integers == 1 && key.size() < MZAP_NAME_LEN;
}

// A ZAP ready to take name and value: still micro only if both fit.
Result<> make_fit(zap_lock_t &lock, const zap_name_t &zn, const zap_value_t &value, dmu_tx_t &tx)
{
    if (!lock->zap_ismicro || fits_microzap(zn.key(), value))
        return {};
    return mzap_upgrade(lock, tx);
}

uint64_t first_integer(const zap_value_t &value)
{
    return *static_cast<const uint64_t *>(value.integers);
}

} // namespace

Result<> zap_add(objset_t &os, uint64_t zapobj, std::string_view name, const zap_value_t &value, dmu_tx_t &tx)
{
    Probe probe{Fn::zap_add};
    auto locked = zap_lockdir(os, zapobj, &tx, RW_WRITER, true, true);
    if (!locked)
        return SET_ERROR(locked.error());
    zap_lock_t &lock = *locked;
    const zap_name_t zn(*lock, name);
    if (auto fitting = make_fit(lock, zn, value, tx); !fitting)
        return fitting;
    if (!lock->zap_ismicro)
        return fzap_add(lock, zn, value, tx);
    if (mze_find(*lock, zn))
        return SET_ERROR(EEXIST);
    mzap_addent(*lock, zn, first_integer(value));
    return {};
}

Result<> zap_update(objset_t &os, uint64_t zapobj, std::string_view name, const zap_value_t &value, dmu_tx_t &tx)
{
    Probe probe{Fn::zap_update};
    auto locked = zap_lockdir(os, zapobj, &tx, RW_WRITER, true, true);
    if (!locked)
        return SET_ERROR(locked.error());
    zap_lock_t &lock = *locked;
    const zap_name_t zn(*lock, name);
    if (auto fitting = make_fit(lock, zn, value, tx); !fitting)
        return fitting;
    if (!lock->zap_ismicro)
        return fzap_update(lock, zn, value, tx);
    if (const auto slot = mze_find(*lock, zn))
        lock->m_slot(*slot).mze_value = first_integer(value);
    else
        mzap_addent(*lock, zn, first_integer(value));
    return {};
}

Result<> zap_remove(objset_t &os, uint64_t zapobj, std::string_view name, dmu_tx_t &tx)
{
    Probe probe{Fn::zap_remove};
    Probe norm_probe{Fn::zap_remove_norm};
    auto locked = zap_lockdir(os, zapobj, &tx, RW_WRITER, true, false);
    if (!locked)
        return SET_ERROR(locked.error());
    zap_t &zap = **locked;
    const zap_name_t zn(zap, name);
    if (!zap.zap_ismicro)
        return fzap_remove(*locked, zn, tx);

    const auto slot = mze_find(zap, zn);
    if (!slot)
        return SET_ERROR(ENOENT);
    --zap.zap_num_entries;
    zap.m_slot(*slot) = {};
    mze_remove(zap, *slot, zn.hash());
    return {};
}

std::string zap_int_name(uint64_t number)
{
    char text[20];
    std::snprintf(text, sizeof(text), "%llx", static_cast<unsigned long long>(number));
    return text;
}

uint64_t zap_int_of_name(std::string_view name)
{
    constexpr int base = 16;
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number, base);
    VERIFY(error == std::errc());
    VERIFY(end == name.data() + name.size());
    return number;
}

Result<> zap_add_int(objset_t &os, uint64_t zapobj, uint64_t number, dmu_tx_t &tx)
{
    Probe probe{Fn::zap_add_int};
    return zap_add(os, zapobj, zap_int_name(number), {8, 1, &number}, tx);
}

Result<> zap_remove_int(objset_t &os, uint64_t zapobj, uint64_t number, dmu_tx_t &tx)
{
    Probe probe{Fn::zap_remove_int};
    return zap_remove(os, zapobj, zap_int_name(number), tx);
}

Result<> zap_increment(objset_t &os, uint64_t zapobj, std::string_view name, int64_t delta, dmu_tx_t &tx)
{
    Probe probe{Fn::zap_increment};
    if (delta == 0)
        return {};
    uint64_t sum = 0;
    if (auto found = zap_lookup(os, zapobj, name, 8, 1, &sum); !found && found.error() != ENOENT)
        return found;
    sum += static_cast<uint64_t>(delta);
    return sum == 0 ? zap_remove(os, zapobj, name, tx) : zap_update(os, zapobj, name, {8, 1, &sum}, tx);
}

Result<> zap_increment_int(objset_t &os, uint64_t zapobj, uint64_t number, int64_t delta, dmu_tx_t &tx)
{
    Probe probe{Fn::zap_increment_int};
    return zap_increment(os, zapobj, zap_int_name(number), delta, tx);
}

// --- estimating
// -------------------------------------------------------------------------------------------------------

namespace {

// Without a name any block may be meant: header, table and leaf overwritten, and for an add two halves of a leaf and
// two grown table blocks.
void count_any_name(bool add, uint64_t &towrite)
{
    towrite += (add ? 7 : 3) * uint64_t{MZAP_MAX_BLKSZ};
}

Result<> count_write_locked(zap_t &zap, std::string_view name, bool add, uint64_t &towrite, uint64_t &tooverwrite)
{
    if (!zap.zap_ismicro)
        return fzap_count_write(zap, zap_name_t(zap, name), add, towrite, tooverwrite);

    // The block as large as it can get; an add may turn it into a fat ZAP with four blocks more.
    (dmu_buf_freeable(*zap.zap_dbuf) ? tooverwrite : towrite) += MZAP_MAX_BLKSZ;
    if (add)
        towrite += 4 * uint64_t{MZAP_MAX_BLKSZ};
    return {};
}

} // namespace

Result<> zap_count_write(objset_t &os, uint64_t zapobj, const std::string_view *name, bool add, uint64_t &towrite,
                         uint64_t &tooverwrite)
{
    Probe probe{Fn::zap_count_write};
    if (name == nullptr) {
        count_any_name(add, towrite);
        return {};
    }
    auto lock = reader_of(os, zapobj);
    if (!lock)
        return SET_ERROR(lock.error());
    return count_write_locked(**lock, *name, add, towrite, tooverwrite);
}

Result<> zap_count_write_by_dnode(dnode_t &dn, const std::string_view *name, bool add, uint64_t &towrite,
                                  uint64_t &tooverwrite)
{
    Probe probe{Fn::zap_count_write_by_dnode};
    if (name == nullptr) {
        count_any_name(add, towrite);
        return {};
    }
    auto lock = zap_lockdir_by_dnode(dn, nullptr, RW_READER, true, false);
    if (!lock)
        return SET_ERROR(lock.error());
    return count_write_locked(**lock, *name, add, towrite, tooverwrite);
}

// --- making and unmaking
// ----------------------------------------------------------------------------------------------

uint64_t zap_create(objset_t &os, dmu_object_type_t type, dmu_object_type_t bonustype, uint32_t bonuslen, dmu_tx_t &tx)
{
    Probe probe{Fn::zap_create};
    dnode_spec spec;
    spec.type = type;
    spec.bonustype = bonustype;
    spec.bonuslen = bonuslen;
    const uint64_t object = dmu_object_alloc(os, spec, tx);
    mzap_create_impl(os, object, tx);
    return object;
}

Result<> zap_create_claim(objset_t &os, uint64_t object, dmu_object_type_t type, dmu_tx_t &tx)
{
    Probe probe{Fn::zap_create_claim};
    dnode_spec spec;
    spec.type = type;
    if (auto claimed = dmu_object_claim(os, object, spec, tx); !claimed)
        return claimed;
    mzap_create_impl(os, object, tx);
    return {};
}

Result<> zap_destroy(objset_t &os, uint64_t zapobj, dmu_tx_t &tx)
{
    Probe probe{Fn::zap_destroy};
    return dmu_object_free(os, zapobj, tx);
}

} // namespace dmu
