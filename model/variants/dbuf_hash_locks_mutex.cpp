// dbuf_hash_locks "mutex": every OpenZFS but the one below (34dbc618f5 to 223b04d23d, 2022).
#include <memory>

#include "model/variants/dbuf_hash_locks.h"

namespace dmu {

namespace {

class mutexes_t final : public dbuf_hash_locks_t {
public:
    explicit mutexes_t(uint32_t count) : mask_(count - 1), hash_mutexes_(new lock_t[count])
    {
        VERIFY((count & mask_) == 0);
    }
    void enter(uint64_t index, krw_t) override { hash_mutexes_[index & mask_].lock.enter(); }
    void exit(uint64_t index) override { hash_mutexes_[index & mask_].lock.exit(); }

private:
    uint64_t mask_;
    struct lock_t {
        kmutex_t lock{"hash_mutexes"};
    };
    std::unique_ptr<lock_t[]> hash_mutexes_;
};

} // namespace

std::unique_ptr<dbuf_hash_locks_t> make_dbuf_hash_mutexes(uint32_t count)
{
    return std::make_unique<mutexes_t>(count);
}

} // namespace dmu
