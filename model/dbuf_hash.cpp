// The dbuf hash table.
//
// A look-up takes the chain's mutex, finds the dbuf and takes its db_mtx before it lets the chain go: so whoever wants
// a busy dbuf waits with the chain locked. A dbuf on its way out (DB_EVICTING) stays in its chain for a while and is
// passed over. Followed: OpenZFS 81285582b9, dbuf.c.
#include "model/dbuf_impl.h"

#include <algorithm>
#include <new>

#include "model/crc64.h"

namespace dmu {

namespace {

bool same_block(const dmu_buf_impl_t &db, const objset_t *os, uint64_t object, uint8_t level, uint64_t blkid)
{
    return db.db_blkid == blkid && db.db_object == object && db.db_level == level && db.db_objset == os;
}

} // namespace

uint64_t dbuf_hash(uint64_t os, uint64_t object, uint8_t level, uint64_t blkid)
{
    uint64_t crc = crc64_byte(~0ull, level);
    crc = crc64_byte(crc, os >> 6);
    crc = crc64_byte(crc, object);
    crc = crc64_byte(crc, object >> 8);
    crc = crc64_byte(crc, blkid);
    crc = crc64_byte(crc, blkid >> 8);
    return crc ^ (os >> 14) ^ (object >> 16) ^ (blkid >> 16);
}

dbuf_hash_table_t::dbuf_hash_table_t(uint64_t bucket_count, std::unique_ptr<dbuf_hash_locks_t> chain_locks)
    : hash_table_mask(bucket_count - 1), locks(std::move(chain_locks))
{
    VERIFY((bucket_count & hash_table_mask) == 0);
    hash_table = static_cast<dmu_buf_impl_t **>(std::calloc(bucket_count, sizeof(dmu_buf_impl_t *)));
    if (hash_table == nullptr)
        throw std::bad_alloc();
    locks->serve(*this);
}

dbuf_hash_table_t::~dbuf_hash_table_t()
{
    std::free(hash_table);
}

dbuf_hash_sizes_t dbuf_hash_sizes(uint64_t memory_bytes)
{
    constexpr uint64_t average_block = 8 << 10;    // zfs_arc_average_blocksize
    constexpr uint64_t buckets_a_mutex = 128;      // of the table, once it is large
    constexpr uint64_t mutexes_least = 1ull << 13; // lest few locks serve a small machine
    uint64_t buckets = 1ull << 16;
    while (buckets * average_block < memory_bytes / 8)
        buckets <<= 1;
    return {buckets, static_cast<uint32_t>(std::max(buckets / buckets_a_mutex, mutexes_least))};
}

dmu_buf_impl_t *dbuf_find(objset_t &os, uint64_t object, uint8_t level, uint64_t blkid)
{
    dmu_state_t &dmu = os.os_dmu;
    Probe probe{dmu.era.slots_by_handle ? Fn::dbuf_find_city : Fn::dbuf_find};

    const uint64_t index = dbuf_hash(os.os_id, object, level, blkid) & dmu.dbufs.hash_table_mask;
    const dbuf_hash_guard_t chain(*dmu.dbufs.locks, index, RW_READER);

    for (dmu_buf_impl_t *db = dmu.dbufs.hash_table[index]; db != nullptr; db = db->db_hash_next) {
        if (!same_block(*db, &os, object, level, blkid))
            continue;
        auto held = mutex_enter(db->db_mtx);
        if (db->db_state != DB_EVICTING) {
            held.release();
            return db;
        }
    }
    return nullptr;
}

const dmu_buf_impl_t *dbuf_at_hand(const objset_t &os, uint64_t object, uint8_t level, uint64_t blkid)
{
    const dbuf_hash_table_t &dbufs = os.os_dmu.dbufs;
    const uint64_t index = dbuf_hash(os.os_id, object, level, blkid) & dbufs.hash_table_mask;
    const dmu_buf_impl_t *db = dbufs.hash_table[index];
    while (db != nullptr && !same_block(*db, &os, object, level, blkid))
        db = db->db_hash_next;
    const bool at_hand = db != nullptr && db->db_state == DB_CACHED && db->db_holds.peek() > 0 &&
                         db->db_holds.at_hand() && db->db_mtx.at_hand() && dbufs.locks->at_hand(index);
    return at_hand ? db : nullptr;
}

bool dbufs_alike(const dmu_buf_impl_t &one, const dmu_buf_impl_t &other)
{
    const auto last_holds_are_dirty = [](const dmu_buf_impl_t &db) { return db.db_holds.peek() == db.db_dirtycnt; };
    return one.db_dnode_handle == other.db_dnode_handle && one.db_level == other.db_level &&
           one.db_size == other.db_size && one.db_caching_status == other.db_caching_status &&
           one.db_user_immediate_evict == other.db_user_immediate_evict &&
           one.db_freed_in_flight == other.db_freed_in_flight && one.db_pending_evict == other.db_pending_evict &&
           last_holds_are_dirty(one) == last_holds_are_dirty(other) &&
           (one.db_buf == nullptr) == (other.db_buf == nullptr) &&
           (one.db_data_pending == nullptr) == (other.db_data_pending == nullptr) &&
           (one.db_user == nullptr) == (other.db_user == nullptr);
}

dmu_buf_impl_t *dbuf_hash_insert(dmu_buf_impl_t &db)
{
    dmu_state_t &dmu = db.db_objset->os_dmu;
    const uint64_t index = db.db_hash & dmu.dbufs.hash_table_mask;
    const dbuf_hash_guard_t chain(*dmu.dbufs.locks, index, RW_WRITER);

    dmu_buf_impl_t *&first = dmu.dbufs.hash_table[index];
    uint64_t passed = 0;
    for (dmu_buf_impl_t *other = first; other != nullptr; other = other->db_hash_next, ++passed) {
        if (!same_block(*other, db.db_objset, db.db_object, db.db_level, db.db_blkid))
            continue;
        auto held = mutex_enter(other->db_mtx);
        if (other->db_state != DB_EVICTING) {
            held.release();
            return other;
        }
    }

    db.db_mtx.enter();
    db.db_hash_next = first;
    first = &db;
    dbuf_stats_t &stats = dmu.dbuf_stats;
    if (passed > 0) {
        ++stats.hash_collisions;
        if (passed == 1)
            ++stats.hash_chains;
        stats.hash_chain_max = std::max<uint64_t>(stats.hash_chain_max, passed + 1);
    }
    stats.hash_elements_max = std::max<uint64_t>(stats.hash_elements_max, ++stats.hash_elements);
    return nullptr;
}

void dbuf_hash_remove(dmu_buf_impl_t &db)
{
    dmu_state_t &dmu = db.db_objset->os_dmu;
    const uint64_t index = db.db_hash & dmu.dbufs.hash_table_mask;
    VERIFY(db.db_state == DB_EVICTING);
    const dbuf_hash_guard_t chain(*dmu.dbufs.locks, index, RW_WRITER);

    dmu_buf_impl_t **link = &dmu.dbufs.hash_table[index];
    while (*link != &db) {
        VERIFY(*link != nullptr);
        link = &(*link)->db_hash_next;
    }
    *link = db.db_hash_next;
    db.db_hash_next = nullptr;
    if (dmu.dbufs.hash_table[index] != nullptr && dmu.dbufs.hash_table[index]->db_hash_next == nullptr)
        --dmu.dbuf_stats.hash_chains;
    --dmu.dbuf_stats.hash_elements;
}

} // namespace dmu
