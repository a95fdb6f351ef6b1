// The only place in the program where a name becomes a choice.
#include "model/variants/variants.h"

#include <array>

#include "model/variants/dbuf_hold_forms.h"
#include "model/variants/dnode_slots_forms.h"
#include "model/variants/faults.h"
#include "model/variants/next_offset_forms.h"
#include "model/variants/object_alloc_forms.h"
#include "model/variants/zap_shrink.h"
#include "model/variants/zap_variants.h"

#include "sim/verify.h"

namespace dmu {

namespace {

template <class Make>
struct choice_t {
    const char *name;
    Make make;
    const char *what;
};

constexpr choice_t<std::unique_ptr<const object_alloc_t> (*)(const code_config &)> object_allocs[] = {
    {"legacy", make_object_alloc_legacy, "one cursor; at every level-1 boundary the search begins at object 0"},
    {"rescan", make_object_alloc_rescan, "one cursor; from object 0 once, after enough frees"},
    {"no-backfill", make_object_alloc_no_backfill, "one cursor, which never goes back"},
    {"per-cpu", make_object_alloc_per_cpu, "a cursor per CPU in a chunk of its own; rescans as rescan"},
};

constexpr choice_t<std::unique_ptr<const percpu_cursor_t> (*)()> percpu_cursors[] = {
    {"swap", make_percpu_cursor_swap, "the number is used, then the cursor moved"},
    {"add", make_percpu_cursor_add, "the cursor moves before the number is used"},
};

constexpr choice_t<std::unique_ptr<const dbuf_hold_variant_t> (*)()> dbuf_holds[] = {
    {"heap-array", make_dbuf_hold_heap_array, "one allocation of 20 frames a hold"},
    {"heap-frame", make_dbuf_hold_heap_frame, "one allocation a level"},
    {"stack-frame", make_dbuf_hold_stack_frame, "plain recursion"},
};

constexpr choice_t<std::unique_ptr<dbuf_hash_locks_t> (*)(uint32_t)> dbuf_hash_locks[] = {
    {"mutex", make_dbuf_hash_mutexes, "a mutex: one look-up at a time"},
    {"rwlock", make_dbuf_hash_rwlocks, "a rwlock: look-ups share it"},
};

constexpr choice_t<std::unique_ptr<const dbuf_evict_notify_t> (*)()> dbuf_evict_notifies[] = {
    {"locked", make_dbuf_evict_notify_locked, "above the target every release takes dbuf_evict_lock to look again"},
    {"unlocked", make_dbuf_evict_notify_unlocked, "the size is looked at, no lock is taken"},
};

constexpr choice_t<std::unique_ptr<const tx_hold_zap_t> (*)()> tx_hold_zaps[] = {
    {"by-object", make_tx_hold_zap_by_object, "every step looks the directory's dnode up by its number"},
    {"by-dnode", make_tx_hold_zap_by_dnode, "the dnode in hand is passed down"},
    {"lookup-only", make_tx_hold_zap_lookup_only, "a look-up and a flat charge"},
};

constexpr choice_t<std::unique_ptr<const dnode_slots_t> (*)()> slot_forms[] = {
    {"type", make_dnode_slots_by_type, "a slot is judged by its dnode"},
    {"walk", make_dnode_slots_walk, "every earlier slot is looked at"},
};

constexpr choice_t<std::unique_ptr<const zap_upgrade_t> (*)(const code_config &)> zap_upgrades[] = {
    {"try", make_zap_upgrade_try, "rw_tryupgrade, which may succeed where rw_upgrade_can_succeed says so"},
    {"refuse", make_zap_upgrade_refuse, "never: leaf and header are let go, and taken again in their order"},
    {"drop-and-retake", make_zap_upgrade_drop_and_retake,
     "the header is let go and taken again as writer while the leaf is held: the wrong order, which can deadlock"},
};

// Eras that judge a slot by its handle.
constexpr choice_t<slot_retry_t> slot_retries[] = {
    {"drop-once", slot_retry_t::DROP_ONCE, "who is refused the slot waits without a hold on it"},
    {"hold-again", slot_retry_t::HOLD_AGAIN, "who is refused takes the hold again before each try"},
};
constexpr choice_t<slot_locks_t> slot_lock_ranges[] = {
    {"whole-range", slot_locks_t::WHOLE_RANGE, "every slot of a large dnode is locked until it has them"},
    {"first-slot", slot_locks_t::FIRST_SLOT, "only the slot it begins in: two dnodes may get one slot"},
};
constexpr choice_t<slot_wake_t> slot_wakes[] = {
    {"locked", slot_wake_t::LOCKED, "who waits for a slot's handle is woken under the mutex under which it looked"},
    {"unlocked", slot_wake_t::UNLOCKED, "without it: a wake-up may come before the sleep, and is lost"},
};

constexpr choice_t<std::unique_ptr<const txg_hold_t> (*)()> txg_holds[] = {
    {"until-commit", make_txg_hold_until_commit, "a transaction holds its txg until it commits"},
    {"until-assigned", make_txg_hold_until_assigned, "only until it is assigned: its txg may be synced under it"},
};

constexpr choice_t<std::unique_ptr<const dirty_check_t> (*)()> dirty_checks[] = {
    {"under-lock", make_dirty_check_under_lock, "the dirty list's lock is taken at every dnode_setdirty"},
    {"before-lock", make_dirty_check_before_lock, "once for a dnode and txg: who is listed already is seen without it"},
};

constexpr choice_t<std::unique_ptr<const sync_dispatch_t> (*)()> sync_dispatches[] = {
    {"every-sublist", make_sync_dispatch_every_sublist, "a task for each list of dirty dnodes, empty or not"},
    {"non-empty", make_sync_dispatch_non_empty, "a task for each that has dnodes"},
};

constexpr choice_t<make_userquota_task_t> user_accountings[] = {
    {"off", nullptr, "sync does not count what owners use"},
    {"per-dnode", make_userquota_per_dnode, "two ZAP increments for each change of a dnode"},
    {"aggregated", make_userquota_aggregated,
     "changes are summed up by owner, and two increments made for each (zfs#4642)"},
};

constexpr choice_t<std::unique_ptr<const assign_order_t> (*)()> assign_orders[] = {
    {"assign-first", make_assign_first, "a transaction is assigned before dn_struct_rwlock is taken"},
    {"lock-first", make_lock_first, "after: it may wait for a txg with the lock in hand (zfs#8923)"},
};

constexpr choice_t<arc_meta_strategy_t> arc_meta_strategies[] = {
    {"meta-only", arc_meta_strategy_t::META_ONLY, "metadata alone goes, and no more than its state's share (illumos)"},
    {"balanced", arc_meta_strategy_t::BALANCED, "by turns data, which may hold metadata, and metadata (Linux)"},
};

constexpr choice_t<std::unique_ptr<const zfetch_form_t> (*)()> zfetches[] = {
    {"rwlock", [] { return make_zfetch_rwlock(false); },
     "streams are looked for as reader, and none begins: its upgrade to writer fails, as in user space"},
    {"rwlock-upgrade", [] { return make_zfetch_rwlock(true); },
     "the same in the kernel: who begins one becomes the writer if nobody else reads"},
    {"mutex", make_zfetch_mutex, "one at a time"},
    {"try", make_zfetch_try, "who finds the mutex taken goes on without having asked (zfs#6568)"},
    {"off", make_zfetch_off, "never (zfs_prefetch_disable)"},
};

constexpr choice_t<std::unique_ptr<const struct_lock_t> (*)(const code_config &)> struct_locks[] = {
    {"rwlock", [](const code_config &) { return make_struct_lock_rwlock(); }, "one line that every reader writes"},
    {"fan-out", [](const code_config &code) { return make_struct_lock_fan_out(code.struct_lock_fan_out); },
     "several locks: a reader enters one by its thread, a writer all (zfs#4804)"},
};

constexpr choice_t<void (*)(code_config &)> faults[] = {
    {"none", [](code_config &) {}, "no planted fault"},
    {"overlapping-slots", [](code_config &code) { code.slot_locks = "first-slot"; },
     "slot_locks first-slot: two large dnodes may get one slot"},
    {"upgrade-order", [](code_config &code) { code.zap_upgrade = "drop-and-retake"; },
     "zap_upgrade drop-and-retake: the header's lock is taken after the leaf's"},
    {"lost-wakeup", [](code_config &code) { code.slot_wake = "unlocked"; },
     "slot_wake unlocked: a wake-up may come before the sleep"},
    {"missing-hold", [](code_config &code) { code.txg_hold = "until-assigned"; },
     "txg_hold until-assigned: a transaction does not hold its txg"},
};

constexpr choice_t<std::unique_ptr<const next_offset_variant_t> (*)()> next_offsets[] = {
    {"narrowing", make_next_offset_narrowing, "up until there is a match, then down"},
    {"narrowing-aligned", make_next_offset_narrowing_aligned,
     "the same, forwards among dnodes, to a dnode's first byte"},
    {"climbing", make_next_offset_climbing, "up again when the way down ends in nothing"},
};

template <class Table>
const auto &chosen(const Table &table, std::string_view name)
{
    for (const auto &choice : table)
        if (name == choice.name)
            return choice;
    PANIC("no choice is called %.*s", static_cast<int>(name.size()), name.data());
}

const era_t &known_era(const std::string &name)
{
    const era_t *era = find_era(name);
    VERIFY(era != nullptr);
    return *era;
}

std::unique_ptr<const dnode_slots_t> make_dnode_slots(const era_t &era, const code_config &code)
{
    if (era.slots_by_handle && !code.walk_earlier_slots)
        return make_dnode_slots_by_handle({chosen(slot_retries, code.slot_retry).make,
                                           chosen(slot_lock_ranges, code.slot_locks).make,
                                           chosen(slot_wakes, code.slot_wake).make});
    return chosen(slot_forms, code.walk_earlier_slots ? "walk" : "type").make();
}

template <class Table>
void list(std::vector<choice_info> &all, const char *field, const Table &table)
{
    for (const auto &choice : table)
        all.push_back({field, choice.name, choice.what});
}

} // namespace

code_config with_fault(code_config code)
{
    chosen(faults, code.fault).make(code);
    return code;
}

variants_t::variants_t(const code_config &given) : variants_t(with_fault(given), given) {}

variants_t::variants_t(const code_config &code, const code_config &)
    : era(known_era(code.era)), object_alloc(chosen(object_allocs, code.object_alloc).make(code)),
      percpu_cursor(chosen(percpu_cursors, era.per_cpu_cursor).make()),
      dbuf_hold(chosen(dbuf_holds, code.dbuf_hold).make()), dnode_slots(make_dnode_slots(era, code)),
      next_offset(chosen(next_offsets, era.next_offset).make()),
      tx_hold_zap(chosen(tx_hold_zaps, code.tx_hold_zap).make()),
      zap_shrink(code.zap_shrink ? make_zap_shrink_collapse() : make_zap_shrink_never()),
      zap_upgrade(chosen(zap_upgrades, code.zap_upgrade).make(code)),
      dbuf_evict_notify(chosen(dbuf_evict_notifies, code.dbuf_evict_notify).make()),
      make_dbuf_hash_locks(chosen(dbuf_hash_locks, code.dbuf_hash_locks).make),
      dirty_check(chosen(dirty_checks, code.dirty_check).make()),
      sync_dispatch(chosen(sync_dispatches, code.sync_dispatch).make()),
      txg_hold(chosen(txg_holds, code.txg_hold).make()), assign_order(chosen(assign_orders, code.assign_order).make()),
      make_userquota_task(chosen(user_accountings, code.user_accounting).make),
      zfetch(chosen(zfetches, code.zfetch).make()), struct_lock(chosen(struct_locks, code.struct_lock).make(code)),
      arc_meta_strategy(chosen(arc_meta_strategies, code.arc_meta_strategy).make)
{
}

variants_t::~variants_t() = default;

std::span<const choice_info> choices()
{
    static const std::vector<choice_info> all = [] {
        std::vector<choice_info> list_of_all;
        list(list_of_all, "object_alloc", object_allocs);
        list(list_of_all, "tx_hold_zap", tx_hold_zaps);
        list(list_of_all, "dbuf_hold", dbuf_holds);
        list(list_of_all, "dbuf_hash_locks", dbuf_hash_locks);
        list(list_of_all, "dbuf_evict_notify", dbuf_evict_notifies);
        list(list_of_all, "zap_upgrade", zap_upgrades);
        list(list_of_all, "slot_retry", slot_retries);
        list(list_of_all, "slot_locks", slot_lock_ranges);
        list(list_of_all, "slot_wake", slot_wakes);
        list(list_of_all, "dirty_check", dirty_checks);
        list(list_of_all, "sync_dispatch", sync_dispatches);
        list(list_of_all, "txg_hold", txg_holds);
        list(list_of_all, "assign_order", assign_orders);
        list(list_of_all, "user_accounting", user_accountings);
        list(list_of_all, "zfetch", zfetches);
        list(list_of_all, "struct_lock", struct_locks);
        list(list_of_all, "arc_meta_strategy", arc_meta_strategies);
        list(list_of_all, "fault", faults);
        return list_of_all;
    }();
    return all;
}

bool is_choice(std::string_view field, std::string_view name)
{
    for (const choice_info &choice : choices())
        if (field == choice.field && name == choice.name)
            return true;
    return false;
}

} // namespace dmu
