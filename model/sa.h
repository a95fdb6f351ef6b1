// What the system-attribute layer keeps of an objset. Zeroes where the objset has no such layer.
#pragma once

#include <cstdint>

namespace dmu {

struct sa_os_t {
    uint64_t sa_master_obj = 0;      // the ZAP that names the other two
    uint64_t sa_layout_attr_obj = 0; // the ZAP of attribute layouts
    uint64_t sa_reg_attr_obj = 0;    // the ZAP of registered attributes
};

} // namespace dmu
