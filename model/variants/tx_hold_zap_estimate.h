// The part that the two forms of 2016 have in common: the estimate. They differ in the two questions put to the ZAP.
#pragma once

#include "model/variants/tx_hold_zap.h"

namespace dmu {

class tx_hold_zap_estimate : public tx_hold_zap_t {
public:
    void hold(dmu_tx_hold_t &txh, bool add, const std::string_view *name) const final;

private:
    virtual Result<> look_up(dnode_t &dn, std::string_view name) const = 0;
    virtual Result<> count_write(dnode_t &dn, const std::string_view *name, bool add, dmu_tx_hold_t &txh) const = 0;
};

} // namespace dmu
