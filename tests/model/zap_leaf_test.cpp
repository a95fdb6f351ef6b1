// The byte-level half of the ZAP: hashes and one leaf block, without buffers or locks.
#include "model/zap_hash.h"
#include "model/zap_leaf.h"
#include "sim/simulator.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

using namespace dmu;

namespace {

constexpr uint64_t salt = 1;

std::string f_name(unsigned index)
{
    char text[16];
    std::snprintf(text, sizeof(text), "f%08u", index);
    return text;
}

// Functions that count themselves need somebody to count for.
struct Kernel {
    sim::Simulator simulator{sim::find_machine_profile("flat")->machine, model_tables(), 1};
};

struct Leaf {
    std::vector<uint64_t> words = std::vector<uint64_t>((1u << fzap_default_block_shift) / 8);
    zap_leaf_block block{words.data(), fzap_default_block_shift};

    Leaf() { block.init(); }

    int add(const std::string &name, uint64_t value)
    {
        return block.entry_create(name, zap_hash_bytes(salt, name), ZAP_NEED_CD, {8, 1, &value}).error();
    }
    bool remove(const std::string &name)
    {
        const auto entry = block.lookup(name, zap_hash_bytes(salt, name));
        if (entry)
            block.entry_remove(*entry);
        return entry.has_value();
    }
    std::optional<uint64_t> value(const std::string &name) const
    {
        const auto entry = block.lookup(name, zap_hash_bytes(salt, name));
        uint64_t read = 0;
        if (!entry || !block.entry_read(*entry, 8, 1, &read))
            return std::nullopt;
        return read;
    }
};

} // namespace

TEST_CASE("the hash of f00000000 with salt 1 is the recorded one")
{
    CHECK(zap_hash_bytes(1, "f00000000") == 0x94cde35000000000);
    CHECK(zap_hash_bytes(1, "f00000001") == 0x27e3afe000000000);
    CHECK(zap_hash_bytes(1, "x115492e95e1657") == 0x00c63e2000000000);
    CHECK(zap_hash_bytes(1, "xf3279c509e52c") == 0x00c63e2000000000);
}

TEST_CASE("a salt moves all names of one length by the same constant")
{
    const uint64_t shift = zap_hash_bytes(1, "f00000000") ^ zap_hash_bytes(77, "f00000000");
    for (unsigned i = 1; i < 1000; ++i)
        CHECK((zap_hash_bytes(1, f_name(i)) ^ zap_hash_bytes(77, f_name(i))) == shift);
}

TEST_CASE("a leaf holds 212 entries of three chunks and then asks to be split")
{
    const Kernel kernel;
    Leaf leaf;
    for (unsigned i = 0; i < 212; ++i)
        CHECK(leaf.add(f_name(i), i) == 0);
    CHECK(leaf.block.header().lh_nfree == 2);
    CHECK(leaf.add(f_name(212), 212) == EAGAIN);
    CHECK(leaf.block.header().lh_nentries == 212);
    for (unsigned i = 0; i < 212; ++i)
        CHECK(leaf.value(f_name(i)) == i);
    CHECK(!leaf.value(f_name(212)));
}

TEST_CASE("the chunk freed last is used first")
{
    const Kernel kernel;
    Leaf leaf;
    for (unsigned i = 0; i < 3; ++i)
        REQUIRE(leaf.add(f_name(i), i) == 0);
    const auto chunk_of = [&](unsigned i) {
        return leaf.block.lookup(f_name(i), zap_hash_bytes(salt, f_name(i)))->zeh_chunk;
    };
    CHECK(chunk_of(0) == 0);
    CHECK(chunk_of(1) == 3);
    CHECK(chunk_of(2) == 6);
    CHECK(leaf.remove(f_name(0)));
    CHECK(leaf.remove(f_name(1)));
    REQUIRE(leaf.add(f_name(3), 3) == 0);
    REQUIRE(leaf.add(f_name(4), 4) == 0);
    CHECK(chunk_of(3) == 3);
    CHECK(chunk_of(4) == 0);
    CHECK(leaf.block.header().lh_nfree == 638 - 9);
}

