#include "model/eras.h"

#include <array>

#include "sim/verify.h"

namespace dmu {

namespace {

constexpr era_t illumos_2016 = {
    .name = "illumos-2016",
    .commit = "81285582b9",
    .what = "the machine of the public reports: illumos of 2016, 256 dbuf hash mutexes, plain recursion",
    .object_alloc = "legacy",
    .rescan_threshold = 1u << 14,
    .tx_hold_zap = "by-object",
    .dbuf_hold = "stack-frame",
    .arc_buf_access = false,
    .walk_earlier_slots = false,
    .rw_upgrade_can_succeed = true,
    .zap_shrink = false,
    .dbuf_cache = false,
    .meta_indirect_shift = 14,
    .indirect_shift = 14,
    .dbuf_mutexes = 256,
    .slots_by_handle = false,
    .next_offset = "narrowing",
    .per_cpu_cursor = "swap",
    .new_object_by_dnode = false,
    .read_enters_struct_lock = true,
    .read_consults_prefetch = true,
    .cursor_is_next = false,
    .parent_beyond_end = false,
    .dbuf_evict_notify = "locked",
    .arc_buf_locks = 256,
    .user_accounting = "per-dnode",
    .zfetch = "rwlock",
    .arc_meta_strategy = "meta-only",
    .read_by_dnode = false,
    .freed_dnodes_listed_apart = true,
};

constexpr era_t zol_2016_05 = [] {
    era_t era = illumos_2016;
    era.name = "zol-2016-05";
    era.commit = "81285582b9";
    era.what = "ZFS on Linux in user space, May 2016: the last code that rescans at every boundary";
    era.dbuf_hold = "heap-array";
    era.rw_upgrade_can_succeed = false;
    era.dbuf_mutexes = 8192;
    era.arc_buf_locks = 8192;
    era.arc_meta_strategy = "balanced";
    return era;
}();

constexpr era_t zol_2016_05_rescan = [] {
    era_t era = zol_2016_05;
    era.name = "zol-2016-05-rescan";
    era.commit = "68cbd56e18";
    era.what = "the commit after it: a rescan once a txg, after enough frees";
    era.object_alloc = "rescan";
    return era;
}();

constexpr era_t zol_2016_08 = [] {
    era_t era = zol_2016_05_rescan;
    era.name = "zol-2016-08";
    era.commit = "8bea98150";
    era.what =
        "ZFS on Linux in user space, July 2016: dnodes may take several slots, so holds look at the earlier ones";
    era.walk_earlier_slots = true;
    era.cursor_is_next = true;
    era.parent_beyond_end = true;
    return era;
}();

constexpr era_t zol_2017 = [] {
    era_t era = zol_2016_08;
    era.name = "zol-2017";
    era.commit = "dbeb879699";
    era.what = "ZFS on Linux in user space, June 2017: a cursor per CPU, 128 KiB indirect blocks, a dbuf cache";
    era.object_alloc = "per-cpu";
    era.rescan_threshold = 1u << 17;
    era.tx_hold_zap = "by-dnode";
    era.meta_indirect_shift = 17;
    era.indirect_shift = 17;
    era.dbuf_cache = true;
    era.next_offset = "narrowing-aligned";
    era.new_object_by_dnode = true;
    era.parent_beyond_end = true;
    era.freed_dnodes_listed_apart = false;
    era.user_accounting = "aggregated"; // 9b7a83cbb6, October 2016
    era.read_by_dnode = true;
    return era;
}();

constexpr era_t zol_2019 = [] {
    era_t era = zol_2017;
    era.name = "zol-2019";
    era.commit = "64b6c47d90";
    era.what = "ZFS on Linux in user space, October 2019: slots judged by their handles, ARC touched on every hold";
    era.tx_hold_zap = "lookup-only";
    era.dbuf_hold = "stack-frame";
    era.arc_buf_access = true;
    era.walk_earlier_slots = false;
    era.slots_by_handle = true;
    era.per_cpu_cursor = "add";
    era.read_enters_struct_lock = false;
    era.dbuf_evict_notify = "unlocked";
    era.zfetch = "mutex";
    return era;
}();

constexpr era_t head = [] {
    era_t era = zol_2019;
    era.name = "head";
    era.commit = "be7657e3f2";
    era.what = "OpenZFS in user space, August 2026: a search that climbs again, ZAPs that shrink";
    era.zap_shrink = true;
    era.next_offset = "climbing";
    era.read_consults_prefetch = false;
    return era;
}();

constexpr std::array table = {illumos_2016, zol_2016_05, zol_2016_05_rescan, zol_2016_08, zol_2017, zol_2019, head};

} // namespace

std::span<const era_t> eras()
{
    return table;
}

const era_t *find_era(std::string_view name)
{
    for (const era_t &era : table)
        if (name == era.name)
            return &era;
    return nullptr;
}

void apply_era(model_config &config)
{
    const era_t *era = find_era(config.code.era);
    VERIFY(era != nullptr);

    config.code.object_alloc = era->object_alloc;
    config.code.rescan_threshold = era->rescan_threshold;
    config.code.tx_hold_zap = era->tx_hold_zap;
    config.code.dbuf_hold = era->dbuf_hold;
    config.code.arc_buf_access = era->arc_buf_access;
    config.code.walk_earlier_slots = era->walk_earlier_slots;
    config.code.rw_upgrade_can_succeed = era->rw_upgrade_can_succeed;
    config.code.read_consults_prefetch = era->read_consults_prefetch;
    config.code.zap_shrink = era->zap_shrink;
    config.code.dbuf_cache = era->dbuf_cache;
    config.code.dbuf_evict_notify = era->dbuf_evict_notify;
    config.code.user_accounting = era->user_accounting;
    config.code.zfetch = era->zfetch;
    config.code.arc_meta_strategy = era->arc_meta_strategy;
    config.dataset.meta_indirect_shift = era->meta_indirect_shift;
    config.dataset.indirect_shift = era->indirect_shift;
    config.dataset.dbuf_mutexes = era->dbuf_mutexes;
}

bool knows_large_dnodes(const code_config &code)
{
    const era_t *era = find_era(code.era);
    return era != nullptr && era->slots_by_handle && !code.walk_earlier_slots;
}

model_config era_config(std::string_view name)
{
    model_config config;
    config.code.era = name;
    apply_era(config);
    return config;
}

} // namespace dmu
