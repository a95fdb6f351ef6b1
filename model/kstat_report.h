// The kstats as their readers know them: named values, and the text that /proc/spl/kstat/zfs shows.
//
// Named kstats (dbufstats, arcstats, dnodestats, dmu_tx, zfetchstats) are tables of name, type and value; dbufs and
// txgs are listings with a header. The numbers are those of the running model, the layout is that of ZFS on Linux 0.8.
// Free of charge.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dmu {

struct spa_t;
struct objset_t;
struct dmu_state_t;

using kstat_values_t = std::vector<std::pair<std::string, uint64_t>>; // in the order of the real kstat

kstat_values_t dbufstats(const dmu_state_t &dmu);
kstat_values_t arcstats(const dmu_state_t &dmu);
kstat_values_t dnodestats(const objset_t &os);
kstat_values_t zfetchstats(const dmu_state_t &dmu);

// Every name that kstat_text knows.
std::span<const std::string_view> kstat_names();
// REQUIRES: a known name.
std::string kstat_text(const spa_t &spa, std::string_view name);

} // namespace dmu
