// dbuf_hash_locks "mutex": every OpenZFS but the one below (34dbc618f5 to 223b04d23d, 2022).
#include <memory>

#include "model/variants/dbuf_hash_locks.h"

namespace dmu {

namespace {

class mutexes_t final : public dbuf_hash_locks_t {
public:
    explicit mutexes_t(uint32_t count) : hash_mutexes_(count) {}
    void enter(uint64_t index, krw_t) override { hash_mutexes_.of(index).enter(); }
    void exit(uint64_t index) override { hash_mutexes_.of(index).exit(); }
    bool at_hand(uint64_t index) const override { return hash_mutexes_.of(index).at_hand(); }
    void serve(const dbuf_hash_table_t &table) override { hash_mutexes_.serve(table); }

private:
    dbuf_hash_lock_array_t<dbuf_hash_mutex_t> hash_mutexes_;
};

} // namespace

std::unique_ptr<dbuf_hash_locks_t> make_dbuf_hash_mutexes(uint32_t count)
{
    return std::make_unique<mutexes_t>(count);
}

} // namespace dmu
