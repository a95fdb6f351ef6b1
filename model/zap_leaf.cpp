// Chunks, arrays and buckets of one leaf. See the head of zap_leaf.h.
#include "model/zap_leaf.h"
#include "model/spl.h"
#include "model/zap.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace dmu {

namespace {

void store_integer(uint8_t *place, uint64_t size, uint64_t value)
{
    std::memcpy(place, &value, size); // little-endian host: the low bytes are kept
}

} // namespace

zap_leaf_block::zap_leaf_block(void *bytes, uint32_t block_shift)
    : bytes_(static_cast<uint8_t *>(bytes)), block_shift_(block_shift), hash_shift_(zap_leaf_hash_shift(block_shift)),
      numchunks_(zap_leaf_numchunks(block_shift))
{
}

zap_leaf_chunk_t &zap_leaf_block::chunk(uint16_t index) const
{
    VERIFY3(index, <, numchunks_);
    auto *first = reinterpret_cast<zap_leaf_chunk_t *>(bytes_ + sizeof(zap_leaf_header) + 2 * buckets());
    return first[index];
}

zap_leaf_chunk_t::zap_leaf_entry &zap_leaf_block::entry(uint16_t index) const
{
    auto &found = chunk(index).l_entry;
    VERIFY3(found.le_type, ==, ZAP_CHUNK_ENTRY);
    return found;
}

uint32_t zap_leaf_block::bucket_of(uint64_t hash) const
{
    return static_cast<uint32_t>(hash >> (64 - hash_shift_ - header().lh_prefix_len)) & (buckets() - 1);
}

void zap_leaf_block::init() const
{
    Probe probe{Fn::zap_leaf_init};

    {
        Probe header_probe{Fn::zap_memset};
        header() = zap_leaf_header{};
    }
    {
        Probe table_probe{Fn::zap_memset};
        std::fill_n(hash_table(), buckets(), CHAIN_END);
    }
    for (uint32_t i = 0; i < numchunks_; ++i) {
        auto &free = chunk(static_cast<uint16_t>(i)).l_free;
        free.lf_type = ZAP_CHUNK_FREE;
        free.lf_next = i + 1 < numchunks_ ? static_cast<uint16_t>(i + 1) : CHAIN_END;
    }
    header().lh_block_type = ZBT_LEAF;
    header().lh_magic = ZAP_LEAF_MAGIC;
    header().lh_nfree = static_cast<uint16_t>(numchunks_);
}

// --- chunks
// -----------------------------------------------------------------------------------------------------------

uint16_t zap_leaf_block::chunk_alloc() const
{
    Probe probe{Fn::zap_leaf_chunk_alloc};
    VERIFY3(header().lh_nfree, >, 0);

    const uint16_t taken = header().lh_freelist;
    VERIFY3(chunk(taken).l_free.lf_type, ==, ZAP_CHUNK_FREE);
    header().lh_freelist = chunk(taken).l_free.lf_next;
    --header().lh_nfree;
    return taken;
}

void zap_leaf_block::chunk_free(uint16_t index) const
{
    Probe probe{Fn::zap_leaf_chunk_free};
    auto &free = chunk(index).l_free;
    VERIFY3(free.lf_type, !=, ZAP_CHUNK_FREE);
    VERIFY3(header().lh_nfree, <, numchunks_);

    free = {ZAP_CHUNK_FREE, {}, header().lh_freelist}; // zeroed, so that the block compresses
    header().lh_freelist = index;
    ++header().lh_nfree;
}

// --- arrays: chains of chunks with 21 bytes each, integers big-endian
// -------------------------------------------------

uint16_t zap_leaf_block::array_create(const zap_value_t &value) const
{
    Probe probe{Fn::zap_leaf_array_create};
    VERIFY3(value.integer_size * value.num_integers, <=, ZAP_MAXVALUELEN);
    count_calls(Fn::ldv, value.num_integers);

    const auto *from = static_cast<const uint8_t *>(value.integers);
    const uint64_t bytes = value.integer_size * value.num_integers;
    const auto stored_byte = [&](uint64_t at) {
        const uint64_t first = at - at % value.integer_size;
        return from[first + value.integer_size - 1 - at % value.integer_size];
    };

    uint16_t head = CHAIN_END;
    uint16_t *link = &head;
    for (uint64_t done = 0; done < bytes;) {
        const uint16_t fresh = chunk_alloc();
        auto &array = chunk(fresh).l_array;
        array.la_type = ZAP_CHUNK_ARRAY;
        for (uint32_t i = 0; i < ZAP_LEAF_ARRAY_BYTES && done < bytes; ++i, ++done)
            array.la_array[i] = stored_byte(done);
        *link = fresh;
        link = &array.la_next;
    }
    *link = CHAIN_END;
    return head;
}

