// dbuf_hash_locks "rwlock": OpenZFS from 34dbc618f5 (June 2022) until 223b04d23d (September 2022) took it back.
//
// Look-ups of one hot dbuf no longer wait for each other; insertion and removal, which are writers, cost more.
#include <memory>

#include "model/variants/dbuf_hash_locks.h"

namespace dmu {

namespace {

class rwlocks_t final : public dbuf_hash_locks_t {
public:
    explicit rwlocks_t(uint32_t count) : hash_rwlocks_(count) {}
    void enter(uint64_t index, krw_t mode) override { rw_enter_manual(hash_rwlocks_.of(index), mode); }
    void exit(uint64_t index) override { rw_exit(hash_rwlocks_.of(index)); }
    void serve(const dbuf_hash_table_t &table) override { hash_rwlocks_.serve(table); }

private:
    dbuf_hash_lock_array_t<dbuf_hash_rwlock_t> hash_rwlocks_;
};

} // namespace

std::unique_ptr<dbuf_hash_locks_t> make_dbuf_hash_rwlocks(uint32_t count)
{
    return std::make_unique<rwlocks_t>(count);
}

} // namespace dmu
