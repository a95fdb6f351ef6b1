// Directories: names looked up, added, changed and removed under the locks the real code takes.
//
// A ZAP is reached through its block 0: the dbuf of that block carries a zap_t, the in-memory half (lock, index of a
// microzap), made when the block is first looked at and gone when the buffer is evicted. zap_lockdir holds the block
// and enters zap_rwlock: as reader for look-ups and for all changes of a fat ZAP, as writer for changes of a microzap
// and of a fat ZAP's shape. Leaves have a lock of their own, so many threads may change one directory at once; the
// price is that a thread that has to split a leaf holds zap_rwlock as reader only, and must become its writer first.
// Where the lock cannot be upgraded (in user space never, in a kernel when others read too) everything is dropped and
// zap_lockdir is entered anew, after which the world may have changed.
//
// Names and behaviour are those of OpenZFS 8bea98150 (July 2016) and, for the functions that end in _by_dnode,
// 2bce8049c3. Left out: normalised names, keys that are 64-bit words, 48-bit hashes.
#pragma once

#include "model/blkptr.h"
#include "model/result.h"
#include "model/spl.h"
#include "model/zap_format.h"
#include "model/zap_leaf.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dmu {

struct objset_t;
struct dnode_t;
struct dmu_tx_t;
struct zap_t;
class zap_lock_t;

enum class matchtype_t { MT_EXACT, MT_FIRST, MT_BEST };

constexpr uint64_t ZAP_HISTOGRAM_SIZE = 10;

struct zap_stats_t {
    uint64_t zs_ptrtbl_len = 0;
    uint64_t zs_blocksize = 0;
    uint64_t zs_ptrtbl_blks_copied = 0;
    uint64_t zs_ptrtbl_nextblk = 0;
    uint64_t zs_ptrtbl_zt_blk = 0;
    uint64_t zs_ptrtbl_zt_numblks = 0;
    uint64_t zs_ptrtbl_zt_shift = 0;
    uint64_t zs_num_blocks = 0; // block numbers ever handed out; blocks freed since are still counted
    uint64_t zs_num_leafs = 0;
    uint64_t zs_num_entries = 0;
    uint64_t zs_salt = 0; // 0 for a microzap
    std::array<uint64_t, ZAP_HISTOGRAM_SIZE> zs_leafs_with_2n_pointers{};
    std::array<uint64_t, ZAP_HISTOGRAM_SIZE> zs_blocks_with_n5_entries{};
    std::array<uint64_t, ZAP_HISTOGRAM_SIZE> zs_blocks_n_tenths_full{};
    std::array<uint64_t, ZAP_HISTOGRAM_SIZE> zs_entries_using_n_chunks{};
    std::array<uint64_t, ZAP_HISTOGRAM_SIZE> zs_buckets_with_n_entries{};
};

// A new object with an empty microzap, allocated in an assigned transaction; or one of that number, EEXIST.
uint64_t zap_create(objset_t &os, dmu_object_type_t type, dmu_object_type_t bonustype, uint32_t bonuslen, dmu_tx_t &tx);
Result<> zap_create_claim(objset_t &os, uint64_t object, dmu_object_type_t type, dmu_tx_t &tx);
// Makes an object just allocated an empty microzap.
void mzap_create_impl(objset_t &os, uint64_t object, dmu_tx_t &tx);
Result<> zap_destroy(objset_t &os, uint64_t zapobj, dmu_tx_t &tx);

// ENOENT: no such name. EINVAL: the integers stored are wider than integer_size. EOVERFLOW: there are more than
// num_integers; those that fit have been copied. ENAMETOOLONG, E2BIG: fat ZAPs only.
Result<> zap_lookup(objset_t &os, uint64_t zapobj, std::string_view name, uint64_t integer_size, uint64_t num_integers,
                    void *buf);
Result<> zap_lookup_norm(objset_t &os, uint64_t zapobj, std::string_view name, uint64_t integer_size,
                         uint64_t num_integers, void *buf, matchtype_t mt, std::string *realname);
Result<> zap_lookup_by_dnode(dnode_t &dn, std::string_view name, uint64_t integer_size, uint64_t num_integers,
                             void *buf);
Result<> zap_lookup_norm_by_dnode(dnode_t &dn, std::string_view name, uint64_t integer_size, uint64_t num_integers,
                                  void *buf, matchtype_t mt, std::string *realname);
