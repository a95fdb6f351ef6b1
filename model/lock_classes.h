// Every lock class of the model: the name under which reports know it, and how one lock of it is described.
//
// The order is the number a lock carries; reports sort by wait, so it means nothing else.
#pragma once

#include <cstdint>
#include <string_view>

// X(name): the name as in OpenZFS, with the structure it lives in where that is needed to tell two apart.
#define MODEL_LOCK_CLASSES(X)                                                                                          \
    X("os_obj_lock")                                                                                                   \
    X("os_lock")                                                                                                       \
    X("os_dirty_lock")                                                                                                 \
    X("os_userused_lock")                                                                                              \
    X("dn_struct_rwlock")                                                                                              \
    X("dn_mtx")                                                                                                        \
    X("dn_dbufs_mtx")                                                                                                  \
    X("dnh_zrlock")                                                                                                    \
    X("db_mtx")                                                                                                        \
    X("hash_mutexes")                                                                                                  \
    X("hash_rwlocks")                                                                                                  \
    X("skc_lock")                                                                                                      \
    X("zf_lock")                                                                                                       \
    X("zs_lock")                                                                                                       \
    X("arc_adjust_lock")                                                                                               \
    X("tx_sync_lock")                                                                                                  \
    X("tc_lock")                                                                                                       \
    X("tc_open_lock")                                                                                                  \
    X("dp_lock")                                                                                                       \
    X("dd_lock")                                                                                                       \
    X("ds_lock")                                                                                                       \
    X("ds_bp_rwlock")                                                                                                  \
    X("tl_lock")                                                                                                       \
    X("dr_mtx")                                                                                                        \
    X("zap_rwlock")                                                                                                    \
    X("zap_f_num_entries_mtx")                                                                                         \
    X("l_rwlock")                                                                                                      \
    X("arc_hash_lock")                                                                                                 \
    X("arcs_mtx")                                                                                                      \
    X("b_evict_lock")                                                                                                  \
    X("dbuf_evict_lock")                                                                                               \
    X("z_lock")                                                                                                        \
    X("z_range_lock")                                                                                                  \
    X("z_hold_mtx")                                                                                                    \
    X("z_name_lock")                                                                                                   \
    X("z_znodes_lock")                                                                                                 \
    X("z_teardown_inactive_lock")                                                                                      \
    X("rr_lock")                                                                                                       \
    X("sa_lock")                                                                                                       \
    X("sa_handle_lock")                                                                                                \
    X("itxg_lock")                                                                                                     \
    X("zl_issuer_lock")                                                                                                \
    X("io_lock")                                                                                                       \
    X("zf_rwlock")                                                                                                     \
    X("mls_lock")                                                                                                      \
    X("scl_lock")                                                                                                      \
    X("zap_num_entries_mtx")                                                                                           \
    X("hash_lock")                                                                                                     \
    X("tq_lock")                                                                                                       \
    X("dn_struct_rr_lock")                                                                                             \
    X("script_lock")                                                                                                   \
    X("script_barrier")                                                                                                \
    X("first")                                                                                                         \
    X("second")

namespace dmu {

#define MODEL_LOCK_CLASS_NAME(name) std::string_view(name),
inline constexpr std::string_view lock_class_names[] = {MODEL_LOCK_CLASSES(MODEL_LOCK_CLASS_NAME)};
#undef MODEL_LOCK_CLASS_NAME

inline constexpr uint16_t lock_class_count = sizeof lock_class_names / sizeof lock_class_names[0];

// What a lock is declared with: its name becomes its number when the program is compiled, and a name that is not in the
// table does not compile.
struct lock_class_t {
    uint16_t number;

    consteval lock_class_t(const char *name) : number(find(name)) {} // NOLINT: kmutex_t lock{"name"} is the point

private:
    static consteval uint16_t find(std::string_view name)
    {
        for (uint16_t i = 0; i < lock_class_count; ++i) {
            if (lock_class_names[i] == name)
                return i;
        }
        throw "no lock class of that name in MODEL_LOCK_CLASSES";
    }
};

} // namespace dmu
