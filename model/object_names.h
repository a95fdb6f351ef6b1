// How reports call the directories of an objset: by path, so that a reader knows whose lock or whose dnode block it is.
//
// The real code has no such table; it walks a file's parents when it wants a path (zfs_obj_to_path). Nothing simulated
// depends on it. Directories only: there are few, and it is they that are fought for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace dmu {

class object_names_t {
public:
    void root(uint64_t object) { paths_[object] = "/"; }
    // Has the name in its parent. In the order of simulated time.
    void named(uint64_t object, uint64_t parent, std::string_view name);
    void removed(uint64_t object);

    // "directory 7 (/d)", or "directory 7".
    std::string directory(uint64_t object) const;
    // The paths' objects among the numbers from first to last, the root left out: "directory 7 (/d) and 3 others".
    // Empty: none.
    std::string directories(uint64_t first, uint64_t last) const;
    // " (/d)", or nothing.
    std::string in_brackets(uint64_t object) const;

private:
    std::map<uint64_t, std::string> paths_;
};

} // namespace dmu
