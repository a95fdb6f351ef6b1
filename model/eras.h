// The real code bases that can be simulated: one table, one row each, with everything in which they differ.
//
// A scenario names an era and may set each choice alone afterwards. What a scenario cannot set (because no one would
// want the pieces apart) is named here too, as an entry of a table in model/variants/variants.cpp.
#pragma once

#include <span>
#include <string_view>

#include "model/config.h"

namespace dmu {

struct era_t {
    const char *name;
    const char *commit; // of the code followed
    const char *what;   // a sentence

    // The choices a scenario sees, under the names of code_config and dataset_config.
    const char *object_alloc;
    uint64_t rescan_threshold; // 1 << DN_MAX_INDBLKSHIFT of the code base
    const char *tx_hold_zap;
    const char *dbuf_hold;
    bool arc_buf_access;
    bool walk_earlier_slots;
    bool rw_upgrade_can_succeed;
    bool zap_shrink;
    bool dbuf_cache;
    uint32_t meta_indirect_shift;
    uint32_t indirect_shift;
    uint32_t dbuf_mutexes;

    // What comes with the code base.
    bool slots_by_handle;         // dnode_hold_impl judges a slot by its handle: model/variants/dnode_slots.h
    const char *next_offset;      // how the tree is searched: model/variants/next_offset.h
    const char *per_cpu_cursor;   // how a thread takes a number from its CPU's cursor: model/variants/object_alloc.h
    bool new_object_by_dnode;     // dmu_tx_add_new_object is given the dnode, not the number
    bool read_enters_struct_lock; // dbuf_read takes dn_struct_rwlock even for a cached buffer
    bool read_consults_prefetch;  // reads of dnode blocks pass the meta-dnode's prefetcher lock
    bool cursor_is_next;    // os_obj_next is the next number to try, not the last one tried (since dnodes have slots)
    bool parent_beyond_end; // dbuf_findbp finds parents of blocks beyond the object's end on disk
    const char *dbuf_evict_notify;  // code_config::dbuf_evict_notify
    uint32_t arc_buf_locks;         // hash locks of the ARC
    const char *user_accounting;    // code_config::user_accounting
    const char *zfetch;             // code_config::zfetch
    const char *arc_meta_strategy;  // code_config::arc_meta_strategy
    bool read_by_dnode;             // dmu_read reads through dmu_read_impl, by dnode (since 2017)
    bool freed_dnodes_listed_apart; // os_free_dnodes beside os_dirty_dnodes (until 2016)
};

std::span<const era_t> eras();
// Null when there is none of that name.
const era_t *find_era(std::string_view name);

// The era's values in every field it decides. REQUIRES: config.code.era is a known name.
void apply_era(model_config &config);
// Dnodes of more than one slot are simulated where slots are judged by their handles.
bool knows_large_dnodes(const code_config &code);
// A configuration of that era, everything else at its default.
model_config era_config(std::string_view name);

} // namespace dmu
