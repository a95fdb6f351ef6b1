// The dbuf hash table.
//
// A look-up takes the chain's mutex, finds the dbuf and takes its db_mtx before it lets the chain go: so whoever wants
// a busy dbuf waits with the chain locked. A dbuf on its way out (DB_EVICTING) stays in its chain for a while and is
// passed over. Followed: OpenZFS 81285582b9, dbuf.c.
#include "model/dbuf_impl.h"

#include <new>

#include "model/crc64.h"

namespace dmu {

namespace {

inline uint64_t dbuf_hash(uint64_t os, uint64_t object, uint8_t level, uint64_t blkid)
{
    uint64_t crc = crc64_byte(~0ull, level);
    crc = crc64_byte(crc, os >> 6);
    crc = crc64_byte(crc, object);
    crc = crc64_byte(crc, object >> 8);
    crc = crc64_byte(crc, blkid);
    crc = crc64_byte(crc, blkid >> 8);
    return crc ^ (os >> 14) ^ (object >> 16) ^ (blkid >> 16);
}

uint64_t dbuf_hash(const dmu_buf_impl_t &db)
{
    return dbuf_hash(db.db_objset->os_id, db.db_object, db.db_level, db.db_blkid);
}

bool same_block(const dmu_buf_impl_t &db, const objset_t *os, uint64_t object, uint8_t level, uint64_t blkid)
{
    return db.db_blkid == blkid && db.db_object == object && db.db_level == level && db.db_objset == os;
}

} // namespace

dbuf_hash_table_t::dbuf_hash_table_t(uint64_t bucket_count, uint32_t mutex_count)
    : hash_table_mask(bucket_count - 1), mutex_mask(mutex_count - 1)
{
    VERIFY((bucket_count & hash_table_mask) == 0);
    VERIFY((mutex_count & mutex_mask) == 0);
    VERIFY3(uint64_t{mutex_count}, <=, bucket_count);
    hash_table = static_cast<dmu_buf_impl_t **>(std::calloc(bucket_count, sizeof(dmu_buf_impl_t *)));
    if (hash_table == nullptr)
        throw std::bad_alloc();
    hash_mutexes = static_cast<kmutex_t *>(::operator new(mutex_count * sizeof(kmutex_t)));
    for (uint32_t i = 0; i < mutex_count; ++i)
        new (&hash_mutexes[i]) kmutex_t("hash_mutexes");
}

dbuf_hash_table_t::~dbuf_hash_table_t()
{
    std::free(hash_table);
    for (uint64_t i = 0; i <= mutex_mask; ++i)
        hash_mutexes[i].~kmutex_t();
    ::operator delete(hash_mutexes);
}

dmu_buf_impl_t *dbuf_find(objset_t &os, uint64_t object, uint8_t level, uint64_t blkid)
{
    Probe probe{Fn::dbuf_find};

    dmu_state_t &dmu = os.os_dmu;
    const uint64_t index = dbuf_hash(os.os_id, object, level, blkid) & dmu.dbufs.hash_table_mask;
    auto chain = mutex_enter(dmu.dbufs.mutex(index));

    for (dmu_buf_impl_t *db = dmu.dbufs.hash_table[index]; db != nullptr; db = db->db_hash_next) {
        if (!same_block(*db, &os, object, level, blkid)) {
            ++dmu.dbuf_stats.hash_collisions;
            continue;
        }
        auto held = mutex_enter(db->db_mtx);
        if (db->db_state != DB_EVICTING) {
            ++dmu.dbuf_stats.hash_hits;
            held.release();
            return db;
        }
    }
    ++dmu.dbuf_stats.hash_misses;
    return nullptr;
}

dmu_buf_impl_t *dbuf_hash_insert(dmu_buf_impl_t &db)
{
    dmu_state_t &dmu = db.db_objset->os_dmu;
    const uint64_t index = dbuf_hash(db) & dmu.dbufs.hash_table_mask;
    auto chain = mutex_enter(dmu.dbufs.mutex(index));

    dmu_buf_impl_t *&first = dmu.dbufs.hash_table[index];
    for (dmu_buf_impl_t *other = first; other != nullptr; other = other->db_hash_next) {
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
    if (++stats.hash_elements > stats.hash_elements_max)
        stats.hash_elements_max = stats.hash_elements;
    return nullptr;
}

void dbuf_hash_remove(dmu_buf_impl_t &db)
{
    dmu_state_t &dmu = db.db_objset->os_dmu;
    const uint64_t index = dbuf_hash(db) & dmu.dbufs.hash_table_mask;
    VERIFY(db.db_state == DB_EVICTING);
    auto chain = mutex_enter(dmu.dbufs.mutex(index));

    dmu_buf_impl_t **link = &dmu.dbufs.hash_table[index];
    while (*link != &db) {
        VERIFY(*link != nullptr);
        link = &(*link)->db_hash_next;
    }
    *link = db.db_hash_next;
    db.db_hash_next = nullptr;
    --dmu.dbuf_stats.hash_elements;
}

} // namespace dmu
