// A lock lies in the structure it guards; the structure says what it is. Where a class of locks lies in one kind of
// structure only, that is one line of the table.
#include "model/lock_names.h"

#include <cstddef>

#include "model/dbuf.h"
#include "model/dnode.h"
#include "model/zap_impl.h"
#include "model/zpl.h"

// These structures have base classes or private members, for which both compilers define offsetof all the same.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace dmu {

namespace {

template <class Owner, size_t offset>
const Owner &owner_of(const void *lock)
{
    return *reinterpret_cast<const Owner *>(static_cast<const char *>(lock) - offset);
}

std::string object_name(uint64_t object, dmu_object_type_t type)
{
    if (object == DMU_META_DNODE_OBJECT)
        return "meta-dnode";
    return (type == DMU_OT_DIRECTORY_CONTENTS ? "directory " : "object ") + std::to_string(object);
}

std::string dnode_name(const dnode_t &dn)
{
    return object_name(dn.dn_object, dn.dn_type);
}

std::string block_name(const dmu_buf_impl_t &db)
{
    if (db.db_object == DMU_META_DNODE_OBJECT && db.db_level == 0)
        return "dnode block " + std::to_string(db.db_blkid);
    const dmu_object_type_t type = db.db_dnode_handle != nullptr && db.db_dnode_handle->dnh_dnode != nullptr
                                       ? db.db_dnode_handle->dnh_dnode->dn_type
                                       : DMU_OT_NONE;
    const std::string owner = object_name(db.db_object, type);
    if (db.db_blkid == DMU_BONUS_BLKID)
        return owner + ", bonus";
    return owner + ", level " + std::to_string(db.db_level) + " block " + std::to_string(db.db_blkid);
}

std::string zap_name(const zap_t &zap)
{
    return "ZAP " + std::to_string(zap.zap_object);
}

std::string leaf_name(const zap_leaf_t &leaf)
{
    return "ZAP " + std::to_string(leaf.l_dbuf->db_object) + ", leaf " + std::to_string(leaf.l_blkid);
}

std::string file_name(const znode_t &znode)
{
    return (znode.z_is_dir ? "directory " : "file ") + std::to_string(znode.z_id);
}

#define MODEL_LOCK_OF(owner, field, name)                                                                              \
    {                                                                                                                  \
#field, [](const void *lock) { return name(owner_of<owner, offsetof(owner, field)>(lock)); }                   \
    }

constexpr struct {
    std::string_view lock_class;
    describe_lock_t describe;
} table[] = {
    MODEL_LOCK_OF(dnode_t, dn_struct_rwlock, dnode_name),
    MODEL_LOCK_OF(dnode_t, dn_mtx, dnode_name),
    MODEL_LOCK_OF(dnode_t, dn_dbufs_mtx, dnode_name),
    MODEL_LOCK_OF(dmu_buf_impl_t, db_mtx, block_name),
    MODEL_LOCK_OF(zap_t, zap_rwlock, zap_name),
    MODEL_LOCK_OF(zap_t, zap_num_entries_mtx, zap_name),
    MODEL_LOCK_OF(zap_leaf_t, l_rwlock, leaf_name),
    MODEL_LOCK_OF(znode_t, z_name_lock, file_name),
    MODEL_LOCK_OF(znode_t, z_lock, file_name),
};

} // namespace

describe_lock_t lock_description(std::string_view lock_class)
{
    for (const auto &row : table)
        if (row.lock_class == lock_class)
            return row.describe;
    return nullptr;
}

} // namespace dmu
