// What the ARC evicts when metadata are above their limit (zfs_arc_meta_strategy).
#pragma once

#include <cstdint>

namespace dmu {

enum class arc_meta_strategy_t : uint8_t { META_ONLY, BALANCED };

} // namespace dmu