void zap_leaf_block::array_free(uint16_t &head) const
{
    Probe probe{Fn::zap_leaf_array_free};

    uint16_t next = head;
    head = CHAIN_END;
    while (next != CHAIN_END) {
        const uint16_t freed = next;
        VERIFY3(chunk(freed).l_array.la_type, ==, ZAP_CHUNK_ARRAY);
        next = chunk(freed).l_array.la_next;
        chunk_free(freed);
    }
}

void zap_leaf_block::array_read(uint16_t head, uint64_t stored_size, uint64_t stored_count, uint64_t wanted_size,
                                uint64_t wanted_count, void *out) const
{
    Probe probe{Fn::zap_leaf_array_read};
    VERIFY3(stored_size, <=, wanted_size);

    auto *to = static_cast<uint8_t *>(out);
    const uint64_t bytes = std::min(stored_count, wanted_count) * stored_size;
    uint64_t value = 0;
    uint16_t at = head;
    for (uint64_t i = 0; i < bytes; ++i) {
        const uint32_t within = i % ZAP_LEAF_ARRAY_BYTES;
        value = (value << 8) | chunk(at).l_array.la_array[within];
        if ((i + 1) % stored_size == 0) {
            store_integer(to, wanted_size, value);
            to += wanted_size; // the bits of earlier integers stay above, and show where integers are widened
        }
        if (within + 1 == ZAP_LEAF_ARRAY_BYTES)
            at = chunk(at).l_array.la_next;
    }
}

bool zap_leaf_block::array_match(uint16_t head, uint64_t stored_count, std::string_view name) const
{
    Probe probe{Fn::zap_leaf_array_match};
    zap_getflags_probe();

    if (stored_count != name.size() + 1)
        return false;
    uint16_t at = head;
    for (size_t done = 0; done < stored_count; done += ZAP_LEAF_ARRAY_BYTES, at = chunk(at).l_array.la_next) {
        const uint8_t *stored = chunk(at).l_array.la_array;
        const std::string_view part = name.substr(std::min(done, name.size()), ZAP_LEAF_ARRAY_BYTES);
        if (std::memcmp(stored, part.data(), part.size()) != 0)
            return false;
        if (part.size() < ZAP_LEAF_ARRAY_BYTES && stored[part.size()] != 0)
            return false;
    }
    return true;
}

uint16_t zap_leaf_block::array_transfer(uint16_t head, const zap_leaf_block &to) const
{
    Probe probe{Fn::zap_leaf_transfer_array};

    uint16_t new_head = CHAIN_END;
    uint16_t *link = &new_head;
    while (head != CHAIN_END) {
        const uint16_t fresh = to.chunk_alloc();
        auto &copy = to.chunk(fresh).l_array;
        copy = chunk(head).l_array;
        const uint16_t next = copy.la_next;
        chunk_free(head);
        *link = fresh;
        link = &copy.la_next;
        head = next;
    }
    *link = CHAIN_END;
    return new_head;
}

// --- entries
// ----------------------------------------------------------------------------------------------------------

std::optional<zap_entry_handle_t> zap_leaf_block::lookup(std::string_view name, uint64_t hash) const
{
    Probe probe{Fn::zap_leaf_lookup};
    VERIFY3(header().lh_magic, ==, ZAP_LEAF_MAGIC);

    for (uint16_t *link = &hash_table()[bucket_of(hash)]; *link != CHAIN_END;) {
        auto &candidate = entry(*link);
        if (candidate.le_hash == hash && array_match(candidate.le_name_chunk, candidate.le_name_numints, name))
            return zap_entry_handle_t{
                *link, link, hash, candidate.le_cd, candidate.le_value_intlen, candidate.le_value_numints};
        link = &candidate.le_next;
    }
    return std::nullopt;
}