TEST_CASE("entries of one hash take the smallest free cd, also after removals")
{
    const Kernel kernel;
    Leaf leaf;
    const std::string a = "xf3279c509e52c", b = "x115492e95e1657", c = "x22da463260371b";
    const auto cd_of = [&](const std::string &name) {
        return leaf.block.lookup(name, zap_hash_bytes(salt, name))->zeh_cd;
    };
    for (const std::string &name : {a, b, c})
        REQUIRE(leaf.add(name, 1) == 0);
    CHECK(cd_of(a) == 0);
    CHECK(cd_of(b) == 1);
    CHECK(cd_of(c) == 2);
    CHECK(leaf.remove(a));
    CHECK(leaf.remove(b));
    REQUIRE(leaf.add(b, 1) == 0);
    REQUIRE(leaf.add(a, 1) == 0);
    CHECK(cd_of(b) == 0);
    CHECK(cd_of(a) == 1);
}

TEST_CASE("a split sends each entry to the side that its next hash bit names")
{
    const Kernel kernel;
    Leaf leaf, sibling;
    for (unsigned i = 0; i < 212; ++i)
        REQUIRE(leaf.add(f_name(i), i) == 0);
    leaf.block.split(sibling.block);

    CHECK(leaf.block.header().lh_prefix_len == 1);
    CHECK(leaf.block.header().lh_prefix == 0);
    CHECK(sibling.block.header().lh_prefix_len == 1);
    CHECK(sibling.block.header().lh_prefix == 1);
    CHECK(leaf.block.header().lh_nentries + sibling.block.header().lh_nentries == 212);
    for (unsigned i = 0; i < 212; ++i) {
        const bool high = zap_hash_bytes(salt, f_name(i)) >> 63 != 0;
        CHECK((high ? sibling : leaf).value(f_name(i)) == i);
        CHECK(!(high ? leaf : sibling).value(f_name(i)));
    }
}

TEST_CASE("values and names of any length are read back from their chunks")
{
    const Kernel kernel;
    Leaf leaf;
    std::vector<uint16_t> numbers(100);
    for (size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<uint16_t>(i * 257);
    const std::string name(255, 'n');
    const uint64_t hash = zap_hash_bytes(salt, name);
    REQUIRE(leaf.block.entry_create(name, hash, ZAP_NEED_CD, {2, numbers.size(), numbers.data()}).ok());

    const auto entry = leaf.block.lookup(name, hash);
    REQUIRE(entry);
    CHECK(entry->zeh_num_integers == numbers.size());
    std::vector<uint16_t> read(numbers.size());
    CHECK(leaf.block.entry_read(*entry, 2, read.size(), read.data()).ok());
    CHECK(read == numbers);
    CHECK(leaf.block.entry_read(*entry, 1, 1000, read.data()).error() == EINVAL);
    std::fill(read.begin(), read.end(), 0);
    CHECK(leaf.block.entry_read(*entry, 2, 5, read.data()).error() == EOVERFLOW);
    CHECK(read[4] == numbers[4]);
    CHECK(read[5] == 0);
    char back[256];
    CHECK(leaf.block.entry_read_name(*entry, sizeof(back), back).ok());
    CHECK(back == name);
}

TEST_CASE("a value that would not fit an empty leaf is refused, one that would is asked to wait")
{
    const Kernel kernel;
    Leaf leaf;
    const std::vector<uint64_t> zeros(1024);
    CHECK(leaf.add("small", 1) == 0);
    const uint64_t hash = zap_hash_bytes(salt, "large");
    CHECK(leaf.block.entry_create("large", hash, ZAP_NEED_CD, {8, 1024, zeros.data()}).ok());
    CHECK(leaf.block.entry_create("second", hash, ZAP_NEED_CD, {8, 1024, zeros.data()}).error() == EAGAIN);
}

TEST_CASE("the closest entry is the next in the order of hash and cd")
{
    const Kernel kernel;
    Leaf leaf;
    std::vector<uint64_t> hashes;
    for (unsigned i = 0; i < 200; ++i) {
        REQUIRE(leaf.add(f_name(i), i) == 0);
        hashes.push_back(zap_hash_bytes(salt, f_name(i)));
    }
    std::sort(hashes.begin(), hashes.end());
    uint64_t hash = 0;
    uint32_t cd = 0;
    for (const uint64_t expected : hashes) {
        const auto entry = leaf.block.lookup_closest(hash, cd);
        REQUIRE(entry);
        CHECK(entry->zeh_hash == expected);
        hash = entry->zeh_hash;
        cd = entry->zeh_cd + 1;
    }
    CHECK(!leaf.block.lookup_closest(hash, cd));
}
