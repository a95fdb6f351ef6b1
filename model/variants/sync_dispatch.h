// Which of an objset's lists of dirty dnodes become a task when it is synced.
#pragma once

#include <memory>

#include "model/dnode.h"

namespace dmu {

class sync_dispatch_t {
public:
    virtual ~sync_dispatch_t() = default;
    virtual bool wanted(const list_t<dnode_t> &sublist) const = 0;
};

std::unique_ptr<const sync_dispatch_t> make_sync_dispatch_every_sublist();
std::unique_ptr<const sync_dispatch_t> make_sync_dispatch_non_empty();

} // namespace dmu
