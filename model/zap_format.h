// The ZAP on disk: what every byte of a directory's blocks means.
//
// A ZAP maps names to small arrays of integers and lives in the data blocks of one object. It has two forms. A microzap
// is a single block of 64-byte slots, one per entry, each with a name of up to 49 characters and one 64-bit value. A
// fat ZAP has a header in block 0, a table of pointers indexed by the top bits of the name's hash (in the second half
// of the header at first, later in blocks of its own), and leaf blocks: hash buckets and 24-byte chunks that hold
// entries, names and values.
//
// These are the layouts as OpenZFS writes them (all commits from 2016 to the newest agree), on a little-endian machine.
// Values inside array chunks are big-endian. Not modelled: byte-swapped pools, normalised names, keys of 64-bit words
// and 48-bit hashes (flags that no directory sets).
#pragma once

#include <cstddef>
#include <cstdint>

namespace dmu {

constexpr uint64_t ZBT_LEAF = (1ull << 63) + 0;
constexpr uint64_t ZBT_HEADER = (1ull << 63) + 1;
constexpr uint64_t ZBT_MICRO = (1ull << 63) + 3;

// --- microzap
// ---------------------------------------------------------------------------------------------------------

constexpr uint32_t MZAP_ENT_LEN = 64;
constexpr uint32_t MZAP_NAME_LEN = MZAP_ENT_LEN - 8 - 4 - 2; // the terminator included
constexpr uint32_t MZAP_MAX_BLKSZ = 128 << 10;
constexpr uint32_t MZAP_GROWTH = 512; // a full block grows by one sector

struct mzap_ent_phys_t {
    uint64_t mze_value;
    uint32_t mze_cd; // tells entries with the same hash apart
    uint16_t mze_pad;
    char mze_name[MZAP_NAME_LEN]; // empty: the slot is free
};
static_assert(sizeof(mzap_ent_phys_t) == MZAP_ENT_LEN);

struct mzap_phys_t {
    uint64_t mz_block_type;
    uint64_t mz_salt;
    uint64_t mz_normflags;
    uint64_t mz_pad[5];
    // The slots follow.
};
static_assert(sizeof(mzap_phys_t) == MZAP_ENT_LEN);

constexpr uint32_t mzap_slots(uint64_t block_size)
{
    return static_cast<uint32_t>(block_size / MZAP_ENT_LEN - 1);
}
static_assert(mzap_slots(512) == 7);
static_assert(mzap_slots(MZAP_MAX_BLKSZ) == 2047);

// --- fat ZAP: header and pointer table
// --------------------------------------------------------------------------------

constexpr uint64_t ZAP_MAGIC = 0x2F52AB2ABull;
constexpr uint32_t fzap_default_block_shift = 14;
constexpr uint32_t ZAP_MAXNAMELEN = 256; // the terminator included
constexpr uint32_t ZAP_MAXVALUELEN = 8 << 10;
constexpr uint32_t ZAP_HASHBITS = 28; // of the hash only the top bits are used, so that a cookie has room for a cd
constexpr uint32_t ZAP_NEED_CD = UINT32_MAX;

struct zap_table_phys_t {
    uint64_t zt_blk;         // first block of the table; 0: it is still inside the header
    uint64_t zt_numblks;     // blocks of the table
    uint64_t zt_shift;       // log2 of its entries
    uint64_t zt_nextblk;     // first block of the table twice as large that is being filled; 0: none
    uint64_t zt_blks_copied; // old blocks copied into it so far
};

struct zap_phys_t {
    uint64_t zap_block_type;
    uint64_t zap_magic;
    zap_table_phys_t zap_ptrtbl;
    uint64_t zap_freeblk; // the next block number to hand out; numbers are never handed out twice
    uint64_t zap_num_leafs;
    uint64_t zap_num_entries;
    uint64_t zap_salt;
    uint64_t zap_normflags;
    uint64_t zap_flags;
};
static_assert(sizeof(zap_phys_t) == 13 * 8);

// The embedded table is the second half of the header block.
constexpr uint32_t zap_embedded_ptrtbl_shift(uint32_t block_shift)
{
    return block_shift - 3 - 1;
}

// The top `bits` bits of a hash, as a number.
constexpr uint64_t zap_hash_index(uint64_t hash, uint64_t bits)
{
    return bits == 0 ? 0 : hash >> (64 - bits);
}

// --- fat ZAP: leaf
// ----------------------------------------------------------------------------------------------------

constexpr uint32_t ZAP_LEAF_MAGIC = 0x2AB1EAF;
constexpr uint32_t ZAP_LEAF_CHUNKSIZE = 24;
constexpr uint32_t ZAP_LEAF_ARRAY_BYTES = ZAP_LEAF_CHUNKSIZE - 3;
constexpr uint32_t ZAP_LEAF_LOW_WATER = 20; // a leaf with fewer free chunks will soon need to split
constexpr uint16_t CHAIN_END = 0xffff;
constexpr uint8_t ZLF_ENTRIES_CDSORTED = 1;

constexpr uint8_t ZAP_CHUNK_FREE = 253;
constexpr uint8_t ZAP_CHUNK_ENTRY = 252;
constexpr uint8_t ZAP_CHUNK_ARRAY = 251;

struct zap_leaf_header {
    uint64_t lh_block_type;
    uint64_t lh_pad1;
    uint64_t lh_prefix; // the top lh_prefix_len bits that all hashes of this leaf have in common
    uint32_t lh_magic;
    uint16_t lh_nfree;
    uint16_t lh_nentries;
    uint16_t lh_prefix_len;
    uint16_t lh_freelist; // first free chunk
    uint8_t lh_flags;
    uint8_t lh_pad2[11];
};
static_assert(sizeof(zap_leaf_header) == 2 * ZAP_LEAF_CHUNKSIZE);

union zap_leaf_chunk_t {
    struct zap_leaf_entry {
        uint8_t le_type;
        uint8_t le_value_intlen; // bytes of one integer of the value
        uint16_t le_next;        // next entry of the bucket
        uint16_t le_name_chunk;
        uint16_t le_name_numints; // the terminator included
        uint16_t le_value_chunk;
        uint16_t le_value_numints;
        uint32_t le_cd;
        uint64_t le_hash;
    } l_entry;
    struct zap_leaf_array {
        uint8_t la_type;
        uint8_t la_array[ZAP_LEAF_ARRAY_BYTES];
        uint16_t la_next;
    } l_array;
    struct zap_leaf_free {
        uint8_t lf_type;
        uint8_t lf_pad[ZAP_LEAF_ARRAY_BYTES];
        uint16_t lf_next;
    } l_free;
};
static_assert(sizeof(zap_leaf_chunk_t) == ZAP_LEAF_CHUNKSIZE);

constexpr uint32_t zap_leaf_hash_shift(uint32_t block_shift)
{
    return block_shift - 5;
}

constexpr uint32_t zap_leaf_numchunks(uint32_t block_shift)
{
    const uint32_t buckets = 1u << zap_leaf_hash_shift(block_shift);
    return ((1u << block_shift) - 2 * buckets) / ZAP_LEAF_CHUNKSIZE - 2;
}
static_assert(zap_leaf_numchunks(fzap_default_block_shift) == 638);

constexpr uint32_t zap_leaf_array_nchunks(uint64_t bytes)
{
    return static_cast<uint32_t>((bytes + ZAP_LEAF_ARRAY_BYTES - 1) / ZAP_LEAF_ARRAY_BYTES);
}

} // namespace dmu
