// sync_dispatch: zfs#8909, fc7546777b (2019).
//
// Dirty dnodes are spread over as many sublists as there are CPUs. "every-sublist" makes a task of each, empty or not:
// one modified file on 72 CPUs wakes 72 threads. "non-empty" leaves the empty ones alone.
#include "model/variants/sync_dispatch.h"

namespace dmu {

namespace {

class every_sublist_t final : public sync_dispatch_t {
public:
    bool wanted(const list_t<dnode_t> &) const override { return true; }
};

class non_empty_t final : public sync_dispatch_t {
public:
    bool wanted(const list_t<dnode_t> &sublist) const override { return !sublist.empty(); }
};

} // namespace

std::unique_ptr<const sync_dispatch_t> make_sync_dispatch_every_sublist()
{
    return std::make_unique<every_sublist_t>();
}

std::unique_ptr<const sync_dispatch_t> make_sync_dispatch_non_empty()
{
    return std::make_unique<non_empty_t>();
}

} // namespace dmu
