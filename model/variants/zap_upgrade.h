// What happens when a thread that holds zap_rwlock as reader, and a leaf below it as writer, must become its writer.
#pragma once

#include "model/spl.h"

namespace dmu {

class zap_upgrade_t {
public:
    virtual ~zap_upgrade_t() = default;

    // True: the guard's lock is held as writer. False: it is held as before.
    virtual bool zap_rw_tryupgrade(rw_guard_t &guard) const = 0;
};

} // namespace dmu
