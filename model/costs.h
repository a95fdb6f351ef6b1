// What a function's own body costs, in instructions of the real library, and where each number comes from.
//
// Self instructions, as callgrind counted them: what a function calls is counted there, and what locks, atomics and the
// allocator cost is charged by those primitives (model/spl.h), never here. Time is instructions times the profile's
// CPI. "recorded": measured for this function. "assumed": no recording has it; the number is a guess by its length
// beside a recorded function, and reports print the share of time that rests on such numbers. frame_bytes: the
// function's frame on the kernel stack, 0 where nobody published one.
//
// Sources: A  user-space library of 81285582b9 (2016-05), allocation fast path, 4,000 allocations
//          B  the same, difference of two runs with 12,288 visits of taken objects
//          C  user-space library of 8bea98150 (2016-07), single operations
//          D  user-space library of 2bce8049c3 (2016-07)
//          E  user-space library of 64b6c47d90 (2019-10)
//          G  guess
#pragma once

#include <cstdint>
#include <iterator>

namespace dmu {

// X(enumerator, "OpenZFS name", instructions, recorded | assumed, frame_bytes, source)

// ---- dbuf, dnode, objset, ARC ----
#define COSTS_DMU(X)                                                                                                   \
    X(dmu_object_alloc, "dmu_object_alloc", 72, recorded, 0, "A; 32 of them again each visit, as dmu_object_next")     \
    X(dmu_object_claim, "dmu_object_claim", 40, assumed, 0, "G: dmu_object_alloc without its loop")                    \
    X(dmu_object_free, "dmu_object_free", 30, assumed, 0, "G")                                                         \
    X(dmu_object_next, "dmu_object_next", 32, recorded, 0, "B: the loop of dmu_object_alloc, this included")           \
    X(dmu_object_info_from_dnode, "__dmu_object_info_from_dnode", 81, recorded, 0, "C")                                \
    X(dnode_hold_impl, "dnode_hold_impl", 106, recorded, 0, "B; 125 in A")                                             \
    X(dnode_is_consumed, "dnode_is_consumed", 28, recorded, 0, "C: without the walk")                                  \
    X(dnode_is_consumed_slot, "dnode_is_consumed (a slot)", 24, recorded, 0, "C: difference between slots")            \
    X(dnode_hold, "dnode_hold", 5, recorded, 0, "C")                                                                   \
    X(dnode_rele, "dnode_rele", 28, recorded, 0, "C")                                                                  \
    X(dnode_add_ref, "dnode_add_ref", 20, recorded, 0, "C")                                                            \
    X(dnode_create, "dnode_create", 107, recorded, 0, "A")                                                             \
    X(dnode_destroy, "dnode_destroy", 80, assumed, 0, "G: dnode_create backwards")                                     \
    X(dnode_allocate, "dnode_allocate", 109, recorded, 0, "A")                                                         \
    X(dnode_setdirty, "dnode_setdirty", 60, recorded, 0, "A")                                                          \
    X(dnode_free, "dnode_free", 40, assumed, 0, "G")                                                                   \
    X(dnode_free_range, "dnode_free_range", 120, assumed, 0, "G")                                                      \
    X(dnode_block_freed, "dnode_block_freed", 30, assumed, 0, "G")                                                     \
    X(dnode_new_blkid, "dnode_new_blkid", 30, assumed, 0, "G")                                                         \
    X(dnode_set_blksz, "dnode_set_blksz", 14, recorded, 0, "C")                                                        \
    X(dnode_next_offset, "dnode_next_offset", 76, recorded, 0, "B")                                                    \
    X(dnode_next_offset_level, "dnode_next_offset_level", 127, recorded, 0, "B, at level 0")                           \
    X(dnode_sync, "dnode_sync", 150, assumed, 0, "G")                                                                  \
    X(dnode_sync_free, "dnode_sync_free", 80, assumed, 0, "G")                                                         \
    X(dnode_sync_free_range, "dnode_sync_free_range", 60, assumed, 0, "G")                                             \
    X(free_children, "free_children", 100, assumed, 0, "G")                                                            \
    X(dnode_increase_indirection, "dnode_increase_indirection", 150, assumed, 0, "G")                                  \
    X(dnode_evict_dbufs, "dnode_evict_dbufs", 60, assumed, 0, "G")                                                     \
    X(dnode_buf_evict_async, "dnode_buf_evict_async", 200, assumed, 0, "G")                                            \
    X(dbuf_hold, "dbuf_hold", 18, recorded, 0, "C")                                                                    \
    X(dbuf_hold_level, "dbuf_hold_level", 17, recorded, 0, "C")                                                        \
    X(dbuf_hold_impl, "dbuf_hold_impl", 45, recorded, 40, "A; frame: S10")                                             \
    X(dbuf_hold_impl_frame, "__dbuf_hold_impl", 58, recorded, 64, "B; frame: S10")                                     \
    X(dbuf_hold_impl_recursive, "dbuf_hold_impl", 58, recorded, 104, "E; frame: S10")                                  \
    X(dbuf_hold_impl_arg, "dbuf_hold_impl_arg", 58, recorded, 64, "E; frame: S10")                                     \
    X(dbuf_findbp, "dbuf_findbp", 40, assumed, 0, "G: inlined in every recording")                                     \
    X(dbuf_find, "dbuf_find", 57, recorded, 0, "A, B")                                                                 \
    X(dbuf_find_passed, "dbuf_find (another dbuf in the chain)", 20, assumed, 0, "G")                                  \
    X(dbuf_create, "dbuf_create", 150, assumed, 0, "G")                                                                \
    X(dbuf_destroy, "dbuf_destroy", 100, assumed, 0, "G")                                                              \
    X(dbuf_read, "dbuf_read", 64, recorded, 0, "B")                                                                    \
    X(dbuf_read_impl, "dbuf_read_impl", 80, assumed, 0, "G")                                                           \
    X(dbuf_rele, "dbuf_rele", 13, recorded, 0, "C")                                                                    \
    X(dbuf_rele_and_unlock, "dbuf_rele_and_unlock", 29, recorded, 0, "C")                                              \
    X(dbuf_dirty, "dbuf_dirty", 59, recorded, 0, "C: an already dirty buffer")                                         \
    X(dbuf_dirty_record, "dbuf_dirty (a new record)", 150, assumed, 0, "G")                                            \
    X(dbuf_undirty, "dbuf_undirty", 60, assumed, 0, "G")                                                               \
    X(dbuf_redirty, "dbuf_redirty", 14, recorded, 0, "C")                                                              \
    X(dbuf_new_size, "dbuf_new_size", 12, recorded, 0, "C")                                                            \
    X(dbuf_free_range, "dbuf_free_range", 60, assumed, 0, "G")                                                         \
    X(dmu_buf_will_dirty, "dmu_buf_will_dirty", 24, recorded, 0, "C")                                                  \
    X(dmu_buf_will_fill, "dmu_buf_will_fill", 30, assumed, 0, "G")                                                     \
    X(dmu_bonus_hold, "dmu_bonus_hold", 40, assumed, 0, "G")                                                           \
    X(dmu_zfetch, "dmu_zfetch", 21, recorded, 0, "C: block 0")                                                         \
    X(dbuf_sync_indirect, "dbuf_sync_indirect", 60, assumed, 0, "G")                                                   \
    X(dbuf_sync_leaf, "dbuf_sync_leaf", 80, assumed, 0, "G")                                                           \
    X(dbuf_write, "dbuf_write", 150, assumed, 0, "G")                                                                  \
    X(dbuf_write_ready, "dbuf_write_ready", 300, assumed, 0, "G: counts 32 dnodes or 128 pointers")                    \
    X(dbuf_write_done, "dbuf_write_done", 80, assumed, 0, "G")                                                         \
    X(dbuf_evict_one, "dbuf_evict_one", 60, assumed, 0, "G")                                                           \
    X(dmu_objset_sync, "dmu_objset_sync", 300, assumed, 0, "G")                                                        \
    X(dmu_objset_evict_dbufs, "dmu_objset_evict_dbufs", 40, assumed, 0, "G")                                           \
    X(arc_buf_alloc, "arc_buf_alloc", 60, assumed, 0, "G: 12 in C without the buffer")                                 \
    X(arc_read, "arc_read", 300, assumed, 0, "G")                                                                      \
    X(arc_release, "arc_release", 87, recorded, 0, "C")                                                                \
    X(arc_released, "arc_released", 11, recorded, 0, "C: two calls a release")                                         \
    X(arc_write_done, "arc_write_done", 100, assumed, 0, "G")                                                          \
    X(arc_buf_add_ref, "arc_buf_add_ref", 193, recorded, 0, "C")                                                       \
    X(arc_buf_remove_ref, "arc_buf_remove_ref", 192, recorded, 0, "C")                                                 \
    X(arc_buf_eviction_needed, "arc_buf_eviction_needed", 25, recorded, 0, "C")                                        \
    X(arc_buf_access, "arc_buf_access", 51, recorded, 0, "E")                                                          \
    X(arc_buf_destroy, "arc_buf_destroy", 80, assumed, 0, "G")

// ---- transactions, txgs, pool, disk ----
#define COSTS_TX(X)                                                                                                    \
    X(dmu_tx_create, "dmu_tx_create", 17, recorded, 0, "C")                                                            \
    X(dmu_tx_create_dd, "dmu_tx_create_dd", 66, recorded, 0, "C: with list_create and gethrtime")                      \
    X(dmu_tx_is_syncing, "dmu_tx_is_syncing", 3, assumed, 0, "G: inlined in every recording")                          \
    X(dmu_tx_hold_object_impl, "dmu_tx_hold_object_impl", 48, recorded, 0,                                             \
      "C: mean of the three of a create; 30 without a dnode, 39 with, 51 claimed")                                     \
    X(dmu_tx_count_dnode, "dmu_tx_count_dnode", 20, recorded, 0, "C: a new object")                                    \
    X(dmu_tx_count_write, "dmu_tx_count_write", 150, assumed, 0, "G")                                                  \
    X(dmu_tx_count_free, "dmu_tx_count_free", 150, assumed, 0, "G")                                                    \
    X(dmu_tx_check_ioerr, "dmu_tx_check_ioerr", 20, assumed, 0, "G")                                                   \
    X(dmu_tx_hold_bonus, "dmu_tx_hold_bonus", 9, recorded, 0, "C")                                                     \
    X(dmu_tx_hold_write, "dmu_tx_hold_write", 20, assumed, 0, "G: dmu_tx_hold_bonus and its checks")                   \
    X(dmu_tx_hold_free, "dmu_tx_hold_free", 80, assumed, 0, "G")                                                       \
    X(dmu_tx_hold_zap, "dmu_tx_hold_zap", 70, recorded, 0, "C")                                                        \
    X(dmu_tx_hold_sa_create, "dmu_tx_hold_sa_create", 20, assumed, 0, "G")                                             \
    X(dmu_tx_hold_sa, "dmu_tx_hold_sa", 20, assumed, 0, "G")                                                           \
    X(dmu_tx_add_new_object, "dmu_tx_add_new_object", 4, recorded, 0, "C")                                             \
    X(dmu_tx_assign, "dmu_tx_assign", 10, recorded, 0, "C: its share of 154, in which dmu_tx_try_assign is inlined")   \
    X(dmu_tx_try_assign, "dmu_tx_try_assign", 179, recorded, 0, "C: the rest, with the list steps and spa_get_asize")  \
    X(dmu_tx_unassign, "dmu_tx_unassign", 40, assumed, 0, "G")                                                         \
    X(dmu_tx_wait, "dmu_tx_wait", 30, assumed, 0, "G")                                                                 \
    X(dmu_tx_delay, "dmu_tx_delay", 60, assumed, 0, "G")                                                               \
    X(dmu_tx_commit, "dmu_tx_commit", 160, recorded, 0, "C: with the list steps of two holds")                         \
    X(dmu_tx_abort, "dmu_tx_abort", 37, recorded, 0, "C: without holds")                                               \
    X(dmu_tx_pool, "dmu_tx_pool", 4, assumed, 0, "G: inlined in every recording")                                      \
    X(dmu_tx_willuse_space, "dmu_tx_willuse_space", 3, assumed, 0, "G: empty outside debugging builds")                \
    X(dnode_willuse_space, "dnode_willuse_space", 20, assumed, 0, "G")                                                 \
    X(dsl_dir_willuse_space, "dsl_dir_willuse_space", 40, assumed, 0, "G")                                             \
    X(dsl_dir_dirty, "dsl_dir_dirty", 10, assumed, 0, "G: as dsl_dataset_dirty")                                       \
    X(dsl_dir_space_towrite, "dsl_dir_space_towrite", 16, recorded, 0,                                                 \
      "C: its share of dsl_dir_tempreserve_impl, in which it is inlined")                                              \
    X(dsl_dir_tempreserve_space, "dsl_dir_tempreserve_space", 84, recorded, 0, "C: with the list steps")               \
    X(dsl_dir_tempreserve_impl, "dsl_dir_tempreserve_impl", 104, recorded, 0, "C: without what is inlined")            \
    X(dsl_dir_tempreserve_clear, "dsl_dir_tempreserve_clear", 136, recorded, 0, "C: with the list steps")              \
    X(parent_delta, "parent_delta", 6, recorded, 0,                                                                    \
      "C: its share of dsl_dir_tempreserve_impl, in which it is inlined")                                              \
    X(arc_tempreserve_space, "arc_tempreserve_space", 24, recorded, 0, "C")                                            \
    X(arc_tempreserve_clear, "arc_tempreserve_clear", 4, recorded, 0, "C")                                             \
    X(arc_memory_throttle, "arc_memory_throttle", 2, assumed, 0, "G: inlined in every recording")                      \
    X(dsl_pool_adjustedsize, "dsl_pool_adjustedsize", 29, recorded, 0, "C: with spa_get_slop_space")                   \
    X(dsl_pool_need_dirty_delay, "dsl_pool_need_dirty_delay", 30, recorded, 0, "C")                                    \
    X(dsl_pool_dirty_space, "dsl_pool_dirty_space", 20, assumed, 0, "G")                                               \
    X(dsl_pool_undirty_space, "dsl_pool_undirty_space", 20, assumed, 0, "G")                                           \
    X(dsl_pool_dirty_delta, "dsl_pool_dirty_delta", 15, assumed, 0, "G")                                               \
    X(dsl_pool_sync, "dsl_pool_sync", 300, assumed, 0, "G: once a txg")                                                \
    X(dsl_dataset_check_quota, "dsl_dataset_check_quota", 41, recorded, 0, "C")                                        \
    X(dsl_dataset_dirty, "dsl_dataset_dirty", 24, recorded, 0, "C")                                                    \
    X(dsl_dataset_prev_snap_txg, "dsl_dataset_prev_snap_txg", 26, recorded, 0, "C: with spa_last_synced_txg")          \
    X(dsl_dataset_block_freeable, "dsl_dataset_block_freeable", 10, assumed, 0, "G")                                   \
    X(dsl_dataset_get_spa, "dsl_dataset_get_spa", 3, assumed, 0, "G")                                                  \
    X(bp_get_dsize, "bp_get_dsize", 30, assumed, 0, "G")                                                               \
    X(txg_hold_open, "txg_hold_open", 35, recorded, 0, "C")                                                            \
    X(txg_rele_to_quiesce, "txg_rele_to_quiesce", 2, recorded, 0, "C")                                                 \
    X(txg_rele_to_sync, "txg_rele_to_sync", 30, recorded, 0, "C")                                                      \
    X(txg_list_add, "txg_list_add", 23, recorded, 0, "C")                                                              \
    X(txg_wait_synced, "txg_wait_synced", 40, assumed, 0, "G")                                                         \
    X(txg_wait_open, "txg_wait_open", 40, assumed, 0, "G")                                                             \
    X(txg_kick, "txg_kick", 30, assumed, 0, "G")                                                                       \
    X(txg_delay, "txg_delay", 30, assumed, 0, "G")                                                                     \
    X(txg_quiesce, "txg_quiesce", 200, assumed, 0, "G: once a txg")                                                    \
    X(spa_sync, "spa_sync", 2000, assumed, 0, "G: once a txg")

// ---- ZAP, ZPL ----
#define COSTS_ZAP(X) X(zap_lookup, "zap_lookup", 8, recorded, 0, "C")

#define COSTS(X) COSTS_DMU(X) COSTS_TX(X) COSTS_ZAP(X)

enum class Fn : uint16_t {
#define COST_ENUMERATOR(id, name, instructions, basis, frame, source) id,
    COSTS(COST_ENUMERATOR)
#undef COST_ENUMERATOR
        count
};

struct cost_t {
    const char *name;
    uint32_t instructions;
    bool recorded;
    uint32_t frame_bytes;
    const char *source;
};

inline constexpr bool cost_recorded = true;
inline constexpr bool cost_assumed = false;

inline constexpr cost_t costs[] = {
#define COST_ROW(id, name, instructions, basis, frame, source) {name, instructions, cost_##basis, frame, source},
    COSTS(COST_ROW)
#undef COST_ROW
};
static_assert(std::size(costs) == static_cast<size_t>(Fn::count));

} // namespace dmu
