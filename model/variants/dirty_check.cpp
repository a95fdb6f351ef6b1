// dirty_check: zfs#5935 and zfs#5747 (3de5a4a143).
//
// A create marks a dnode dirty several times, and it is listed once a txg. "under-lock" takes the list's lock each time
// to see that; "before-lock" looks first, so the lock is taken once for a dnode and txg. The look may be out of date
// without harm: only sync takes a dnode off that list, and it does not run while a transaction holds the txg open. The
// list of what waits for user accounting hangs on the same link: a dnode dirtied by sync itself in its own txg would be
// taken for listed. Sync dirties blocks of the meta-dnode and the accounting ZAPs, which are on neither list.
#include "model/variants/dirty_check.h"

namespace dmu {

namespace {

class under_lock_t final : public dirty_check_t {
public:
    bool listed(const dnode_t &, size_t) const override { return false; }
};

class before_lock_t final : public dirty_check_t {
public:
    bool listed(const dnode_t &dn, size_t slot) const override
    {
        charge_peek();
        return list_link_active(dn.dn_dirty_link[slot]);
    }
};

} // namespace

std::unique_ptr<const dirty_check_t> make_dirty_check_under_lock()
{
    return std::make_unique<under_lock_t>();
}

std::unique_ptr<const dirty_check_t> make_dirty_check_before_lock()
{
    return std::make_unique<before_lock_t>();
}

} // namespace dmu
