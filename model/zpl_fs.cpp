// A file system made, mounted and unmounted; and the bare sequence that creates a file without one.
//
// Object 1, the master node, is a ZAP that names everything else: the root directory, the delete queue, the objects in
// which the attribute layer keeps its layouts. Followed: zfs_create_fs and zfs_sb_create of OpenZFS 8bea98150 (2016).
#include "model/zpl.h"

#include "model/zap.h"
#include "model/zpl_impl.h"

namespace dmu {

namespace {

constexpr std::string_view ZFS_ROOT_OBJ = "ROOT";
constexpr std::string_view ZFS_UNLINKED_SET = "DELETE_QUEUE";
constexpr std::string_view ZFS_SA_ATTRS = "SA_ATTRS";
constexpr std::string_view SA_REGISTRY = "REGISTRY";
constexpr std::string_view SA_LAYOUTS = "LAYOUTS";

void name_object(objset_t &os, uint64_t zapobj, std::string_view name, uint64_t object, dmu_tx_t &tx)
{
    auto added = zap_add(os, zapobj, name, {8, 1, &object}, tx);
    VERIFY(added.ok());
}

uint64_t named_object(objset_t &os, uint64_t zapobj, std::string_view name)
{
    uint64_t object = 0;
    auto found = zap_lookup(os, zapobj, name, 8, 1, &object);
    VERIFY(found.ok());
    return object;
}

uint64_t create_link(objset_t &os, dmu_object_type_t type, uint64_t parent, std::string_view name, dmu_tx_t &tx)
{
    const uint64_t object = zap_create(os, type, DMU_OT_NONE, 0, tx);
    name_object(os, parent, name, object, tx);
    return object;
}

} // namespace

std::unique_ptr<zfsvfs_t> zfs_create_fs(objset_t &os)
{
    dmu_objset_make_file_system(os);
    auto zfsvfs = std::make_unique<zfsvfs_t>(os);
    auto tx = dmu_tx_create(os);
    for (int object = 0; object < 5; ++object) // master node, attributes, registry, layouts, delete queue
        dmu_tx_hold_zap(*tx, DMU_NEW_OBJECT, true, nullptr);
    dmu_tx_hold_zap(*tx, DMU_NEW_OBJECT, false, nullptr); // the root directory
    dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT);
    auto assigned = dmu_tx_assign(*tx, TXG_WAIT);
    VERIFY(assigned.ok());

    auto claimed = zap_create_claim(os, MASTER_NODE_OBJ, DMU_OT_MASTER_NODE, *tx);
    VERIFY(claimed.ok());
    os.os_sa.sa_master_obj = create_link(os, DMU_OT_SA_MASTER_NODE, MASTER_NODE_OBJ, ZFS_SA_ATTRS, *tx);
    os.os_sa.sa_reg_attr_obj = create_link(os, DMU_OT_SA_ATTR_REGISTRATION, os.os_sa.sa_master_obj, SA_REGISTRY, *tx);
    os.os_sa.sa_layout_attr_obj = create_link(os, DMU_OT_SA_ATTR_LAYOUTS, os.os_sa.sa_master_obj, SA_LAYOUTS, *tx);
    zfsvfs->z_unlinkedobj = create_link(os, DMU_OT_UNLINKED_SET, MASTER_NODE_OBJ, ZFS_UNLINKED_SET, *tx);
    znode_ref root = zfs_mknode(*zfsvfs, nullptr, true, {}, *tx);
    zfsvfs->z_root = root->z_id;
    os.os_names.root(zfsvfs->z_root);
    name_object(os, MASTER_NODE_OBJ, ZFS_ROOT_OBJ, zfsvfs->z_root, *tx);
    dmu_tx_commit(std::move(tx));
    zfsvfs->z_root_dir = std::make_shared<znode_ref>(std::move(root));
    return zfsvfs;
}

