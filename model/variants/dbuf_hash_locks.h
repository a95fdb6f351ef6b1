// What guards the chains of the dbuf hash table.
//
// Every look-up passes the lock of its chain, and many chains share a lock. Two effects meet there: threads that want
// one and the same dbuf, which more locks cannot part and a shared mode can; and threads whose dbufs merely share a
// lock, which more locks part. A rwlock costs more to enter than a mutex when nobody else is there.
#pragma once

#include <cstdint>
#include <memory>

#include "model/spl.h"

namespace dmu {

class dbuf_hash_locks_t {
public:
    virtual ~dbuf_hash_locks_t() = default;

    // Of the chain with that index. A look-up enters as reader, whoever changes the chain as writer.
    virtual void enter(uint64_t index, krw_t mode) = 0;
    virtual void exit(uint64_t index) = 0;
};

// One chain's lock, until the end of the scope.
class [[nodiscard]] dbuf_hash_guard_t {
public:
    dbuf_hash_guard_t(dbuf_hash_locks_t &locks, uint64_t index, krw_t mode) : locks_(locks), index_(index)
    {
        locks_.enter(index_, mode);
    }
    ~dbuf_hash_guard_t() noexcept(false) { locks_.exit(index_); }
    dbuf_hash_guard_t(const dbuf_hash_guard_t &) = delete;
    dbuf_hash_guard_t &operator=(const dbuf_hash_guard_t &) = delete;

private:
    dbuf_hash_locks_t &locks_;
    uint64_t index_;
};

// count is a power of two.
std::unique_ptr<dbuf_hash_locks_t> make_dbuf_hash_mutexes(uint32_t count);
std::unique_ptr<dbuf_hash_locks_t> make_dbuf_hash_rwlocks(uint32_t count);

} // namespace dmu
