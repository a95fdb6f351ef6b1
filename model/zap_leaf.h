// One leaf block of a fat ZAP, as bytes.
//
// A leaf holds the entries whose hashes begin with its prefix. The next nine bits of a hash choose a bucket; a bucket
// is a chain of entry chunks, sorted by cd; an entry points to chains of array chunks with its name and its value. Free
// chunks form a stack, so the chunk freed last is used first: where an entry lands depends on history, and the recorded
// chunk numbers hold the model to it.
//
// This layer knows neither locks nor buffers: a zap_leaf_block is a view of bytes that somebody else holds and has made
// writable. The layout is in zap_format.h; the behaviour is that of OpenZFS 8bea98150 and 2bce8049c3 (both 2016).
#pragma once

#include "model/result.h"
#include "model/spl.h"
#include "model/zap_format.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace dmu {

struct zap_stats_t;

// The flags of a ZAP are always 0 here; the real code asks for them all the same.
inline void zap_getflags_probe()
{
    Probe probe{Fn::zap_getflags};
}

// An array of integers in host order, as callers hand it over.
struct zap_value_t {
    uint64_t integer_size = 8; // bytes of one integer
    uint64_t num_integers = 1;
    const void *integers = nullptr;
};

// Where an entry was found. Valid until the leaf changes.
struct zap_entry_handle_t {
    uint16_t zeh_chunk = CHAIN_END;
    uint16_t *zeh_chunkp = nullptr; // the link that leads to it; null where only reading is meant
    uint64_t zeh_hash = 0;
    uint32_t zeh_cd = 0;
    uint64_t zeh_integer_size = 0;
    uint64_t zeh_num_integers = 0;
};

class zap_leaf_block {
public:
    // REQUIRES: `bytes` is 8-byte aligned and 1 << block_shift bytes long.
    zap_leaf_block(void *bytes, uint32_t block_shift);

    zap_leaf_header &header() const { return *reinterpret_cast<zap_leaf_header *>(bytes_); }
    uint32_t numchunks() const { return numchunks_; }
    uint32_t buckets() const { return 1u << hash_shift_; }
    uint32_t bucket_of(uint64_t hash) const;
    bool covers(uint64_t hash) const { return zap_hash_index(hash, header().lh_prefix_len) == header().lh_prefix; }

    void init() const;

    std::optional<zap_entry_handle_t> lookup(std::string_view name, uint64_t hash) const;
    // The first entry at or after (hash, cd) in the order of a cursor.
    std::optional<zap_entry_handle_t> lookup_closest(uint64_t hash, uint32_t cd) const;

    // EAGAIN: the leaf must split first. E2BIG: it would not fit into an empty leaf.
    // cd == ZAP_NEED_CD takes the smallest one that no entry with this hash uses.
    Result<zap_entry_handle_t> entry_create(std::string_view name, uint64_t hash, uint32_t cd,
                                            const zap_value_t &) const;
    Result<void> entry_update(const zap_entry_handle_t &, const zap_value_t &) const;
    void entry_remove(const zap_entry_handle_t &) const;

    // Copies as many integers as fit, then reports EOVERFLOW if some did not. EINVAL: stored integers are wider.
    Result<void> entry_read(const zap_entry_handle_t &, uint64_t integer_size, uint64_t num_integers, void *out) const;
    // `out` is `length` bytes and may be null where nothing of the name is wanted.
    Result<void> entry_read_name(const zap_entry_handle_t &, uint64_t length, char *out) const;

    // Lengthens the prefix by one bit; entries whose next bit is 1 move to `sibling`, freshly initialised.
    void split(const zap_leaf_block &sibling) const;

    void stats(uint64_t table_shift, zap_stats_t &) const;

private:
    uint16_t *hash_table() const { return reinterpret_cast<uint16_t *>(bytes_ + sizeof(zap_leaf_header)); }
    zap_leaf_chunk_t &chunk(uint16_t index) const;
    zap_leaf_chunk_t::zap_leaf_entry &entry(uint16_t index) const;

    uint16_t chunk_alloc() const;
    void chunk_free(uint16_t index) const;
    uint16_t array_create(const zap_value_t &) const;
    void array_free(uint16_t &head) const;
    void array_read(uint16_t head, uint64_t stored_size, uint64_t stored_count, uint64_t wanted_size,
                    uint64_t wanted_count, void *out) const;
    bool array_match(uint16_t head, uint64_t stored_count, std::string_view name) const;
    uint16_t array_transfer(uint16_t head, const zap_leaf_block &to) const;
    void entry_transfer(uint16_t index, const zap_leaf_block &to) const;
    uint16_t *rehash_entry(uint16_t index) const;
    uint32_t unused_cd(uint64_t hash) const;

    uint8_t *bytes_;
    uint32_t block_shift_;
    uint32_t hash_shift_;
    uint32_t numchunks_;
};

} // namespace dmu