std::unique_ptr<zfsvfs_t> zfs_mount(objset_t &os)
{
    auto zfsvfs = std::make_unique<zfsvfs_t>(os);
    os.os_sa.sa_master_obj = named_object(os, MASTER_NODE_OBJ, ZFS_SA_ATTRS);
    os.os_sa.sa_reg_attr_obj = named_object(os, os.os_sa.sa_master_obj, SA_REGISTRY);
    os.os_sa.sa_layout_attr_obj = named_object(os, os.os_sa.sa_master_obj, SA_LAYOUTS);
    zfsvfs->z_unlinkedobj = named_object(os, MASTER_NODE_OBJ, ZFS_UNLINKED_SET);
    zfsvfs->z_root = named_object(os, MASTER_NODE_OBJ, ZFS_ROOT_OBJ);
    os.os_names.root(zfsvfs->z_root);

    // zfs_unlinked_drain: what was in use and nameless when the system went down goes now, with its one user.
    std::vector<uint64_t> orphans;
    {
        zap_cursor_t cursor(os, zfsvfs->z_unlinkedobj);
        for (auto entry = cursor.retrieve(); entry; cursor.advance(), entry = cursor.retrieve())
            orphans.push_back(entry->za_first_integer);
    }
    for (const uint64_t object : orphans) {
        auto zp = zfs_zget(*zfsvfs, object);
        if (!zp)
            continue;
        (*zp)->z_unlinked = true;
        zp->rele();
    }
    return zfsvfs;
}

void zfs_umount(std::unique_ptr<zfsvfs_t> zfsvfs)
{
    zfsvfs->z_root_dir.reset();
    zfsvfs->z_open_dirs.clear();
    VERIFY3(zfsvfs->z_nr_znodes, ==, 0u);
    zfsvfs->z_os.os_sa = {};
}

// --- without a file system
// --------------------------------------------------------------------------------------------

namespace {

// As it was recorded: bonus space for one attribute header, whatever a whole dnode could hold.
constexpr uint32_t recorded_bonuslen = 168;

} // namespace

Result<uint64_t> dmu_create(objset_t &os, uint64_t dir, std::string_view name)
{
    auto tx = dmu_tx_create(os);
    dmu_tx_hold_zap(*tx, dir, true, &name);
    dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT);
    if (auto assigned = dmu_tx_assign(*tx, TXG_WAIT); !assigned) {
        dmu_tx_abort(std::move(tx));
        return SET_ERROR(assigned.error());
    }
    dnode_spec spec;
    spec.type = DMU_OT_PLAIN_FILE_CONTENTS;
    spec.bonustype = DMU_OT_SA;
    spec.bonuslen = recorded_bonuslen;
    const uint64_t object = dmu_object_alloc(os, spec, *tx);
    auto added = zap_add(os, dir, name, {8, 1, &object}, *tx);
    if (!added) { // the recorded sequence never meets a name twice; what it allocated is given back
        auto freed = dmu_object_free(os, object, *tx);
        VERIFY(freed.ok());
    }
    dmu_tx_commit(std::move(tx));
    if (!added)
        return SET_ERROR(added.error());
    return object;
}

Result<> dmu_unlink(objset_t &os, uint64_t dir, std::string_view name)
{
    uint64_t object = 0;
    if (auto found = zap_lookup(os, dir, name, 8, 1, &object); !found)
        return found;
    auto tx = dmu_tx_create(os);
    dmu_tx_hold_zap(*tx, dir, false, &name);
    dmu_tx_hold_free(*tx, object, 0, DMU_OBJECT_END);
    if (auto assigned = dmu_tx_assign(*tx, TXG_WAIT); !assigned) {
        dmu_tx_abort(std::move(tx));
        return assigned;
    }
    auto removed = zap_remove(os, dir, name, *tx); // somebody else may have been faster
    if (removed) {
        auto freed = dmu_object_free(os, object, *tx);
        VERIFY(freed.ok());
    }
    dmu_tx_commit(std::move(tx));
    return removed;
}

} // namespace dmu
