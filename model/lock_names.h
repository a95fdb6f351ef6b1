// How reports call one lock: by the directory, the dnode block, the leaf it belongs to, instead of by a number.
#pragma once

#include <string>
#include <string_view>

namespace dmu {

// What describes a lock of that class by its address, or null: then the locks of the class are numbered. Asked only
// while the lock's owner is alive.
using describe_lock_t = std::string (*)(const void *lock);
describe_lock_t lock_description(std::string_view lock_class);

} // namespace dmu
