// What becomes of a leaf whose last entry has been removed.
#pragma once

#include <memory>

#include "model/zap_impl.h"

namespace dmu {

class zap_shrink_t {
public:
    virtual ~zap_shrink_t() = default;
    // The leaf, held as writer, has just lost an entry. It may be given back, and the header's lock retaken as writer;
    // on error nothing is held.
    virtual Result<> removed(zap_lock_t &lock, const zap_name_t &zn, zap_leaf_hold_t &leaf, dmu_tx_t &tx) const = 0;
};

std::unique_ptr<const zap_shrink_t> make_zap_shrink_never();
std::unique_ptr<const zap_shrink_t> make_zap_shrink_collapse();

} // namespace dmu
