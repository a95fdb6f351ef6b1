// How dmu_tx_hold_zap asks the ZAP, and how a fat ZAP reaches its own blocks.
//
// A transaction that will change a directory holds its dnode, reads whatever the change may touch (so that an error
// shows before anything is promised) and estimates what may be written. The code of 2016 asks through the functions
// that take an object number, each of which looks the dnode up again; the commit after it shows the dnode it has; 2019
// dropped the estimate for a flat charge and keeps only the look-up.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/dmu.h"
#include "model/dmu_tx.h"

namespace dmu {

struct zap_t;

class tx_hold_zap_t {
public:
    virtual ~tx_hold_zap_t() = default;

    // The dnode of txh is held (null: the object does not exist yet). Errors go to tx_err.
    virtual void hold(dmu_tx_hold_t &txh, bool add, const std::string_view *name) const = 0;

    // Block blkid of a fat ZAP, held and read, on the way to a pointer or a leaf.
    virtual Result<dmu_buf_hold_t> zap_block_hold(zap_t &zap, uint64_t blkid) const = 0;
};

} // namespace dmu
