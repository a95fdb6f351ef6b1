// Functions of the real library that have no frame here, because each call of another one calls them a fixed number of
// times.
//
// They cost nothing of their own: their instructions are in the caller's. Who compares call counts adds them from this
// table. A function whose calls depend on a state is not here but counted where it happens. Rows: OpenZFS 8bea98150 and
// 2bce8049c3 (July 2016), 73cdcc632 and 64b6c47d90 (October 2019), read and checked against every recorded profile.
#pragma once

#include <cstdint>

namespace dmu {

// The code bases in which a row holds: all, or those before or since dnode_hold_impl judges a slot by its handle
// (2019).
enum class companion_code_t : uint8_t { any, before_2019, since_2019 };

struct companion_t {
    const char *caller; // a function, or a lock class
    const char *callee;
    int32_t times; // below 0: so many fewer than another row says
    companion_code_t code = companion_code_t::any;
};

inline constexpr companion_code_t before_2019 = companion_code_t::before_2019;
inline constexpr companion_code_t since_2019 = companion_code_t::since_2019;

inline constexpr companion_t companions[] = {
    {"__dbuf_hold_impl", "__dbuf_hold_impl_init", 1},
    {"dbuf_find", "dbuf_hash", 1},
    {"dbuf_rele", "dbuf_rele_and_unlock", 1, before_2019},
    {"dbuf_create", "dbuf_cons", 1},
    {"dbuf_create", "dbuf_hash_insert", 1},
    {"dbuf_create", "dbuf_hash", 1},
    {"dbuf_destroy", "dbuf_clear", 1},
    {"dbuf_destroy", "dbuf_dest", 1},
    {"dbuf_destroy", "dbuf_hash_remove", 1},
    {"dbuf_destroy", "dbuf_hash", 1},
    {"dmu_buf_set_user", "dmu_buf_replace_user", 1},
    {"dmu_buf_set_user", "dbuf_verify_user", 2},
    {"dnode_hold", "dnode_is_allocated", 1, before_2019},
    {"dnode_hold_impl", "dbuf_whichblock", 1},
    {"dnode_hold_impl", "dmu_buf_get_user", 3, before_2019},
    {"dnode_hold_impl", "dbuf_verify_user", 3, before_2019},
    {"dnode_hold_impl", "dmu_buf_get_user", 1, since_2019},
    {"dnode_hold_impl", "dbuf_verify_user", 1, since_2019},
    {"dnode_hold_impl", "dnode_slots_hold", 1, since_2019}, // of an allocated dnode
    {"dnode_hold_impl", "dnode_slots_rele", 1, since_2019},
    {"dnode_hold_impl", "zrl_is_locked", 1, since_2019},
    {"dbuf_hold_impl_arg", "dbuf_hold_arg_create", 1},
    {"dbuf_hold_impl_arg", "dbuf_hold_arg_destroy", 1},
    {"dbuf_read", "dbuf_read_verify_dnode_crypt", 1, since_2019},
    {"arc_get_compression", "arc_is_encrypted", 1},
    {"arc_get_compression", "arc_is_unauthenticated", 1},
    {"dmu_buf_hold_array_by_dnode", "dbuf_whichblock", 1},
    {"dbuf_cache_target_bytes", "arc_target_bytes", 2},
    {"dbuf_cache_multilist_index_func", "dbuf_hash", 1},
    {"arc_state_multilist_index_func", "buf_hash", 1},
    {"multilist_insert", "multilist_sublist_insert_head", 1},
    {"multilist_insert", "multilist_get_num_sublists", 1},
    {"multilist_remove", "multilist_sublist_remove", 1},
    {"multilist_remove", "multilist_get_num_sublists", 1},
    {"arc_change_state", "arc_buf_type", 1, since_2019},
    {"arc_change_state", "arc_buf_is_shared", 2, since_2019},
    {"arc_change_state", "arc_buf_size", 2, since_2019},
    {"arc_change_state", "arc_hdr_size", 2, since_2019},
    {"arc_change_state", "arc_hdr_get_compress", 2, since_2019},
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
    {"zrl_add", "zrl_add_impl", 1, since_2019},
    {"arc_buf_add_ref", "add_reference", 1},
    {"arc_buf_remove_ref", "remove_reference", 1},
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
    {"hash_lock", "buf_hash", 1},
    {"buf_hash_remove", "buf_hash", 1},
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
    {"dmu_buf_rele", "arc_buf_freeze", 1, before_2019}, // by whoever has it last
    {"dmu_tx_check_ioerr", "arc_buf_freeze", 1},
    {"dnode_next_offset", "dbuf_whichblock", 1},
};

} // namespace dmu
