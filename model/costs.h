// What a function's own body costs, in instructions of the real library, and where each number comes from.
//
// Self instructions, as callgrind counted them: what a function calls is counted there, and what locks, atomics and the
// allocator cost is charged by those primitives (model/spl.h), never here. Time is instructions times the profile's
// instruction_ns. "recorded": measured for this function (tests/data/costs.json says where; a test holds this table to
// it). "assumed": no recording has it; the number is its length in steps, judged beside recorded functions, and a step
// costs the profile's unrecorded_step_instructions. Reports print the share of time that rests on such numbers.
// frame_bytes: the function's frame on the kernel stack, its return address included. S10: published by 64b6c47d90 for
// Linux 4.15. Else gcc 12.2 -O2 -fstack-usage, with the kernel's own flags, of that commit's user-space library; 112,
// their median, for the functions of the file system, which it lacks, and of user accounting; 0 for what is inlined
// there.
//
// Sources: A  user-space library of 81285582b9 (2016-05), allocation fast path, 4,000 allocations
//          B  the same, difference of two runs with 12,288 visits of taken objects
//          C  user-space library of 8bea98150 (2016-07), single operations
//          D  user-space library of 2bce8049c3 (2016-07)
//          E  user-space library of 64b6c47d90 (2019-10)
#pragma once

#include <cstdint>
#include <iterator>

