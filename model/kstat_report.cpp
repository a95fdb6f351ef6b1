#include "model/kstat_report.h"

#include <array>
#include <cstdio>

#include "model/dbuf_report.h"
#include "model/dmu_state.h"
#include "model/dsl_pool.h"
#include "model/objset.h"
#include "model/spa.h"
#include "model/txg.h"

namespace dmu {

namespace {

constexpr std::string_view pool_name = "tank";
constexpr uint32_t kstat_data_uint64 = 4; // KSTAT_DATA_UINT64

void put(kstat_values_t &into, std::string name, uint64_t value)
{
    into.emplace_back(std::move(name), value);
}

std::string padded(std::string text, size_t width)
{
    text.resize(std::max(text.size(), width), ' ');
    return text;
}

// "name                            type data", a line a value.
std::string named_text(const kstat_values_t &values)
{
    std::string text = "name                            type data\n";
    for (const auto &[name, value] : values)
        text +=
            padded(name, 31) + " " + padded(std::to_string(kstat_data_uint64), 4) + " " + std::to_string(value) + "\n";
    return text;
}

const char *type_name(uint32_t type)
{
    switch (type) {
    case DMU_OT_NONE:
        return "-";
    case DMU_OT_DNODE:
        return "DMU dnode";
    case DMU_OT_PLAIN_FILE_CONTENTS:
        return "ZFS plain file";
    case DMU_OT_DIRECTORY_CONTENTS:
        return "ZFS directory";
    case DMU_OT_MASTER_NODE:
        return "ZFS master node";
    case DMU_OT_UNLINKED_SET:
        return "ZFS delete queue";
    case DMU_OT_ZAP_OTHER:
        return "other ZAP";
    case DMU_OT_SA:
        return "System attributes";
    case DMU_OT_UINT64_OTHER:
        return "other uint64[]";
    default:
        return "other";
    }
}

// The listing's numbers for the caches, as dbuf_stats.c prints them.
std::string dbufs_text(const spa_t &spa)
{
    char line[640];
    std::string text;
    const auto print = [&](const char *format, auto... values) {
        const int length = std::snprintf(line, sizeof line, format, values...);
        VERIFY(length >= 0 && static_cast<size_t>(length) < sizeof line);
        text += line;
    };
    print(
        "%-16s %-8s %-10s %-5s %-10s %-12s %-8s %-5s %-8s %-7s %-3s %-4s | %-9s %-8s %-12s %-6s %-6s %-6s %-6s %-6s | "
        "%-18s %-18s %-8s %-8s %-6s %-5s %-7s %-10s %s\n",
        "pool", "objset", "object", "level", "blkid", "offset", "dbsize", "meta", "state", "dbholds", "dbc", "list",
        "atype", "asize", "access", "mru", "gmru", "mfu", "gmfu", "aholds", "dtype", "btype", "data_bs", "meta_bs",
        "bsize", "lvls", "dholds", "blocks", "dsize");
    using ull = unsigned long long;
    for (const dbuf_row_t &row : dbuf_rows(*spa.spa_dmu))
        print("%-16s %-8u %-10llu %-5u %-10llu %-12llu %-8llu %-5u %-8s %-7llu %-3u %-4u | %-9s %-8llu %-12lld %-6llu "
              "%-6llu "
              "%-6llu %-6llu %-6llu | %-18s %-18s %-8llu %-8llu %-6llu %-5u %-7llu %-10llu %llu\n",
              pool_name.data(), 0u, ull{row.object}, row.level, ull{row.blkid}, ull{row.offset}, ull{row.db_size},
              row.meta ? 1u : 0u, dbuf_state_name(row.db_state), ull{row.db_holds}, row.db_dirtycnt,
              row.in_cache_list ? 1u : 0u, row.has_buffer ? arc_state_name(row.arc_state) : "-", ull{row.arc_size},
              static_cast<long long>(row.b_arc_access_ns / 1'000'000), ull{row.mru_hits}, ull{row.mru_ghost_hits},
              ull{row.mfu_hits}, ull{row.mfu_ghost_hits}, ull{row.arc_holds}, type_name(row.dtype),
              type_name(row.btype), ull{row.data_bs}, ull{row.meta_bs}, ull{row.bsize}, row.nlevels, ull{row.dn_holds},
              ull{row.blocks}, ull{row.dsize});
    return text;
}

uint64_t ns_between(hrtime_t from, hrtime_t until)
{
    return until > from ? static_cast<uint64_t>((until - from).ns()) : 0;
}

std::string txgs_text(const spa_t &spa)
{
    std::string text = "txg      birth            state ndirty       nwritten     otime        qtime        stime\n";
    char line[200];
    for (const txg_row_t &row : spa.spa_dsl_pool->dp_tx.tx_rows) {
        if (row.txg == 0)
            continue;
        using ull = unsigned long long;
        std::snprintf(line, sizeof line, "%-8llu %-16lld %-5c %-12llu %-12llu %-12llu %-12llu %llu\n", ull{row.txg},
                      static_cast<long long>(row.opened.ns()), 'C', ull{row.ndirty}, ull{row.nwritten},
                      ull{ns_between(row.opened, row.closed)}, ull{ns_between(row.closed, row.quiesced)},
                      ull{ns_between(row.sync_began, row.synced)});
        text += line;
    }
    return text;
}

kstat_values_t dmu_tx_values(const spa_t &spa)
{
    kstat_values_t values;
    for_each_kstat(spa.spa_dsl_pool->dp_tx_stats, [&](const char *name, uint64_t value) { put(values, name, value); });
    return values;
}

} // namespace

kstat_values_t dbufstats(const dmu_state_t &dmu)
{
    const dbuf_stats_t &stats = dmu.dbuf_stats;
    const dbuf_caches_t &caches = dmu.dbuf_cache;
    kstat_values_t values;
    put(values, "cache_count", stats.cache_count);
    put(values, "cache_size_bytes", stats.cache_size_bytes);
    put(values, "cache_size_bytes_max", stats.cache_size_bytes_max);
    put(values, "cache_target_bytes", caches.max_bytes);
    put(values, "cache_lowater_bytes", caches.lowater_bytes());
    put(values, "cache_hiwater_bytes", caches.hiwater_bytes());
    put(values, "cache_total_evicts", stats.cache_total_evicts);
    for (uint32_t level = 0; level < DN_MAX_LEVELS; ++level) {
        put(values, "cache_level_" + std::to_string(level), stats.cache_levels[level]);
        put(values, "cache_level_" + std::to_string(level) + "_bytes", stats.cache_levels_bytes[level]);
    }
    put(values, "hash_hits", stats.hash_hits);
    put(values, "hash_misses", stats.hash_misses);
    put(values, "hash_collisions", stats.hash_collisions);
    put(values, "hash_elements", stats.hash_elements);
    put(values, "hash_elements_max", stats.hash_elements_max);
    put(values, "hash_chains", stats.hash_chains);
    put(values, "hash_chain_max", stats.hash_chain_max);
    put(values, "hash_insert_race", stats.hash_insert_race);
    put(values, "metadata_cache_count", stats.metadata_cache_count);
    put(values, "metadata_cache_size_bytes", stats.metadata_cache_size_bytes);
    put(values, "metadata_cache_size_bytes_max", stats.metadata_cache_size_bytes_max);
    put(values, "metadata_cache_overflow", stats.metadata_cache_overflow);
    return values;
}

kstat_values_t arcstats(const dmu_state_t &dmu)
{
    const arc_t &arc = dmu.arc;
    kstat_values_t values;
    for_each_kstat(arc.stats, [&](const char *name, uint64_t value) { put(values, name, value); });
    put(values, "p", arc.arc_p);
    put(values, "c", arc.arc_c);
    put(values, "c_max", arc.arc_c_max);
    put(values, "size", arc.size());
    put(values, "arc_meta_used", arc.meta_used());
    put(values, "arc_meta_limit", arc.arc_meta_limit);
    put(values, "arc_meta_max", std::max(arc.arc_meta_max, arc.meta_used()));
    put(values, "arc_meta_min", arc_meta_min);
    uint64_t data = 0, metadata = 0;
    for (const arc_state_t state : {arc_state_t::anon, arc_state_t::mru, arc_state_t::mfu}) {
        data += arc.arcs_size[static_cast<size_t>(state)][0];
        metadata += arc.arcs_size[static_cast<size_t>(state)][1];
    }
    put(values, "data_size", data);
    put(values, "metadata_size", metadata);
    for (size_t i = 0; i < arc_state_count; ++i) {
        const auto state = static_cast<arc_state_t>(i);
        const std::string name = arc_state_name(state);
        put(values, name + "_size", arc.arcs_size[i][0] + arc.arcs_size[i][1]);
        put(values, name + "_evictable_data",
            state == arc_state_t::anon ? 0 : arc.esize(state, arc_buf_contents_t::data));
        put(values, name + "_evictable_metadata",
            state == arc_state_t::anon ? 0 : arc.esize(state, arc_buf_contents_t::metadata));
    }
    return values;
}

kstat_values_t zfetchstats(const dmu_state_t &dmu)
{
    constexpr std::string_view prefix = "zfetch_"; // the kstat's own, where all counters stand together
    kstat_values_t values;
    for_each_kstat(dmu.zfetch_stats, [&](const char *name, uint64_t value) {
        put(values, std::string(std::string_view(name).substr(prefix.size())), value);
    });
    return values;
}

kstat_values_t dnodestats(const objset_t &os)
{
    kstat_values_t values;
    for_each_kstat(os.stats, [&](const char *name, uint64_t value) { put(values, name, value); });
    return values;
}

std::span<const std::string_view> kstat_names()
{
    static constexpr std::array<std::string_view, 7> names = {"arcstats",   "dbufs", "dbufstats",  "dmu_tx",
                                                              "dnodestats", "txgs",  "zfetchstats"};
    return names;
}

std::string kstat_text(const spa_t &spa, std::string_view name)
{
    if (name == "arcstats")
        return named_text(arcstats(*spa.spa_dmu));
    if (name == "dbufs")
        return dbufs_text(spa);
    if (name == "dbufstats")
        return named_text(dbufstats(*spa.spa_dmu));
    if (name == "dmu_tx")
        return named_text(dmu_tx_values(spa));
    if (name == "dnodestats")
        return named_text(dnodestats(*spa.spa_objset));
    if (name == "zfetchstats")
        return named_text(zfetchstats(*spa.spa_dmu));
    VERIFY(name == "txgs");
    return txgs_text(spa);
}

} // namespace dmu
