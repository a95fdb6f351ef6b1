// What stands on disk: block pointers and dnodes, in the words of OpenZFS (spa.h, dnode.h), without the bytes that no
// question of this simulator is about (checksums, compression, copies).
//
// A block pointer names a block by its place on the simulated disk and says when it was born, how many dnodes or blocks
// lie under it (blk_fill) and what it is. All of it is plain data: an indirect block is copied with memcpy, and what is
// on disk and what is in memory are different bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dmu {

constexpr uint32_t SPA_MINBLOCKSHIFT = 9;
constexpr uint32_t SPA_BLKPTRSHIFT = 7; // a real block pointer has 128 bytes: it fixes how many an indirect block holds
constexpr uint32_t DNODE_SHIFT = 9;
constexpr uint32_t DNODE_SIZE = 1u << DNODE_SHIFT;
constexpr uint32_t DNODE_BLOCK_SHIFT = 14;
constexpr uint32_t DNODES_PER_BLOCK_SHIFT = DNODE_BLOCK_SHIFT - DNODE_SHIFT;
constexpr uint32_t DNODES_PER_BLOCK = 1u << DNODES_PER_BLOCK_SHIFT;
constexpr uint32_t DNODE_CORE_SIZE = 64;
constexpr uint32_t DN_MAX_BONUSLEN = DNODE_SIZE - DNODE_CORE_SIZE - (1u << SPA_BLKPTRSHIFT);
constexpr uint32_t DN_MAX_NBLKPTR = (DNODE_SIZE - DNODE_CORE_SIZE) >> SPA_BLKPTRSHIFT;
constexpr uint32_t DN_MIN_INDBLKSHIFT = 12;
constexpr uint32_t DN_MAX_OBJECT_SHIFT = 48;
constexpr uint64_t DN_MAX_OBJECT = 1ull << DN_MAX_OBJECT_SHIFT;
constexpr uint32_t DNODE_MIN_SLOTS = 1;
constexpr uint32_t DNODE_MAX_SLOTS = DNODES_PER_BLOCK;
constexpr uint64_t DMU_META_DNODE_OBJECT = 0;
constexpr uint64_t DMU_USERUSED_OBJECT = ~0ull;
constexpr uint64_t DMU_GROUPUSED_OBJECT = ~1ull;
constexpr std::array<uint64_t, 2> accounting_objects = {DMU_USERUSED_OBJECT, DMU_GROUPUSED_OBJECT};
constexpr uint64_t DMU_BONUS_BLKID = ~0ull;
static_assert(DN_MAX_NBLKPTR == 3);
static_assert(DNODES_PER_BLOCK == 32);

// The object types that the simulator uses; the values are those on disk.
enum dmu_object_type_t : uint8_t {
    DMU_OT_NONE = 0,
    DMU_OT_OBJECT_DIRECTORY = 1,
    DMU_OT_DNODE = 10,
    DMU_OT_OBJSET = 11,
    DMU_OT_DSL_DIR = 12, // the child map, snapshot map and properties of a dataset come between these two
    DMU_OT_DSL_DATASET = 16,
    DMU_OT_PLAIN_FILE_CONTENTS = 19,
    DMU_OT_DIRECTORY_CONTENTS = 20,
    DMU_OT_MASTER_NODE = 21,
    DMU_OT_UNLINKED_SET = 22,
    DMU_OT_ZAP_OTHER = 27,
    DMU_OT_USERGROUP_USED = 39,
    DMU_OT_SA = 44,
    DMU_OT_SA_MASTER_NODE = 45,
    DMU_OT_SA_ATTR_REGISTRATION = 46,
    DMU_OT_SA_ATTR_LAYOUTS = 47,
    DMU_OT_UINT64_OTHER = 63, // DMU_OTN_UINT64_DATA's family; its exact value plays no part
};

struct blkptr_t {
    uint64_t blk_dva = 0;   // place on the simulated disk; 0: nothing there, a hole
    uint64_t blk_birth = 0; // txg that wrote it; a hole may have one too: when it was punched
    uint64_t blk_fill = 0;  // dnodes in use below (meta-dnode), or blocks (everything else)
    uint32_t blk_lsize = 0;
    uint8_t blk_level = 0;
    uint8_t blk_type = DMU_OT_NONE;
    uint16_t blk_pad = 0;
};
static_assert(sizeof(blkptr_t) == 32);

inline bool BP_IS_HOLE(const blkptr_t &bp)
{
    return bp.blk_dva == 0;
}
inline uint64_t BP_GET_FILL(const blkptr_t &bp)
{
    return bp.blk_fill;
}

constexpr uint32_t DN_BONUS_WORDS = 4; // the part of a bonus buffer that the simulated file system reads back

constexpr uint8_t DNODE_FLAG_USERUSED_ACCOUNTED = 1 << 1; // of dn_flags

// Nothing clears its memory: each member has its initializer, and there is no padding but what has a name.
struct dnode_phys_t {
    uint8_t dn_type = DMU_OT_NONE;
    uint8_t dn_indblkshift = 0;
    uint8_t dn_nlevels = 0; // 1: dn_blkptr points at data
    uint8_t dn_nblkptr = 0;
    uint8_t dn_bonustype = DMU_OT_NONE;
    uint8_t dn_flags = 0;
    uint8_t dn_extra_slots = 0;
    uint8_t dn_pad = 0;
    uint16_t dn_datablkszsec = 0; // data block size in 512-byte sectors
    uint16_t dn_bonuslen = 0;
    uint32_t dn_pad2 = 0;
    uint64_t dn_maxblkid = 0;
    uint64_t dn_used = 0;
    blkptr_t dn_blkptr[DN_MAX_NBLKPTR];
    uint64_t dn_bonus[DN_BONUS_WORDS] = {};
};
static_assert(sizeof(dnode_phys_t) == 32 + DN_MAX_NBLKPTR * sizeof(blkptr_t) + DN_BONUS_WORDS * sizeof(uint64_t));

enum dmu_objset_type_t : uint64_t {
    DMU_OST_NONE = 0,
    DMU_OST_ZFS = 2, // a file system
};

struct objset_phys_t {
    dnode_phys_t os_meta_dnode;
    uint64_t os_type = DMU_OST_NONE;
    uint64_t os_flags = 0;
    // Of file systems that account for their owners' space:
    dnode_phys_t os_userused_dnode;
    dnode_phys_t os_groupused_dnode;
};
// Without accounting the root block ends before its dnodes, as it did before there was any.
constexpr uint32_t OBJSET_OLD_PHYS_SIZE = sizeof(dnode_phys_t) + 2 * sizeof(uint64_t);

} // namespace dmu
