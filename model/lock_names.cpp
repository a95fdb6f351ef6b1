// A lock lies in the structure it guards; the structure says what it is. Where a class of locks lies in one kind of
// structure only, that is one line of the table.
#include "model/lock_names.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

#include "model/dbuf.h"
#include "model/dmu_state.h"
#include "model/dnode.h"
#include "model/objset.h"
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

std::string number_name(uint64_t object)
{
    if (object == DMU_USERUSED_OBJECT)
        return "userused";
    return object == DMU_GROUPUSED_OBJECT ? "groupused" : std::to_string(object);
}

std::string object_name(const objset_t *os, uint64_t object, dmu_object_type_t type)
{
    if (object == DMU_META_DNODE_OBJECT)
        return "meta-dnode";
    if (type == DMU_OT_DIRECTORY_CONTENTS)
        return os->os_names.directory(object);
    return "object " + number_name(object);
}

std::string dnode_name(const dnode_t &dn)
{
    return object_name(dn.dn_objset, dn.dn_object, dn.dn_type);
}

// Whose dnodes lie there is what makes one of them hot: a directory, as a rule.
std::string dnode_block_name(const dmu_buf_impl_t &db)
{
    const uint64_t first = db.db_blkid * DNODES_PER_BLOCK;
    const std::string directories = db.db_objset->os_names.directories(first, first + DNODES_PER_BLOCK - 1);
    return "dnode block " + std::to_string(db.db_blkid) + (directories.empty() ? "" : " with " + directories);
}

std::string block_name(const dmu_buf_impl_t &db)
{
    if (db.db_object == DMU_META_DNODE_OBJECT && db.db_level == 0)
        return dnode_block_name(db);
    const dmu_object_type_t type = db.db_dnode_handle != nullptr && db.db_dnode_handle->dnh_dnode != nullptr
                                       ? db.db_dnode_handle->dnh_dnode->dn_type
                                       : DMU_OT_NONE;
    const std::string owner = object_name(db.db_objset, db.db_object, type);
    if (db.db_blkid == DMU_BONUS_BLKID)
        return owner + ", bonus";
    return owner + ", level " + std::to_string(db.db_level) + " block " + std::to_string(db.db_blkid);
}

// A lock of the hash's chains is known by what lies in them: of more than two blocks the first, in the order of objset,
// object, level and block. REQUIRES: the lock is held, or nobody runs.
std::string chains_name(const dbuf_hash_chains_t &chains)
{
    std::vector<const dmu_buf_impl_t *> blocks;
    for (uint64_t index = chains.first; index <= chains.table->hash_table_mask; index += chains.step)
        for (const dmu_buf_impl_t *db = chains.table->hash_table[index]; db != nullptr; db = db->db_hash_next)
            blocks.push_back(db);
    std::sort(blocks.begin(), blocks.end(), [](const dmu_buf_impl_t *a, const dmu_buf_impl_t *b) {
        return std::tuple(a->db_objset->os_id, a->db_object, a->db_level, a->db_blkid) <
               std::tuple(b->db_objset->os_id, b->db_object, b->db_level, b->db_blkid);
    });
    if (blocks.empty())
        return "chain " + std::to_string(chains.first) + " (empty then)";
    const std::string others = std::to_string(blocks.size() - 1);
    return "the chain of " + block_name(*blocks[0]) + (blocks.size() > 1 ? " (and " + others + " more)" : "");
}

std::string mutex_name(const dbuf_hash_mutex_t &lock)
{
    return chains_name(lock.chains);
}

std::string rwlock_name(const dbuf_hash_rwlock_t &lock)
{
    return chains_name(lock.chains);
}

std::string zap_name(const zap_t &zap)
{
    return "ZAP " + number_name(zap.zap_object) + zap.zap_objset->os_names.in_brackets(zap.zap_object);
}

std::string leaf_name(const zap_leaf_t &leaf)
{
    const dmu_buf_impl_t &db = *leaf.l_dbuf;
    return "ZAP " + number_name(db.db_object) + db.db_objset->os_names.in_brackets(db.db_object) + ", leaf " +
           std::to_string(leaf.l_blkid);
}

std::string file_name(const znode_t &znode)
{
    if (znode.z_is_dir)
        return znode.z_zfsvfs.z_os.os_names.directory(znode.z_id);
    return "file " + std::to_string(znode.z_id);
}

std::string prefetcher_name(const zfetch_t &zfetch)
{
    return "prefetcher of " + dnode_name(zfetch.zf_dnode);
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
    MODEL_LOCK_OF(zfetch_t, zf_lock, prefetcher_name),
    MODEL_LOCK_OF(zfetch_t, zf_rwlock, prefetcher_name),
    MODEL_LOCK_OF(dnode_t, dn_dbufs_mtx, dnode_name),
    MODEL_LOCK_OF(dmu_buf_impl_t, db_mtx, block_name),
    {"hash_mutexes", [](const void *lock) { return mutex_name(owner_of<dbuf_hash_mutex_t, 0>(lock)); }},
    {"hash_rwlocks", [](const void *lock) { return rwlock_name(owner_of<dbuf_hash_rwlock_t, 0>(lock)); }},
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