namespace dmu {

// X(enumerator, "OpenZFS name", instructions (recorded) or steps (assumed), basis, frame_bytes, source)

// ---- dbuf, dnode, objset, ARC ----
#define COSTS_DMU(X)                                                                                                   \
    X(dmu_object_alloc, "dmu_object_alloc", 72, recorded, 48, "A; 32 of them again each visit, as dmu_object_next")    \
    X(dmu_object_claim, "dmu_object_claim", 2, assumed, 32, "dmu_object_alloc without its loop")                       \
    X(dmu_object_free, "dmu_object_free", 2, assumed, 48, "by its length")                                             \
    X(taskq_dispatch, "taskq_dispatch", 5, assumed, 0, "by its length")                                                \
    X(dmu_object_update, "dmu_object_update", 5, assumed, 0, "by its length")                                          \
    X(dmu_object_next, "dmu_object_next", 32, recorded, 144, "B: the loop of dmu_object_alloc, this included")         \
    X(dmu_object_info_from_dnode, "__dmu_object_info_from_dnode", 81, recorded, 32, "C")                               \
    X(dnode_hold_impl, "dnode_hold_impl", 106, recorded, 160, "B; 125 in A")                                           \
    X(dnode_hold_impl_by_handle, "dnode_hold_impl", 137, recorded, 160, "E")                                           \
    X(dnode_is_consumed, "dnode_is_consumed", 28, recorded, 0, "C: without the walk")                                  \
    X(dnode_is_consumed_slot, "dnode_is_consumed (a slot)", 21, recorded, 0, "C: difference between slots")            \
    X(dnode_hold, "dnode_hold", 5, recorded, 8, "C")                                                                   \
    X(dnode_rele, "dnode_rele", 28, recorded, 48, "C")                                                                 \
    X(dnode_add_ref, "dnode_add_ref", 20, recorded, 32, "C")                                                           \
    X(dnode_create, "dnode_create", 272, recorded, 112,                                                                \
      "A: 107; C: with dnode_cons and the mutex_init of a new dnode")                                                  \
    X(dnode_destroy, "dnode_destroy", 4, assumed, 64, "dnode_create backwards")                                        \
    X(dnode_allocate, "dnode_allocate", 109, recorded, 80, "A")                                                        \
    X(dnode_setdirty, "dnode_setdirty", 60, recorded, 64, "A")                                                         \
    X(dnode_free, "dnode_free", 2, assumed, 48, "by its length")                                                       \
    X(dnode_free_range, "dnode_free_range", 6, assumed, 144, "by its length")                                          \
    X(dnode_block_freed, "dnode_block_freed", 2, assumed, 64, "by its length")                                         \
    X(dnode_new_blkid, "dnode_new_blkid", 2, assumed, 48, "by its length")                                             \
    X(dnode_set_blksz, "dnode_set_blksz", 14, recorded, 112, "C")                                                      \
    X(dnode_next_offset, "dnode_next_offset", 76, recorded, 96, "B")                                                   \
    X(dnode_next_offset_level, "dnode_next_offset_level", 127, recorded, 144, "B, at level 0")                         \
    X(dnode_sync, "dnode_sync", 8, assumed, 176, "by its length")                                                      \
    X(dnode_sync_free, "dnode_sync_free", 4, assumed, 0, "by its length")                                              \
    X(dnode_sync_free_range, "dnode_sync_free_range", 3, assumed, 160, "by its length")                                \
    X(free_children, "free_children", 5, assumed, 128, "by its length")                                                \
    X(dnode_increase_indirection, "dnode_increase_indirection", 8, assumed, 0, "by its length")                        \
    X(dnode_evict_dbufs, "dnode_evict_dbufs", 3, assumed, 80, "by its length")                                         \
    X(dnode_buf_evict_async, "dnode_buf_evict_async", 10, assumed, 48, "by its length")                                \
    X(dbuf_hold, "dbuf_hold", 18, recorded, 16, "C")                                                                   \
    X(dbuf_hold_level, "dbuf_hold_level", 17, recorded, 48, "C")                                                       \
    X(dbuf_hold_level_frame, "dbuf_hold_level", 0, recorded, 32, "E: in dbuf_hold; frame: S10")                        \
    X(dbuf_hold_impl, "dbuf_hold_impl", 45, recorded, 80, "A; frame: S10")                                             \
    X(dbuf_hold_impl_entry, "dbuf_hold_impl", 31, recorded, 32,                                                        \
      "E: 4 + 45 of dbuf_hold and dbuf_hold_level, in which it is inlined, less 18; frame: S10")                       \
    X(dbuf_hold_impl_frame, "__dbuf_hold_impl", 58, recorded, 64, "B; frame: S10")                                     \
    X(dbuf_hold_impl_recursive, "dbuf_hold_impl", 58, recorded, 96, "E; frame: S10")                                   \
    X(dbuf_hold_impl_arg, "dbuf_hold_impl_arg", 60, recorded, 56, "E; frame: S10")                                     \
    X(dbuf_hold_found_in_cache, "dbuf_hold_impl (out of the cache)", 35, recorded, 0, "E: 98 less 63")                 \
    X(dbuf_findbp, "dbuf_findbp", 2, assumed, 0, "inlined in every recording")                                         \
    X(dbuf_find, "dbuf_find", 57, recorded, 80, "A, B")                                                                \
    X(dbuf_find_city, "dbuf_find", 108, recorded, 80, "E: with cityhash4, 56")                                         \
    X(dbuf_find_passed, "dbuf_find (another dbuf in the chain)", 1, assumed, 0, "by its length")                       \
    X(dbuf_create, "dbuf_create", 8, assumed, 176, "by its length")                                                    \
    X(dbuf_destroy, "dbuf_destroy", 5, assumed, 80, "by its length")                                                   \
    X(dbuf_read, "dbuf_read", 64, recorded, 120, "B")                                                                  \
    X(dbuf_read_unlocked, "dbuf_read", 98, recorded, 120, "E: with dbuf_read_verify_dnode_crypt, 18")                  \
    X(dbuf_read_impl, "dbuf_read_impl", 4, assumed, 264, "by its length")                                              \
    X(dbuf_rele, "dbuf_rele", 13, recorded, 32, "C")                                                                   \
    X(dbuf_rele_and_unlock, "dbuf_rele_and_unlock", 29, recorded, 192, "C")                                            \
    X(dbuf_rele_into_cache, "dbuf_rele_and_unlock (into the cache)", 92, recorded, 0, "E: 121 less 29")                \
    X(multilist_insert, "multilist_insert", 84, recorded, 48, "E: with the index function and the list step")          \
    X(multilist_remove, "multilist_remove", 85, recorded, 48, "E: the same")                                           \
    X(multilist_link_active, "multilist_link_active", 0, recorded, 8, "in dbuf_hold_impl and dbuf_rele_and_unlock")    \
    X(dbuf_cache_multilist_index_func, "dbuf_cache_multilist_index_func", 0, recorded, 32,                             \
      "in multilist_insert and multilist_remove")                                                                      \
    X(arc_state_multilist_index_func, "arc_state_multilist_index_func", 0, recorded, 32,                               \
      "in arc_buf_add_ref and arc_buf_remove_ref")                                                                     \
    X(dbuf_include_in_metadata_cache, "dbuf_include_in_metadata_cache", 0, recorded, 0, "in dbuf_rele_and_unlock")     \
    X(dbuf_evict_notify, "dbuf_evict_notify", 0, recorded, 0, "in dbuf_rele_and_unlock")                               \
    X(dbuf_cache_target_bytes, "dbuf_cache_target_bytes", 0, recorded, 0, "in dbuf_rele_and_unlock")                   \
    X(arc_buf_freeze, "arc_buf_freeze", 0, recorded, 8, "in dbuf_rele_and_unlock")                                     \
    X(arc_get_compression, "arc_get_compression", 0, recorded, 32, "in dbuf_read")                                     \
    X(dbuf_dirty, "dbuf_dirty", 59, recorded, 160, "C: an already dirty buffer")                                       \
    X(dbuf_dirty_record, "dbuf_dirty (a new record)", 8, assumed, 0, "by its length")                                  \
    X(dbuf_undirty, "dbuf_undirty", 3, assumed, 0, "by its length")                                                    \
    X(dbuf_redirty, "dbuf_redirty", 14, recorded, 32, "C")                                                             \
    X(dbuf_new_size, "dbuf_new_size", 12, recorded, 96, "C")                                                           \
    X(dbuf_free_range, "dbuf_free_range", 3, assumed, 160, "by its length")                                            \
    X(dmu_buf_will_dirty, "dmu_buf_will_dirty", 24, recorded, 8, "C")                                                  \
    X(dmu_buf_will_fill, "dmu_buf_will_fill", 2, assumed, 32, "by its length")                                         \
    X(dmu_bonus_hold, "dmu_bonus_hold", 2, assumed, 80, "by its length")                                               \
    X(dbuf_prefetch, "dbuf_prefetch", 3, assumed, 336, "by its length")                                                \
    X(dbuf_issue_final_prefetch, "dbuf_issue_final_prefetch", 2, assumed, 64, "by its length")                         \
    X(dbuf_prefetch_indirect_done, "dbuf_prefetch_indirect_done", 4, assumed, 112, "by its length")                    \
    X(arc_read_done, "arc_read_done", 8, assumed, 128, "by its length")                                                \
    X(dmu_zfetch, "dmu_zfetch", 21, recorded, 128, "C: block 0")                                                       \
    X(dmu_zfetch_stream, "dmu_zfetch (a stream)", 112, recorded, 0, "E: 143 less 31 of a first block")                 \
    X(dmu_zfetch_stream_create, "dmu_zfetch_stream_create", 2, assumed, 0, "by its length")                            \
    X(dbuf_sync_indirect, "dbuf_sync_indirect", 3, assumed, 64, "by its length")                                       \
    X(dbuf_sync_leaf, "dbuf_sync_leaf", 4, assumed, 256, "by its length")                                              \
    X(dbuf_write, "dbuf_write", 8, assumed, 320, "by its length")                                                      \
    X(dbuf_write_ready, "dbuf_write_ready", 15, assumed, 80, "counts 32 dnodes or 128 pointers")                       \
    X(dbuf_write_done, "dbuf_write_done", 4, assumed, 80, "by its length")                                             \
    X(dbuf_evict_one, "dbuf_evict_one", 3, assumed, 32, "by its length")                                               \
    X(dmu_objset_sync, "dmu_objset_sync", 15, assumed, 288, "by its length")                                           \
    X(dmu_objset_userquota_get_ids, "dmu_objset_userquota_get_ids", 2, assumed, 112, "by its length")                  \
    X(dmu_objset_do_userquota_updates, "dmu_objset_do_userquota_updates", 3, assumed, 112, "by its length")            \
    X(dmu_objset_do_userquota_updates_dnode, "dmu_objset_do_userquota_updates (a dnode)", 3, assumed, 0,               \
      "by its length")                                                                                                 \
    X(do_userquota_update, "do_userquota_update", 1, assumed, 0, "by its length")                                      \
    X(userquota_update_cache, "userquota_update_cache", 4, assumed, 112,                                               \
      "an owner's name made and found: as zap_increment_int, and a walk down a tree")                                  \
    X(do_userquota_cacheflush, "do_userquota_cacheflush", 2, assumed, 112, "by its length")                            \
    X(dmu_objset_evict_dbufs, "dmu_objset_evict_dbufs", 2, assumed, 80, "by its length")                               \
    X(arc_buf_alloc, "arc_buf_alloc", 3, assumed, 64, "12 in C without the buffer")                                    \
    X(arc_read, "arc_read", 15, assumed, 240, "by its length")                                                         \
    X(arc_release, "arc_release", 87, recorded, 160, "C")                                                              \
    X(arc_released, "arc_released", 11, recorded, 48, "C: two calls a release")                                        \
    X(arc_write_done, "arc_write_done", 5, assumed, 96, "by its length")                                               \
    X(arc_buf_add_ref, "arc_buf_add_ref", 263, recorded, 0, "C: 193, with add_reference and arc_access")               \
    X(arc_buf_remove_ref, "arc_buf_remove_ref", 225, recorded, 0, "C: 192, with remove_reference")                     \
    X(arc_buf_eviction_needed, "arc_buf_eviction_needed", 25, recorded, 0, "C")                                        \
    X(arc_buf_access, "arc_buf_access", 51, recorded, 48, "E")                                                         \
    X(arc_access, "arc_access", 34, recorded, 0, "E")                                                                  \
    X(arc_change_state, "arc_change_state", 0, recorded, 0, "in arc_access")                                           \
    X(arc_released_2019, "arc_released", 22, recorded, 48, "E")                                                        \
    X(arc_alloc_buf, "arc_alloc_buf", 3, assumed, 64, "as arc_buf_alloc; frame: S10")                                  \
    X(arc_adjust, "arc_adjust", 10, assumed, 0, "by its length")                                                       \
    X(arc_adjust_meta, "arc_adjust_meta", 4, assumed, 0, "by its length")                                              \
    X(arc_evict_state, "arc_evict_state", 5, assumed, 224, "by its length")                                            \
    X(arc_evict_hdr, "arc_evict_hdr", 4, assumed, 0, "by its length")                                                  \
    X(dmu_read, "dmu_read", 31, recorded, 96, "E")                                                                     \
    X(dmu_read_impl, "dmu_read_impl", 58, recorded, 160, "E")                                                          \
    X(dmu_read_block, "dmu_read_impl (a block)", 28, recorded, 0, "E: difference of reads of 1, 16 and 128 blocks")    \
    X(dmu_buf_hold_array_block, "dmu_buf_hold_array_by_dnode (a block)", 35, recorded, 0, "E: the same")               \
    X(dmu_buf_rele_array, "dmu_buf_rele_array", 1, assumed, 48, "by its length")                                       \
    X(zio_root, "zio_root", 21, recorded, 112, "E")                                                                    \
    X(zio_create, "zio_create", 264, recorded, 144, "E")                                                               \
    X(zio_wait, "zio_wait", 152, recorded, 96, "E")                                                                    \
    X(zio_nowait, "zio_nowait", 3, assumed, 32, "by its length")                                                       \
    X(zio_done, "zio_done", 235, recorded, 112, "E: with zio_ready, 82, and zio_destroy, 20")                          \
    X(kmem_alloc, "kmem_alloc", 0, recorded, 0, "the machine's allocate_ns")                                           \
    X(spl_cache_refill, "spl_cache_refill", 2, assumed, 0, "by its length")                                            \
    X(spl_cache_flush, "spl_cache_flush", 2, assumed, 0, "by its length")                                              \
    X(arc_buf_destroy, "arc_buf_destroy", 4, assumed, 48, "by its length")

// ---- transactions, txgs, pool, disk ----
#define COSTS_TX(X)                                                                                                    \
    X(dmu_tx_create, "dmu_tx_create", 17, recorded, 32, "C")                                                           \
    X(dmu_tx_create_dd, "dmu_tx_create_dd", 66, recorded, 48, "C: with list_create and gethrtime")                     \
    X(dmu_tx_is_syncing, "dmu_tx_is_syncing", 0, recorded, 8, "in its callers, inlined in every recording")            \
    X(dmu_tx_hold_object_impl, "dmu_tx_hold_object_impl", 48, recorded, 64,                                            \
      "C: mean of the three of a create; 30 without a dnode, 39 with, 51 claimed")                                     \
    X(dmu_tx_hold_dnode_impl, "dmu_tx_hold_dnode_impl", 2, assumed, 80, "dmu_tx_hold_object_impl without the look-up") \
    X(dmu_tx_count_dnode, "dmu_tx_count_dnode", 20, recorded, 0, "C: a new object")                                    \
    X(dmu_tx_count_write, "dmu_tx_count_write", 8, assumed, 80, "by its length")                                       \
    X(dmu_tx_count_free, "dmu_tx_count_free", 8, assumed, 0, "by its length")                                          \
    X(dmu_tx_check_ioerr, "dmu_tx_check_ioerr", 1, assumed, 64, "by its length")                                       \
    X(dmu_tx_hold_bonus, "dmu_tx_hold_bonus", 9, recorded, 16, "C")                                                    \
    X(dmu_tx_hold_write, "dmu_tx_hold_write", 1, assumed, 48, "dmu_tx_hold_bonus and its checks")                      \
    X(dmu_tx_hold_free, "dmu_tx_hold_free", 4, assumed, 32, "by its length")                                           \
    X(dmu_tx_hold_zap, "dmu_tx_hold_zap", 70, recorded, 32, "C")                                                       \
    X(dmu_tx_hold_sa_create, "dmu_tx_hold_sa_create", 1, assumed, 48, "by its length")                                 \
    X(dmu_tx_hold_sa, "dmu_tx_hold_sa", 1, assumed, 80, "by its length")                                               \
    X(dmu_tx_add_new_object, "dmu_tx_add_new_object", 4, recorded, 8, "C")                                             \
    X(dmu_tx_assign, "dmu_tx_assign", 10, recorded, 96, "C: its share of 154, in which dmu_tx_try_assign is inlined")  \
    X(dmu_tx_try_assign, "dmu_tx_try_assign", 179, recorded, 0, "C: the rest, with the list steps and spa_get_asize")  \
    X(dmu_tx_unassign, "dmu_tx_unassign", 2, assumed, 0, "by its length")                                              \
    X(dmu_tx_wait, "dmu_tx_wait", 2, assumed, 112, "by its length")                                                    \
    X(dmu_tx_delay, "dmu_tx_delay", 3, assumed, 0, "by its length")                                                    \
    X(dmu_tx_commit, "dmu_tx_commit", 160, recorded, 48, "C: with the list steps of two holds")                        \
    X(dmu_tx_abort, "dmu_tx_abort", 37, recorded, 48, "C: without holds")                                              \
    X(dmu_tx_pool, "dmu_tx_pool", 0, recorded, 8, "in its callers, inlined in every recording")                        \
    X(dmu_tx_willuse_space, "dmu_tx_willuse_space", 0, recorded, 0, "empty outside debugging builds")                  \
    X(dnode_willuse_space, "dnode_willuse_space", 1, assumed, 0, "by its length")                                      \
    X(dsl_dir_willuse_space, "dsl_dir_willuse_space", 2, assumed, 48, "by its length")                                 \
    X(dsl_dir_dirty, "dsl_dir_dirty", 1, assumed, 32, "as dsl_dataset_dirty")                                          \
    X(dsl_dir_space_towrite, "dsl_dir_space_towrite", 16, recorded, 0,                                                 \
      "C: its share of dsl_dir_tempreserve_impl, in which it is inlined")                                              \
    X(dsl_dir_tempreserve_space, "dsl_dir_tempreserve_space", 84, recorded, 144, "C: with the list steps")             \
    X(dsl_dir_tempreserve_impl, "dsl_dir_tempreserve_impl", 101, recorded, 0, "C: without what is inlined")            \
    X(dsl_dir_tempreserve_clear, "dsl_dir_tempreserve_clear", 136, recorded, 48, "C: with the list steps")             \
    X(parent_delta, "parent_delta", 6, recorded, 0,                                                                    \
      "C: its share of dsl_dir_tempreserve_impl, in which it is inlined")                                              \
    X(arc_tempreserve_space, "arc_tempreserve_space", 24, recorded, 48, "C")                                           \
    X(arc_tempreserve_clear, "arc_tempreserve_clear", 4, recorded, 8, "C")                                             \
    X(arc_memory_throttle, "arc_memory_throttle", 0, recorded, 0, "in its callers, inlined in every recording")        \
    X(dsl_pool_adjustedsize, "dsl_pool_adjustedsize", 29, recorded, 48, "C: with spa_get_slop_space")                  \
    X(dsl_pool_need_dirty_delay, "dsl_pool_need_dirty_delay", 30, recorded, 64, "C")                                   \
    X(dsl_pool_dirty_space, "dsl_pool_dirty_space", 1, assumed, 48, "by its length")                                   \
    X(dsl_pool_undirty_space, "dsl_pool_undirty_space", 1, assumed, 48, "by its length")                               \
    X(dsl_pool_dirty_delta, "dsl_pool_dirty_delta", 1, assumed, 0, "by its length")                                    \
    X(dsl_pool_sync, "dsl_pool_sync", 15, assumed, 144, "once a txg")                                                  \
    X(dsl_dataset_check_quota, "dsl_dataset_check_quota", 41, recorded, 80, "C")                                       \
    X(dsl_dataset_dirty, "dsl_dataset_dirty", 24, recorded, 48, "C")                                                   \
    X(dsl_dataset_prev_snap_txg, "dsl_dataset_prev_snap_txg", 26, recorded, 0, "C: with spa_last_synced_txg")          \
    X(dsl_dataset_block_freeable, "dsl_dataset_block_freeable", 1, assumed, 0, "by its length")                        \
    X(dsl_dataset_get_spa, "dsl_dataset_get_spa", 0, recorded, 8, "in its callers, inlined")                           \
    X(bp_get_dsize, "bp_get_dsize", 2, assumed, 80, "by its length")                                                   \
    X(txg_hold_open, "txg_hold_open", 35, recorded, 48, "C")                                                           \
    X(txg_rele_to_quiesce, "txg_rele_to_quiesce", 2, recorded, 8, "C")                                                 \
    X(txg_rele_to_sync, "txg_rele_to_sync", 30, recorded, 48, "C")                                                     \
    X(txg_list_add, "txg_list_add", 23, recorded, 48, "C")                                                             \
    X(txg_wait_synced, "txg_wait_synced", 2, assumed, 64, "by its length")                                             \
    X(txg_wait_open, "txg_wait_open", 2, assumed, 80, "by its length")                                                 \
    X(txg_kick, "txg_kick", 2, assumed, 32, "by its length")                                                           \
    X(txg_delay, "txg_delay", 2, assumed, 112, "by its length")                                                        \
    X(txg_quiesce, "txg_quiesce", 10, assumed, 0, "once a txg")                                                        \
    X(spa_sync, "spa_sync", 100, assumed, 208, "once a txg")

// ---- ZAP, ZPL ----
#define COSTS_ZAP(X)                                                                                                   \
    X(dmu_buf_hold, "dmu_buf_hold", 28, recorded, 64, "C")                                                             \
    X(dmu_buf_hold_noread, "dmu_buf_hold_noread", 42, recorded, 80, "C")                                               \
    X(dmu_buf_hold_by_dnode, "dmu_buf_hold_by_dnode", 22, recorded, 64, "D: 44 with the next, which was inlined")      \
    X(dmu_buf_hold_noread_by_dnode, "dmu_buf_hold_noread_by_dnode", 22, recorded, 48, "D")                             \
    X(dmu_buf_rele, "dmu_buf_rele", 13, recorded, 32, "C")                                                             \
    X(dmu_buf_freeable, "dmu_buf_freeable", 7, recorded, 0, "D")                                                       \
    X(dmu_buf_dnode_enter, "dmu_buf_dnode_enter", 0, recorded, 32, "in its callers, inlined")                          \
    X(dmu_buf_dnode_exit, "dmu_buf_dnode_exit", 0, recorded, 8, "in its callers, inlined")                             \
    X(dmu_buf_get_objset, "dmu_buf_get_objset", 0, recorded, 8, "in its callers, inlined")                             \
    X(dbuf_add_ref, "dbuf_add_ref", 0, recorded, 48, "in its callers")                                                 \
    X(dbuf_block_freeable, "dbuf_block_freeable", 0, recorded, 0, "in dbuf_dirty")                                     \
    X(dbuf_unoverride, "dbuf_unoverride", 0, recorded, 32, "in dbuf_redirty")                                          \
    X(dbuf_evict, "dbuf_evict", 0, recorded, 0, "in dbuf_destroy")                                                     \
    X(dmu_buf_set_user, "dmu_buf_set_user", 0, recorded, 48, "in its callers")                                         \
    X(arc_buf_thaw, "arc_buf_thaw", 0, recorded, 32, "in arc_release and dbuf_redirty")                                \
    X(buf_hash_remove, "buf_hash_remove", 0, recorded, 32, "in arc_release")                                           \
    X(arc_clear_callback, "arc_clear_callback", 0, recorded, 0, "in dbuf_destroy")                                     \
    X(zrl_init, "zrl_init", 0, recorded, 32, "in dnode_hold_impl, when it makes a block of handles")                   \
    X(db_holds, "db_holds", 0, recorded, 0, "an atomic: charged as such")                                              \
    X(dn_holds, "dn_holds", 0, recorded, 0, "an atomic: charged as such")                                              \
    X(zrl_add, "zrl_add", 0, recorded, 0, "an atomic: charged as such")                                                \
    X(dmu_tx_hold_zap_impl, "dmu_tx_hold_zap_impl", 2, assumed, 48, "by its length")                                   \
    X(dmu_object_info_from_db, "dmu_object_info_from_db", 31, recorded, 48, "C")                                       \
    X(dmu_object_set_blocksize, "dmu_object_set_blocksize", 28, recorded, 80,                                          \
      "C: 3.5 in eight microzap adds, one of which grows the block")                                                   \
    X(dmu_free_range, "dmu_free_range", 2, assumed, 80, "by its length")                                               \
    X(dmu_write, "dmu_write", 3, assumed, 128, "the bytes moved are not in it")                                        \
    X(dmu_buf_hold_array_by_dnode, "dmu_buf_hold_array_by_dnode", 115, recorded, 144, "E")                             \
    X(dmu_prefetch, "dmu_prefetch", 2, assumed, 96, "by its length")                                                   \
    X(zap_lookup, "zap_lookup", 8, recorded, 128, "C")                                                                 \
    X(zap_lookup_norm, "zap_lookup_norm", 17, recorded, 128, "C: 60 with zap_lookup_impl, which was inlined")          \
    X(zap_lookup_impl, "zap_lookup_impl", 43, recorded, 96, "D")                                                       \
    X(zap_lookup_by_dnode, "zap_lookup_by_dnode", 8, recorded, 128, "D: 42 with the next, which was inlined")          \
    X(zap_lookup_norm_by_dnode, "zap_lookup_norm_by_dnode", 34, recorded, 128, "D")                                    \
    X(zap_contains, "zap_contains", 1, assumed, 112, "by its length")                                                  \
    X(zap_length, "zap_length", 3, assumed, 112, "by its length")                                                      \
    X(zap_count, "zap_count", 2, assumed, 80, "by its length")                                                         \
    X(zap_get_stats, "zap_get_stats", 10, assumed, 80, "by its length")                                                \
    X(zap_add, "zap_add", 66, recorded, 112, "C")                                                                      \
    X(zap_update, "zap_update", 67, recorded, 128, "C")                                                                \
    X(zap_remove, "zap_remove", 3, recorded, 96, "C")                                                                  \
    X(zap_remove_norm, "zap_remove_norm", 54, recorded, 112, "C")                                                      \
    X(zap_count_write, "zap_count_write", 54, recorded, 0, "C")                                                        \
    X(zap_count_write_by_dnode, "zap_count_write_by_dnode", 47, recorded, 0, "D")                                      \
    X(zap_lockdir, "zap_lockdir", 38, recorded, 112, "C")                                                              \
    X(zap_lockdir_by_dnode, "zap_lockdir_by_dnode", 29, recorded, 0, "D")                                              \
    X(zap_lockdir_impl, "zap_lockdir_impl", 61, recorded, 208, "C")                                                    \
    X(zap_unlockdir, "zap_unlockdir", 0, recorded, 32, "in its callers, inlined")                                      \
    X(zap_tryupgradedir, "zap_tryupgradedir", 0, recorded, 0, "in its callers, inlined")                               \
    X(zap_name_alloc, "zap_name_alloc", 40, recorded, 144, "C")                                                        \
    X(zap_name_free, "zap_name_free", 0, recorded, 8, "in its callers, inlined")                                       \
    X(zap_hash, "zap_hash", 100, recorded, 8, "C: names of nine characters")                                           \
    X(zap_hashbits, "zap_hashbits", 0, recorded, 8, "in zap_hash")                                                     \
    X(zap_getflags, "zap_getflags", 0, recorded, 8, "in its callers")                                                  \
    X(zap_create, "zap_create", 2, assumed, 96, "by its length")                                                       \
    X(zap_destroy, "zap_destroy", 1, assumed, 8, "by its length")                                                      \
    X(zap_cursor_retrieve, "zap_cursor_retrieve", 3, assumed, 144, "by its length")                                    \
    X(zap_cursor_advance, "zap_cursor_advance", 1, assumed, 8, "by its length")                                        \
    X(zap_cursor_serialize, "zap_cursor_serialize", 1, assumed, 8, "by its length")                                    \
    X(zap_cursor_fini, "zap_cursor_fini", 1, assumed, 32, "by its length")                                             \
    X(mzap_open, "mzap_open", 5, assumed, 0, "an entry costs zap_name_alloc and mze_insert on top")                    \
    X(mzap_create_impl, "mzap_create_impl", 2, assumed, 96, "by its length")                                           \
    X(mzap_upgrade, "mzap_upgrade", 10, assumed, 128, "by its length")                                                 \
    X(mzap_addent, "mzap_addent", 586, recorded, 144, "C: ten entries")                                                \
    X(mze_find, "mze_find", 36, recorded, 112, "C")                                                                    \
    X(mze_find_unused_cd, "mze_find_unused_cd", 0, recorded, 0, "in mzap_addent")                                      \
    X(mze_insert, "mze_insert", 0, recorded, 0, "in mzap_addent")                                                      \
    X(mze_remove, "mze_remove", 3, assumed, 0, "by its length")                                                        \
    X(mze_destroy, "mze_destroy", 1, assumed, 0, "by its length")                                                      \
    X(zap_match, "zap_match", 0, recorded, 352, "in its callers, inlined")                                             \
    X(fzap_lookup, "fzap_lookup", 50, recorded, 176, "C: a miss")                                                      \
    X(fzap_length, "fzap_length", 3, assumed, 128, "as fzap_lookup")                                                   \
    X(fzap_add, "fzap_add", 25, recorded, 32, "C")                                                                     \
    X(fzap_add_cd, "fzap_add_cd", 77, recorded, 192, "C")                                                              \
    X(fzap_update, "fzap_update", 72, recorded, 192, "C")                                                              \
    X(fzap_remove, "fzap_remove", 51, recorded, 128, "C")                                                              \
    X(fzap_count, "fzap_count", 1, assumed, 48, "by its length")                                                       \
    X(fzap_count_write, "fzap_count_write", 48, recorded, 0, "C")                                                      \
    X(fzap_check, "fzap_check", 0, recorded, 0, "in its callers")                                                      \
    X(fzap_checkname, "fzap_checkname", 0, recorded, 0, "in its callers")                                              \
    X(fzap_checksize, "fzap_checksize", 0, recorded, 16, "in its callers")                                             \
    X(fzap_cursor_retrieve, "fzap_cursor_retrieve", 4, assumed, 128, "by its length")                                  \
    X(fzap_get_stats, "fzap_get_stats", 5, assumed, 96, "by its length")                                               \
    X(fzap_upgrade, "fzap_upgrade", 105, assumed, 64, "clears 16 KiB and writes 1,024 pointers")                       \
    X(zap_increment_num_entries, "zap_increment_num_entries", 0, recorded, 0, "in fzap_add_cd")                        \
    X(zap_deref_leaf, "zap_deref_leaf", 42, recorded, 64, "C")                                                         \
    X(zap_idx_to_blk, "zap_idx_to_blk", 10, recorded, 112, "C: 57 with zap_table_load, which was inlined")             \
    X(zap_table_load, "zap_table_load", 47, recorded, 0, "C")                                                          \
    X(zap_table_store, "zap_table_store", 3, assumed, 0, "by its length")                                              \
    X(zap_table_grow, "zap_table_grow", 6, assumed, 0, "by its length")                                                \
    X(zap_ptrtbl_transfer, "zap_ptrtbl_transfer", 205, assumed, 0, "1,024 pointers, each stored twice")                \
    X(zap_grow_ptrtbl, "zap_grow_ptrtbl", 3, assumed, 112, "by its length")                                            \
    X(zap_set_idx_to_blk, "zap_set_idx_to_blk", 1, assumed, 0, "by its length")                                        \
    X(zap_allocate_blocks, "zap_allocate_blocks", 1, assumed, 0, "by its length")                                      \
    X(zap_get_leaf_byblk, "zap_get_leaf_byblk", 48, recorded, 112, "C")                                                \
    X(zap_open_leaf, "zap_open_leaf", 3, assumed, 0, "by its length")                                                  \
    X(zap_create_leaf, "zap_create_leaf", 3, assumed, 0, "by its length")                                              \
    X(zap_put_leaf, "zap_put_leaf", 0, recorded, 32, "in its callers, inlined")                                        \
    X(zap_put_leaf_maybe_grow_ptrtbl, "zap_put_leaf_maybe_grow_ptrtbl", 37, recorded, 96, "C")                         \
    X(zap_expand_leaf, "zap_expand_leaf", 8, assumed, 224, "by its length")                                            \
    X(zap_shrink, "zap_shrink", 8, assumed, 0, "by its length")                                                        \
    X(zap_leaf_init, "zap_leaf_init", 65, assumed, 48, "638 chunks")                                                   \
    X(zap_memset, "zap_memset", 52, assumed, 0, "the hash table of a leaf, byte by byte")                              \
    X(zap_leaf_lookup, "zap_leaf_lookup", 66, recorded, 80, "D: the comparison of the name included")                  \
    X(zap_leaf_lookup_closest, "zap_leaf_lookup_closest", 6, assumed, 56, "by its length")                             \
    X(zap_leaf_array_match, "zap_leaf_array_match", 0, recorded, 96, "in zap_leaf_lookup")                             \
    X(zap_leaf_array_create, "zap_leaf_array_create", 178, recorded, 128,                                              \
      "C: 356 for a name of nine characters and one integer")                                                          \
    X(zap_leaf_array_free, "zap_leaf_array_free", 1, assumed, 0, "by its length")                                      \
    X(zap_leaf_array_read, "zap_leaf_array_read", 2, assumed, 96, "by its length")                                     \
    X(zap_leaf_chunk_alloc, "zap_leaf_chunk_alloc", 0, recorded, 0, "in zap_leaf_array_create and zap_entry_create")   \
    X(zap_leaf_chunk_free, "zap_leaf_chunk_free", 1, assumed, 8, "by its length")                                      \
    X(zap_leaf_rehash_entry, "zap_leaf_rehash_entry", 1, assumed, 0, "by its length")                                  \
    X(zap_leaf_transfer_array, "zap_leaf_transfer_array", 2, assumed, 64, "by its length")                             \
    X(zap_leaf_transfer_entry, "zap_leaf_transfer_entry", 2, assumed, 0, "by its length")                              \
    X(zap_leaf_split, "zap_leaf_split", 130, assumed, 96, "638 chunks")                                                \
    X(zap_entry_create, "zap_entry_create", 153, recorded, 96, "C")                                                    \
    X(zap_entry_update, "zap_entry_update", 76, recorded, 48, "C")                                                     \
    X(zap_entry_remove, "zap_entry_remove", 75, recorded, 32, "D")                                                     \
    X(zap_entry_read, "zap_entry_read", 23, recorded, 48, "C: fzap_lookup, a hit against a miss")                      \
    X(zap_entry_read_name, "zap_entry_read_name", 1, assumed, 64, "inlined")                                           \
    X(ldv, "ldv", 0, recorded, 0, "in zap_leaf_array_create")

// ---- the file system ----
#define COSTS_ZPL(X)                                                                                                   \
    X(zap_add_int, "zap_add_int", 1, assumed, 112, "by its length")                                                    \
    X(zap_remove_int, "zap_remove_int", 1, assumed, 80, "by its length")                                               \
    X(zap_increment, "zap_increment", 1, assumed, 112, "by its length")                                                \
    X(zap_increment_int, "zap_increment_int", 1, assumed, 112, "as zap_add_int")                                       \
    X(zap_create_claim, "zap_create_claim", 1, assumed, 112, "by its length")                                          \
    X(zfs_space_delta_cb, "zfs_space_delta_cb", 1, assumed, 112, "by its length")                                      \
    X(zil_itx_create, "zil_itx_create", 3, assumed, 48, "by its length")                                               \
    X(zil_itx_assign, "zil_itx_assign", 4, assumed, 112, "by its length")                                              \
    X(rrm_enter_read, "rrm_enter_read", 2, assumed, 112, "by its length")                                              \
    X(rrm_enter_write, "rrm_enter_write", 1, assumed, 112, "by its length")                                            \
    X(rrw_enter_write, "rrw_enter_write", 1, assumed, 64, "by its length")                                             \
    X(rrw_exit, "rrw_exit", 1, assumed, 64, "by its length")                                                           \
    X(rrm_exit, "rrm_exit", 2, assumed, 112, "by its length")                                                          \
    X(zfs_dirent_lock, "zfs_dirent_lock", 10, assumed, 112, "by its length")                                           \
    X(zfs_dirent_unlock, "zfs_dirent_unlock", 3, assumed, 112, "by its length")                                        \
    X(zfs_match_find, "zfs_match_find", 2, assumed, 112, "by its length")                                              \
    X(zfs_link_create, "zfs_link_create", 8, assumed, 112, "by its length")                                            \
    X(zfs_link_destroy, "zfs_link_destroy", 8, assumed, 112, "by its length")                                          \
    X(zfs_zget, "zfs_zget", 4, assumed, 112, "by its length")                                                          \
    X(zfs_mknode, "zfs_mknode", 20, assumed, 112, "by its length")                                                     \
    X(zfs_znode_alloc, "zfs_znode_alloc", 15, assumed, 112, "by its length")                                           \
    X(zfs_znode_dmu_fini, "zfs_znode_dmu_fini", 3, assumed, 112, "by its length")                                      \
    X(zfs_znode_delete, "zfs_znode_delete", 2, assumed, 112, "by its length")                                          \
    X(zfs_zinactive, "zfs_zinactive", 2, assumed, 112, "by its length")                                                \
    X(zfs_rmnode, "zfs_rmnode", 5, assumed, 112, "by its length")                                                      \
    X(dmu_free_long_range, "dmu_free_long_range", 2, assumed, 176, "by its length")                                    \
    X(zfs_unlinked_add, "zfs_unlinked_add", 1, assumed, 112, "by its length")                                          \
    X(sa_buf_hold, "sa_buf_hold", 1, assumed, 8, "by its length")                                                      \
    X(sa_handle_get_from_db, "sa_handle_get_from_db", 8, assumed, 112, "by its length")                                \
    X(sa_bulk_lookup, "sa_bulk_lookup", 10, assumed, 48, "by its length")                                              \
    X(sa_bulk_update, "sa_bulk_update", 13, assumed, 64, "by its length")                                              \
    X(sa_replace_all_by_template, "sa_replace_all_by_template", 30, assumed, 64, "by its length")                      \
    X(zfs_zaccess, "zfs_zaccess", 8, assumed, 112, "by its length")                                                    \
    X(zfs_acl_ids_create, "zfs_acl_ids_create", 20, assumed, 112, "by its length")                                     \
    X(zfs_lookup, "zfs_lookup", 3, assumed, 112, "by its length")                                                      \
    X(zfs_dirlook, "zfs_dirlook", 2, assumed, 112, "by its length")                                                    \
    X(zfs_create, "zfs_create", 6, assumed, 112, "by its length")                                                      \
    X(zfs_mkdir, "zfs_mkdir", 6, assumed, 112, "by its length")                                                        \
    X(zfs_remove, "zfs_remove", 8, assumed, 112, "by its length")                                                      \
    X(zfs_rmdir, "zfs_rmdir", 6, assumed, 112, "by its length")                                                        \
    X(zfs_rename, "zfs_rename", 15, assumed, 112, "by its length")                                                     \
    X(zfs_getattr, "zfs_getattr", 8, assumed, 112, "by its length")                                                    \
    X(zfs_readdir, "zfs_readdir", 5, assumed, 112, "by its length")                                                    \
    X(zfs_log_create, "zfs_log_create", 6, assumed, 112, "by its length")                                              \
    X(zfs_log_remove, "zfs_log_remove", 3, assumed, 112, "by its length")                                              \
    X(zfs_log_rename, "zfs_log_rename", 4, assumed, 112, "by its length")                                              \
    X(zpl_mkdir, "zpl_mkdir", 15, assumed, 112, "the kernel above the file system")                                    \
    X(zpl_create, "zpl_create", 20, assumed, 112, "the kernel above, opening and closing included")                    \
    X(zpl_unlink, "zpl_unlink", 15, assumed, 112, "the kernel above")                                                  \
    X(zpl_rmdir, "zpl_rmdir", 15, assumed, 112, "the kernel above")                                                    \
    X(zpl_rename, "zpl_rename", 20, assumed, 112, "the kernel above")                                                  \
    X(zpl_lookup, "zpl_lookup", 10, assumed, 112, "the kernel above")                                                  \
    X(zpl_read, "zpl_read", 10, assumed, 1144,                                                                         \
      "the kernel above; frame: what S10 leaves for the system call and the kernel above")                             \
    X(zpl_write, "zpl_write", 10, assumed, 1144, "the kernel above; frame: as zpl_read")                               \
    X(zpl_truncate, "zpl_truncate", 15, assumed, 1144, "the kernel above; frame: as zpl_read")                         \
    X(zfs_read, "zfs_read", 8, assumed, 112, "by its length")                                                          \
    X(zfs_write, "zfs_write", 20, assumed, 112, "by its length")                                                       \
    X(zfs_freesp, "zfs_freesp", 8, assumed, 112, "by its length")                                                      \
    X(dmu_read_uio_dnode, "dmu_read_uio_dnode", 58, recorded, 112, "E: as dmu_read_impl, whose loop it has")           \
    X(dmu_write_uio_dnode, "dmu_write_uio_dnode", 4, assumed, 112, "by its length")                                    \
    X(zfs_range_lock, "zfs_range_lock", 6, assumed, 112, "by its length")                                              \
    X(zfs_range_unlock, "zfs_range_unlock", 4, assumed, 112, "by its length")                                          \
    X(zfs_log_write, "zfs_log_write", 6, assumed, 112, "by its length")                                                \
    X(zfs_grow_blocksize, "zfs_grow_blocksize", 3, assumed, 112, "by its length")                                      \
    X(zpl_stat, "zpl_stat", 13, assumed, 112, "the kernel above")

#define COSTS(X) COSTS_DMU(X) COSTS_TX(X) COSTS_ZAP(X) COSTS_ZPL(X)

enum class Fn : uint16_t {
#define COST_ENUMERATOR(id, name, number, basis, frame, source) id,
    COSTS(COST_ENUMERATOR)
#undef COST_ENUMERATOR
        count
};

struct cost_t {
    const char *name;
    uint32_t instructions; // recorded; 0 where they are assumed
    uint32_t steps;        // assumed: so many times the profile's unrecorded_step_instructions
    bool recorded;
    uint32_t frame_bytes;
    const char *source;
};

// Functions of more than six parameters: what their caller pushes for the rest, in bytes. It counts as part of the
// caller's frame (S10: a level of dbuf_hold_impl has 96 bytes, and 104 while it calls the next).
struct pushed_t {
    Fn function;
    uint32_t bytes;
};
inline constexpr pushed_t pushed[] = {{Fn::dbuf_hold_impl, 8},
                                      {Fn::dbuf_hold_impl_entry, 8},
                                      {Fn::dbuf_hold_impl_recursive, 8},
                                      {Fn::dbuf_hold_impl_arg, 8}};

inline constexpr cost_t cost_recorded(const char *name, uint32_t instructions, uint32_t frame, const char *source)
{
    return {name, instructions, 0, true, frame, source};
}
inline constexpr cost_t cost_assumed(const char *name, uint32_t steps, uint32_t frame, const char *source)
{
    return {name, 0, steps, false, frame, source};
}

inline constexpr cost_t costs[] = {
#define COST_ROW(id, name, number, basis, frame, source) cost_##basis(name, number, frame, source),
    COSTS(COST_ROW)
#undef COST_ROW
};
static_assert(std::size(costs) == static_cast<size_t>(Fn::count));

// Sizes in bytes of what stays in memory, for the lines that its first user has to fetch; user-space library of
// 8bea98150.
constexpr uint64_t dnode_bytes = 936;
constexpr uint64_t dnode_handle_bytes = 136;
constexpr uint64_t dbuf_bytes = 280;
constexpr uint64_t dirty_record_bytes = 192; // assumed
constexpr uint64_t arc_header_bytes = 320;   // assumed: arc_buf_hdr_t and arc_buf_t
constexpr uint32_t leaf_lines = 4;           // a leaf's header, the place in its hash table, an entry, its name

} // namespace dmu