std::optional<zap_entry_handle_t> zap_leaf_block::lookup_closest(uint64_t hash, uint32_t cd) const
{
    Probe probe{Fn::zap_leaf_lookup_closest};
    VERIFY3(header().lh_magic, ==, ZAP_LEAF_MAGIC);

    // Buckets are in hash order, so the first bucket with a candidate holds the closest one.
    std::optional<zap_entry_handle_t> closest;
    for (uint32_t bucket = bucket_of(hash); bucket < buckets() && !closest; ++bucket) {
        for (uint16_t at = hash_table()[bucket]; at != CHAIN_END; at = entry(at).le_next) {
            const auto &seen = entry(at);
            const bool reached = seen.le_hash > hash || (seen.le_hash == hash && seen.le_cd >= cd);
            const bool nearer = !closest || seen.le_hash < closest->zeh_hash ||
                                (seen.le_hash == closest->zeh_hash && seen.le_cd <= closest->zeh_cd);
            if (reached && nearer)
                closest = zap_entry_handle_t{
                    at, nullptr, seen.le_hash, seen.le_cd, seen.le_value_intlen, seen.le_value_numints};
        }
    }
    return closest;
}

uint32_t zap_leaf_block::unused_cd(uint64_t hash) const
{
    // Chains are sorted by cd, whatever the hash, so the cds in use for one hash appear in ascending order.
    uint32_t cd = 0;
    for (uint16_t at = hash_table()[bucket_of(hash)]; at != CHAIN_END; at = entry(at).le_next) {
        if (entry(at).le_cd > cd)
            break;
        if (entry(at).le_hash == hash)
            ++cd;
    }
    return cd;
}

Result<zap_entry_handle_t> zap_leaf_block::entry_create(std::string_view name, uint64_t hash, uint32_t cd,
                                                        const zap_value_t &value) const
{
    Probe probe{Fn::zap_entry_create};
    const uint64_t name_bytes = name.size() + 1;
    const uint32_t needed =
        1 + zap_leaf_array_nchunks(name_bytes) + zap_leaf_array_nchunks(value.integer_size * value.num_integers);
    if (needed > numchunks_)
        return SET_ERROR(E2BIG);
    if (cd == ZAP_NEED_CD)
        cd = unused_cd(hash);
    if (header().lh_nfree < needed)
        return SET_ERROR(EAGAIN);

    const uint16_t index = chunk_alloc();
    auto &made = chunk(index).l_entry;
    made.le_type = ZAP_CHUNK_ENTRY;
    char terminated[ZAP_MAXNAMELEN];
    std::memcpy(terminated, name.data(), name.size());
    terminated[name.size()] = 0;
    made.le_name_chunk = array_create({1, name_bytes, terminated});
    made.le_name_numints = static_cast<uint16_t>(name_bytes);
    made.le_value_chunk = array_create(value);
    made.le_value_numints = static_cast<uint16_t>(value.num_integers);
    made.le_value_intlen = static_cast<uint8_t>(value.integer_size);
    made.le_hash = hash;
    made.le_cd = cd;

    uint16_t *link = rehash_entry(index);
    ++header().lh_nentries;
    return zap_entry_handle_t{index, link, hash, cd, value.integer_size, value.num_integers};
}

Result<void> zap_leaf_block::entry_update(const zap_entry_handle_t &handle, const zap_value_t &value) const
{
    Probe probe{Fn::zap_entry_update};
    auto &changed = entry(handle.zeh_chunk);
    const uint32_t had = zap_leaf_array_nchunks(uint64_t{changed.le_value_numints} * changed.le_value_intlen);
    const uint32_t wants = zap_leaf_array_nchunks(value.integer_size * value.num_integers);
    if (header().lh_nfree + had < wants)
        return SET_ERROR(EAGAIN);

    uint16_t head = changed.le_value_chunk;
    array_free(head);
    changed.le_value_chunk = array_create(value);
    changed.le_value_numints = static_cast<uint16_t>(value.num_integers);
    changed.le_value_intlen = static_cast<uint8_t>(value.integer_size);
    return {};
}

void zap_leaf_block::entry_remove(const zap_entry_handle_t &handle) const
{
    Probe probe{Fn::zap_entry_remove};
    VERIFY(handle.zeh_chunkp != nullptr);
    VERIFY3(*handle.zeh_chunkp, ==, handle.zeh_chunk);

    auto &removed = entry(handle.zeh_chunk);
    uint16_t name_head = removed.le_name_chunk;
    uint16_t value_head = removed.le_value_chunk;
    array_free(name_head);
    array_free(value_head);
    *handle.zeh_chunkp = removed.le_next;
    chunk_free(handle.zeh_chunk);
    --header().lh_nentries;
}

