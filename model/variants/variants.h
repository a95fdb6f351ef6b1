// The choices in effect, as objects: looked up once by name when a pool is made (variants.cpp holds the only tables).
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "model/arc_meta.h"
#include "model/choices.h"
#include "model/config.h"
#include "model/eras.h"
#include "model/variants/assign_order.h"
#include "model/variants/dbuf_evict_notify.h"
#include "model/variants/dbuf_hash_locks.h"
#include "model/variants/dbuf_hold.h"
#include "model/variants/dirty_check.h"
#include "model/variants/dnode_slots.h"
#include "model/variants/next_offset.h"
#include "model/variants/object_alloc.h"
#include "model/variants/struct_lock.h"
#include "model/variants/sync_dispatch.h"
#include "model/variants/tx_hold_zap.h"
#include "model/variants/txg_hold.h"
#include "model/variants/user_accounting.h"
#include "model/variants/zap_upgrade.h"
#include "model/variants/zfetch.h"

namespace dmu {

class zap_shrink_t; // its interface is in terms of the ZAP, which is in terms of this

struct variants_t {
    // REQUIRES: every name in code is in its table (choices() lists them).
    explicit variants_t(const code_config &code);
    ~variants_t();

    const era_t &era;
    std::unique_ptr<const object_alloc_t> object_alloc;
    std::unique_ptr<const percpu_cursor_t> percpu_cursor;
    std::unique_ptr<const dbuf_hold_variant_t> dbuf_hold;
    std::unique_ptr<const dnode_slots_t> dnode_slots;
    std::unique_ptr<const next_offset_variant_t> next_offset;
    std::unique_ptr<const tx_hold_zap_t> tx_hold_zap;
    std::unique_ptr<const zap_shrink_t> zap_shrink;
    std::unique_ptr<const zap_upgrade_t> zap_upgrade;
    std::unique_ptr<const dbuf_evict_notify_t> dbuf_evict_notify;
    std::unique_ptr<dbuf_hash_locks_t> (*make_dbuf_hash_locks)(uint32_t count);
    std::unique_ptr<const dirty_check_t> dirty_check;
    std::unique_ptr<const sync_dispatch_t> sync_dispatch;
    std::unique_ptr<const txg_hold_t> txg_hold;
    std::unique_ptr<const assign_order_t> assign_order;
    make_userquota_task_t make_userquota_task; // null: owners' space is not accounted for
    std::unique_ptr<const zfetch_form_t> zfetch;
    std::unique_ptr<const struct_lock_t> struct_lock;
    arc_meta_strategy_t arc_meta_strategy;

private:
    variants_t(const code_config &code, const code_config &given);
};

} // namespace dmu