Result<> zap_contains(objset_t &os, uint64_t zapobj, std::string_view name);

struct zap_length_t {
    uint64_t integer_size;
    uint64_t num_integers;
};
Result<zap_length_t> zap_length(objset_t &os, uint64_t zapobj, std::string_view name);

// Changes. A name or value that a microzap cannot hold turns it into a fat ZAP, even where the call is refused then.
Result<> zap_add(objset_t &os, uint64_t zapobj, std::string_view name, const zap_value_t &value, dmu_tx_t &tx);
Result<> zap_update(objset_t &os, uint64_t zapobj, std::string_view name, const zap_value_t &value, dmu_tx_t &tx);
Result<> zap_remove(objset_t &os, uint64_t zapobj, std::string_view name, dmu_tx_t &tx);

// A set of numbers: each is its own value, under its name in hexadecimal.
Result<> zap_add_int(objset_t &os, uint64_t zapobj, uint64_t number, dmu_tx_t &tx);
Result<> zap_remove_int(objset_t &os, uint64_t zapobj, uint64_t number, dmu_tx_t &tx);

// A sum under a name: the entry comes with the first delta and goes when it is 0.
Result<> zap_increment(objset_t &os, uint64_t zapobj, std::string_view name, int64_t delta, dmu_tx_t &tx);
Result<> zap_increment_int(objset_t &os, uint64_t zapobj, uint64_t number, int64_t delta, dmu_tx_t &tx);
std::string zap_int_name(uint64_t number);       // in hexadecimal
uint64_t zap_int_of_name(std::string_view name); // the number again

// What a transaction that adds or removes `name` (null: any name) may write at worst; added to both sums.
Result<> zap_count_write(objset_t &os, uint64_t zapobj, const std::string_view *name, bool add, uint64_t &towrite,
                         uint64_t &tooverwrite);
Result<> zap_count_write_by_dnode(dnode_t &dn, const std::string_view *name, bool add, uint64_t &towrite,
                                  uint64_t &tooverwrite);

Result<uint64_t> zap_count(objset_t &os, uint64_t zapobj);
Result<zap_stats_t> zap_get_stats(objset_t &os, uint64_t zapobj);

// For those who keep the block held over several steps. tx is null where nothing will be written; `adding` lets a full
// microzap grow or become fat on the way in; `fatreader`: of a fat ZAP the reader lock is enough.
Result<zap_lock_t> zap_lockdir(objset_t &os, uint64_t zapobj, dmu_tx_t *tx, krw_t lti, bool fatreader, bool adding);
Result<zap_lock_t> zap_lockdir_by_dnode(dnode_t &dn, dmu_tx_t *tx, krw_t lti, bool fatreader, bool adding);

// --- iteration
// --------------------------------------------------------------------------------------------------------

struct zap_attribute_t {
    std::string za_name;
    uint64_t za_integer_length = 0;
    uint64_t za_num_integers = 0;
    uint64_t za_first_integer = 0;
};

// Walks the entries in the order of (hash, cd), the same for both forms. The place survives as a cookie: the 28 hash
// bits, and the cd above them. Between calls nothing is locked, but the header block and a leaf stay held.
class zap_cursor_t {
public:
    static constexpr uint64_t end_cookie = ~0ull;

    zap_cursor_t(objset_t &os, uint64_t zapobj, uint64_t serialized = 0);
    ~zap_cursor_t() noexcept(false); // zap_cursor_fini
    zap_cursor_t(const zap_cursor_t &) = delete;
    zap_cursor_t &operator=(const zap_cursor_t &) = delete;

    Result<zap_attribute_t> retrieve(); // ENOENT: no entry at or after the place
    void advance();
    uint64_t serialize() const;
    uint64_t hash() const { return zc_hash; }
    uint32_t cd() const { return zc_cd; }

private:
    Result<zap_attribute_t> retrieve_micro();
    Result<zap_attribute_t> retrieve_fat();

    objset_t *zc_objset;
    uint64_t zc_zapobj;
    uint64_t zc_serialized;
    uint64_t zc_hash = 0;
    uint32_t zc_cd = 0;
    std::unique_ptr<struct zap_cursor_holds> zc_holds; // none before the first retrieve
};

} // namespace dmu