Result<void> zap_leaf_block::entry_read(const zap_entry_handle_t &handle, uint64_t integer_size, uint64_t num_integers,
                                        void *out) const
{
    Probe probe{Fn::zap_entry_read};
    const auto &stored = entry(handle.zeh_chunk);
    if (stored.le_value_intlen > integer_size)
        return SET_ERROR(EINVAL);

    array_read(stored.le_value_chunk, stored.le_value_intlen, stored.le_value_numints, integer_size, num_integers, out);
    if (stored.le_value_numints > num_integers)
        return SET_ERROR(EOVERFLOW);
    return {};
}

Result<void> zap_leaf_block::entry_read_name(const zap_entry_handle_t &handle, uint64_t length, char *out) const
{
    Probe probe{Fn::zap_entry_read_name};
    zap_getflags_probe();
    const auto &stored = entry(handle.zeh_chunk);
    array_read(stored.le_name_chunk, 1, stored.le_name_numints, 1, length, out);
    if (stored.le_name_numints > length)
        return SET_ERROR(EOVERFLOW);
    return {};
}

uint16_t *zap_leaf_block::rehash_entry(uint16_t index) const
{
    Probe probe{Fn::zap_leaf_rehash_entry};
    auto &linked = entry(index);

    uint16_t *link = &hash_table()[bucket_of(linked.le_hash)];
    while (*link != CHAIN_END && entry(*link).le_cd <= linked.le_cd)
        link = &entry(*link).le_next;
    linked.le_next = *link;
    *link = index;
    return link;
}

// --- splitting
// --------------------------------------------------------------------------------------------------------

void zap_leaf_block::entry_transfer(uint16_t index, const zap_leaf_block &to) const
{
    Probe probe{Fn::zap_leaf_transfer_entry};
    const auto moved = entry(index);

    const uint16_t fresh = to.chunk_alloc();
    auto &copy = to.chunk(fresh).l_entry;
    copy = moved;
    to.rehash_entry(fresh);
    copy.le_name_chunk = array_transfer(moved.le_name_chunk, to);
    copy.le_value_chunk = array_transfer(moved.le_value_chunk, to);

    chunk_free(index);
    --header().lh_nentries;
    ++to.header().lh_nentries;
}

void zap_leaf_block::split(const zap_leaf_block &sibling) const
{
    Probe probe{Fn::zap_leaf_split};
    const uint64_t next_bit = 1ull << (63 - header().lh_prefix_len);

    header().lh_prefix <<= 1;
    ++header().lh_prefix_len;
    sibling.header().lh_prefix = header().lh_prefix | 1;
    sibling.header().lh_prefix_len = header().lh_prefix_len;

    // The bits that choose a bucket have moved by one, so every chain is made anew, in the order of the chunks.
    {
        Probe table_probe{Fn::zap_memset};
        std::fill_n(hash_table(), buckets(), CHAIN_END);
    }
    for (uint32_t i = 0; i < numchunks_; ++i) {
        const auto index = static_cast<uint16_t>(i);
        const auto &seen = chunk(index).l_entry;
        if (seen.le_type != ZAP_CHUNK_ENTRY)
            continue;
        if ((seen.le_hash & next_bit) != 0)
            entry_transfer(index, sibling);
        else
            rehash_entry(index);
    }
}

void zap_leaf_block::stats(uint64_t table_shift, zap_stats_t &out) const
{
    constexpr uint64_t last = ZAP_HISTOGRAM_SIZE - 1;
    const uint64_t block = 1ull << block_shift_;
    const uint64_t used = block - uint64_t{header().lh_nfree} * (ZAP_LEAF_ARRAY_BYTES + 1);

    ++out.zs_leafs_with_2n_pointers[std::min(table_shift - header().lh_prefix_len, last)];
    ++out.zs_blocks_with_n5_entries[std::min<uint64_t>(header().lh_nentries / 5, last)];
    ++out.zs_blocks_n_tenths_full[std::min(used * 10 / block, last)];
    for (uint32_t bucket = 0; bucket < buckets(); ++bucket) {
        uint64_t entries = 0;
        for (uint16_t at = hash_table()[bucket]; at != CHAIN_END; at = entry(at).le_next, ++entries) {
            const auto &seen = entry(at);
            const uint64_t chunks = 1 + zap_leaf_array_nchunks(seen.le_name_numints) +
                                    zap_leaf_array_nchunks(uint64_t{seen.le_value_numints} * seen.le_value_intlen);
            ++out.zs_entries_using_n_chunks[std::min(chunks, last)];
        }
        ++out.zs_buckets_with_n_entries[std::min(entries, last)];
    }
}

} // namespace dmu
