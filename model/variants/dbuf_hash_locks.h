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

struct dbuf_hash_table_t;

class dbuf_hash_locks_t {
public:
    virtual ~dbuf_hash_locks_t() = default;

    // Of the chain with that index. A look-up enters as reader, whoever changes the chain as writer.
    virtual void enter(uint64_t index, krw_t mode) = 0;
    virtual void exit(uint64_t index) = 0;

    // The chain could be entered at once, its lock is this CPU's. Free of charge and order; false where that is not
    // known.
    virtual bool at_hand(uint64_t /*index*/) const { return false; }

    // Whose chains they are.
    virtual void serve(const dbuf_hash_table_t &table) = 0;
};

// The chains under one lock: first, first + step and so on. For its name in reports.
struct dbuf_hash_chains_t {
    const dbuf_hash_table_t *table = nullptr;
    uint64_t first = 0;
    uint64_t step = 0;
};

struct dbuf_hash_mutex_t {
    kmutex_t lock{"hash_mutexes"};
    dbuf_hash_chains_t chains;
};
struct dbuf_hash_rwlock_t {
    krwlock_t lock{"hash_rwlocks"};
    dbuf_hash_chains_t chains;
};

// As many as that, a power of two; a chain's lock is the one with the last bits of its index.
template <class Lock>
class dbuf_hash_lock_array_t {
public:
    explicit dbuf_hash_lock_array_t(uint32_t count) : mask_(count - 1), locks_(new Lock[count])
    {
        VERIFY((count & mask_) == 0);
    }
    auto &of(uint64_t index) const { return locks_[index & mask_].lock; }
    void serve(const dbuf_hash_table_t &table)
    {
        for (uint64_t i = 0; i <= mask_; ++i)
            locks_[i].chains = {&table, i, mask_ + 1};
    }

private:
    uint64_t mask_;
    std::unique_ptr<Lock[]> locks_;
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
