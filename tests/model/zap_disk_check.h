// Reads a ZAP from the simulated disk, byte by byte, and says what is wrong with it.
//
// Written from the format, not from the code that writes it: its own offsets, its own CRC bit by bit, its own walk of
// the block tree. Only what has been synced is seen.
#pragma once

#include "model/dmu_state.h"
#include "model/objset.h"

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dmu_test {

using namespace dmu;

struct DiskEntry {
    uint64_t hash = 0;
    uint32_t cd = 0;
    uint64_t integer_size = 8;
    std::vector<uint64_t> integers;
};

class ZapOnDisk {
public:
    std::map<std::string, DiskEntry> entries;
    std::string fault; // empty: everything is as it should be
    bool fat = false;

    ZapOnDisk(objset_t &os, uint64_t object) : os_(os) { parse(object); }

private:
    void parse(uint64_t object)
    {
        const auto dnodes = block(os_.os_phys->os_meta_dnode, object >> 5);
        if (!dnodes)
            return fail("no block of dnodes");
        dnode_phys_t dn;
        std::memcpy(static_cast<void *>(&dn), reinterpret_cast<const uint8_t *>((*dnodes)->dnodes() + (object & 31)),
                    sizeof(dn));
        const auto first = block(dn, 0);
        if (!first)
            return fail("no block 0");
        const std::vector<uint8_t> bytes = bytes_of(*first);
        const uint64_t type = word(bytes, 0, 8);
        if (type == (1ull << 63) + 3)
            micro(bytes);
        else if (type == (1ull << 63) + 1)
            fat_zap(dn, bytes);
        else
            fail("block 0 is neither a microzap nor a header");
    }

    void fail(const std::string &what)
    {
        if (fault.empty())
            fault = what;
    }

    static std::vector<uint8_t> bytes_of(const block_ref &ref)
    {
        const uint8_t *from = ref.get()->bytes();
        return {from, from + ref->size};
    }

    std::optional<block_ref> block(const dnode_phys_t &dn, uint64_t blkid) const
    {
        const uint32_t pointers_shift = dn.dn_indblkshift - 7u;
        uint32_t level = dn.dn_nlevels - 1u;
        const uint64_t root = level * pointers_shift >= 64 ? 0 : blkid >> (level * pointers_shift);
        if (root >= dn.dn_nblkptr)
            return std::nullopt;
        blkptr_t bp = dn.dn_blkptr[root];
        for (; level > 0; --level) {
            if (bp.blk_dva == 0)
                return std::nullopt;
            const uint64_t index = (blkid >> ((level - 1) * pointers_shift)) & ((1ull << pointers_shift) - 1);
            bp = os_.os_dmu.store.read(bp.blk_dva).get()->blkptrs()[index];
        }
        if (bp.blk_dva == 0)
            return std::nullopt;
        return os_.os_dmu.store.read(bp.blk_dva);
    }

    static uint64_t word(const std::vector<uint8_t> &bytes, size_t at, size_t size)
    {
        uint64_t value = 0;
        for (size_t i = 0; i < size; ++i)
            value |= uint64_t{bytes.at(at + i)} << (8 * i);
        return value;
    }

    static uint64_t hash_of(uint64_t salt, const std::string &name)
    {
        uint64_t crc = salt;
        for (const char letter : name) {
            crc ^= static_cast<uint8_t>(letter);
            for (int bit = 0; bit < 8; ++bit)
                crc = crc & 1 ? (crc >> 1) ^ 0xC96C5795D7870F42ull : crc >> 1;
        }
        return crc >> 36 << 36;
    }

    void keep(const std::string &name, DiskEntry entry, uint64_t salt)
    {
        if (entry.hash != hash_of(salt, name))
            fail("the hash of " + name + " is not its name's");
        if (!places_.insert({entry.hash, entry.cd}).second)
            fail("hash and cd of " + name + " are another's too");
        if (!entries.emplace(name, std::move(entry)).second)
            fail(name + " is there twice");
    }

    void micro(const std::vector<uint8_t> &bytes)
    {
        const uint64_t salt = word(bytes, 8, 8);
        for (size_t at = 64; at + 64 <= bytes.size(); at += 64) {
            const char *text = reinterpret_cast<const char *>(&bytes[at + 14]);
            const std::string name(text, strnlen(text, 50));
            if (name.empty())
                continue;
            if (name.size() == 50)
                fail("a name without end");
            keep(name, {hash_of(salt, name), static_cast<uint32_t>(word(bytes, at + 8, 4)), 8, {word(bytes, at, 8)}},
                 salt);
        }
    }

    void fat_zap(const dnode_phys_t &dn, const std::vector<uint8_t> &header)
    {
        fat = true;
        const auto at = [&](size_t index) { return word(header, 8 * index, 8); };
        const uint64_t blk = at(2), numblks = at(3), shift = at(4), nextblk = at(5), copied = at(6);
        const uint64_t freeblk = at(7), num_leafs = at(8), num_entries = at(9), salt = at(10);
        if (at(1) != 0x2F52AB2ABull)
            fail("magic of the header");
        if (header.size() != 16384)
            fail("size of the header");

        std::vector<uint64_t> table;
        if (numblks == 0) {
            for (size_t i = 1024; i < 2048; ++i)
                table.push_back(at(i));
        } else {
            for (uint64_t b = 0; b < numblks; ++b)
                append_words(dn, blk + b, table);
        }
        if (table.size() != 1ull << shift)
            fail("the table has " + std::to_string(table.size()) + " pointers, not 2^" + std::to_string(shift));
        if (nextblk != 0) { // what has been copied says the same, twice as finely
            std::vector<uint64_t> next;
            for (uint64_t b = 0; b < 2 * copied; ++b)
                append_words(dn, nextblk + b, next);
            for (size_t i = 0; i < next.size(); ++i)
                if (next[i] != table[i / 2])
                    fail("the table under construction differs at " + std::to_string(i));
        }

        uint64_t leaves = 0;
        for (size_t first = 0; first < table.size() && fault.empty();) {
            if (table[first] == 0 || table[first] >= freeblk)
                return fail("pointer " + std::to_string(first) + " leads nowhere");
            const uint64_t prefix_len = leaf(dn, table[first], first, shift, salt);
            if (!fault.empty())
                return;
            const uint64_t pointers = 1ull << (shift - prefix_len);
            for (uint64_t i = 0; i < pointers; ++i)
                if (first + i >= table.size() || table[first + i] != table[first])
                    return fail("leaf " + std::to_string(table[first]) +
                                " is not pointed at as often as its prefix says");
            first += pointers;
            ++leaves;
        }
        if (leaves != num_leafs)
            fail("zap_num_leafs");
        if (entries.size() != num_entries)
            fail("zap_num_entries");
    }

    void append_words(const dnode_phys_t &dn, uint64_t blkid, std::vector<uint64_t> &into)
    {
        const auto found = block(dn, blkid);
        if (!found)
            return fail("no table block " + std::to_string(blkid));
        const std::vector<uint8_t> bytes = bytes_of(*found);
        for (size_t i = 0; i < bytes.size(); i += 8)
            into.push_back(word(bytes, i, 8));
    }

    // Its prefix length.
    uint64_t leaf(const dnode_phys_t &dn, uint64_t blkid, uint64_t first_pointer, uint64_t shift, uint64_t salt)
    {
        constexpr size_t chunks_at = 48 + 1024, chunks = 638;
        const auto found = block(dn, blkid);
        if (!found) {
            fail("no leaf " + std::to_string(blkid));
            return 0;
        }
        const std::vector<uint8_t> bytes = bytes_of(*found);
        const std::string here = "leaf " + std::to_string(blkid) + ": ";
        const uint64_t prefix = word(bytes, 16, 8), nfree = word(bytes, 28, 2), nentries = word(bytes, 30, 2);
        const uint64_t prefix_len = word(bytes, 32, 2), freelist = word(bytes, 34, 2);
        if (word(bytes, 0, 8) != 1ull << 63 || word(bytes, 24, 4) != 0x2AB1EAF)
            fail(here + "type or magic");
        if (prefix_len > shift || prefix != (prefix_len == 0 ? 0 : first_pointer >> (shift - prefix_len))) {
            fail(here + "prefix");
            return 0;
        }

        std::array<bool, chunks> used{};
        const auto chunk = [&](uint64_t index) { return chunks_at + 24 * index; };
        const auto take = [&](uint64_t index, uint8_t type) {
            if (index >= chunks || used[index] || bytes[chunk(index)] != type) {
                fail(here + "chunk " + std::to_string(index));
                return false;
            }
            return used[index] = true;
        };
        uint64_t free_chunks = 0;
        for (uint64_t at = freelist; at != 0xffff; at = word(bytes, chunk(at) + 22, 2), ++free_chunks)
            if (!take(at, 253))
                return prefix_len;
        if (free_chunks != nfree)
            fail(here + "lh_nfree");

        const auto array = [&](uint64_t at, uint64_t count, std::vector<uint8_t> &out) {
            for (; at != 0xffff; at = word(bytes, chunk(at) + 22, 2)) {
                if (!take(at, 251))
                    return false;
                for (size_t i = 0; i < 21 && out.size() < count; ++i)
                    out.push_back(bytes[chunk(at) + 1 + i]);
            }
            return out.size() == count;
        };
        uint64_t seen = 0;
        for (uint64_t bucket = 0; bucket < 512; ++bucket) {
            uint64_t last_cd = 0;
            for (uint64_t at = word(bytes, 48 + 2 * bucket, 2); at != 0xffff;
                 at = word(bytes, chunk(at) + 2, 2), ++seen) {
                if (!take(at, 252))
                    return prefix_len;
                const size_t base = chunk(at);
                DiskEntry entry;
                entry.integer_size = bytes[base + 1];
                entry.cd = static_cast<uint32_t>(word(bytes, base + 12, 4));
                entry.hash = word(bytes, base + 16, 8);
                std::vector<uint8_t> name, value;
                const uint64_t integers = word(bytes, base + 10, 2);
                if (!array(word(bytes, base + 4, 2), word(bytes, base + 6, 2), name) ||
                    !array(word(bytes, base + 8, 2), integers * entry.integer_size, value)) {
                    fail(here + "an array of chunk " + std::to_string(at));
                    return prefix_len;
                }
                for (uint64_t i = 0; i < integers; ++i) {
                    uint64_t integer = 0;
                    for (uint64_t b = 0; b < entry.integer_size; ++b)
                        integer = integer << 8 | value[i * entry.integer_size + b];
                    entry.integers.push_back(integer);
                }
                if (name.empty() || name.back() != 0)
                    fail(here + "a name without end");
                if (prefix_len != 0 && entry.hash >> (64 - prefix_len) != prefix)
                    fail(here + "an entry of another leaf");
                if (((entry.hash >> (64 - 9 - prefix_len)) & 511) != bucket)
                    fail(here + "an entry of another bucket");
                if (entry.cd < last_cd)
                    fail(here + "a bucket out of order");
                last_cd = entry.cd;
                keep(std::string(reinterpret_cast<const char *>(name.data())), entry, salt);
            }
        }
        if (seen != nentries)
            fail(here + "lh_nentries");
        for (const bool one : used)
            if (!one)
                fail(here + "a chunk that nothing leads to");
        return prefix_len;
    }

    objset_t &os_;
    std::set<std::pair<uint64_t, uint32_t>> places_;
};

} // namespace dmu_test
