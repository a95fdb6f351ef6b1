// Functions of the real library that have no frame here, because each call of another one calls them a fixed number of
// times.
//
// They cost nothing of their own: their instructions are in the caller's. Who compares call counts adds them from this
// table. A function whose calls depend on a state is not here but counted where it happens. All rows: OpenZFS 8bea98150
// and 2bce8049c3 (July 2016), read and checked against every recorded profile.
#pragma once

#include <cstdint>

namespace dmu {

struct companion_t {
    const char *caller; // a function, or a lock class
    const char *callee;
    int32_t times; // below 0: so many fewer than another row says
};

inline constexpr companion_t companions[] = {
    {"__dbuf_hold_impl", "__dbuf_hold_impl_init", 1},
    {"dbuf_find", "dbuf_hash", 1},
    {"dbuf_rele", "dbuf_rele_and_unlock", 1},
    {"dbuf_create", "dbuf_cons", 1},
    {"dbuf_create", "dbuf_hash_insert", 1},
    {"dbuf_create", "dbuf_hash", 1},
    {"dbuf_destroy", "dbuf_clear", 1},
    {"dbuf_destroy", "dbuf_dest", 1},
    {"dbuf_destroy", "dbuf_hash_remove", 1},
    {"dbuf_destroy", "dbuf_hash", 1},
    {"dmu_buf_set_user", "dmu_buf_replace_user", 1},
    {"dmu_buf_set_user", "dbuf_verify_user", 2},
    {"dnode_hold", "dnode_is_allocated", 1},
    {"dnode_hold_impl", "dbuf_whichblock", 1},
    {"dnode_hold_impl", "dmu_buf_get_user", 3},
    {"dnode_hold_impl", "dbuf_verify_user", 3},
    {"dnode_rele", "dnode_rele_and_unlock", 1},
    {"dnode_create", "dnode_cons", 1},
    {"dnode_create", "dmu_zfetch_init", 1},
    {"dnode_set_blksz", "dnode_setdblksz", 1},
    {"dnode_free_range", "dnode_dirty_l1", 1},
    {"dmu_object_alloc", "dmu_object_alloc_dnsize", 1},
    {"dmu_object_alloc", "dnode_is_free", 1},
    {"dmu_object_alloc", "dnode_setdblksz", 1},
    {"dmu_buf_hold_noread", "dbuf_whichblock", 1},
    {"dmu_buf_hold_noread_by_dnode", "dbuf_whichblock", 1},
    {"dmu_prefetch", "dbuf_whichblock", 3},
    {"__dmu_object_info_from_dnode", "dmu_object_info_from_dnode", 1},
    {"zap_lockdir_impl", "dmu_buf_get_user", 1},
    {"zap_lockdir_impl", "dbuf_verify_user", 1},
    {"zap_get_leaf_byblk", "dmu_buf_get_user", 1},
    {"zap_get_leaf_byblk", "dbuf_verify_user", 1},
    {"zrl_add", "zrl_remove", 1},
    {"arc_buf_add_ref", "add_reference", 1},
    {"arc_buf_add_ref", "arc_access", 1},
    {"arc_buf_add_ref", "multilist_remove", 1},
    {"arc_buf_add_ref", "multilist_sublist_remove", 1},
    {"arc_buf_add_ref", "arc_state_multilist_index_func", 1},
    {"arc_buf_add_ref", "multilist_get_num_sublists", 1},
    {"arc_buf_remove_ref", "remove_reference", 1},
    {"arc_buf_eviction_needed", "multilist_insert", 1},
    {"arc_buf_eviction_needed", "multilist_sublist_insert_head", 1},
    {"arc_buf_eviction_needed", "arc_state_multilist_index_func", 1},
    {"arc_buf_eviction_needed", "multilist_get_num_sublists", 1},
    {"arc_release", "dbuf_fix_old_data", 1},
    {"arc_buf_alloc", "arc_adapt", 1},
    {"arc_buf_alloc", "arc_available_memory", 1},
    {"arc_buf_alloc", "arc_reclaim_needed", 1},
    {"arc_buf_alloc", "arc_is_overflowing", 1},
    {"arc_buf_alloc", "arc_get_data_buf", 1},
    {"arc_buf_alloc", "arc_bufc_to_flags", 1},
    {"arc_buf_alloc", "buf_cons", 1},
    {"arc_buf_alloc", "hdr_full_cons", 1},
    {"arc_buf_alloc", "multilist_link_init", 1},
    {"arc_buf_alloc", "multilist_link_active", 1},
    {"arc_buf_alloc", "dbuf_is_metadata", 1},
    {"arc_buf_alloc", "dbuf_set_data", 1},
    {"arc_buf_destroy", "arc_buf_data_free", 1},
    {"arc_buf_destroy", "arc_buf_free", 1},
    {"arc_buf_destroy", "arc_cksum_verify", 1},
    {"arc_buf_destroy", "arc_hdr_destroy", 1},
    {"arc_buf_destroy", "buf_dest", 1},
    {"arc_buf_destroy", "hdr_full_dest", 1},
    {"arc_buf_destroy", "multilist_link_active", 1},
    {"arc_buf_destroy", "buf_hash", 1},
    {"hash_lock", "buf_hash", 2}, // found, and found again under the lock
    {"arc_clear_callback", "buf_hash", -1},
    {"arc_buf_thaw", "arc_buf_unwatch", 1},
    {"arc_buf_destroy", "arc_buf_unwatch", 1},
    {"arc_buf_destroy", "arc_space_return", 3},
    {"dbuf_destroy", "arc_space_return", 1},
    {"arc_buf_alloc", "arc_space_consume", 3},
    {"dbuf_create", "arc_space_consume", 1},
    {"dmu_object_alloc", "arc_space_consume", 1}, // the new object's bonus buffer, read on the way
    {"buf_hash_remove", "buf_discard_identity", 1},
    {"dbuf_evict", "dbuf_clear_data", 1},
    {"dbuf_evict", "dbuf_evict_user", 1},
    {"dbuf_destroy", "dbuf_evict_user", 1},
    {"arc_clear_callback", "dbuf_do_evict", 1},
    {"dmu_buf_rele", "arc_buf_freeze", 1}, // by whoever has it last
    {"dmu_tx_check_ioerr", "arc_buf_freeze", 1},
    {"dnode_next_offset", "dbuf_whichblock", 1},
};

} // namespace dmu
