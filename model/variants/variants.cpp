// The only place in the program where a name becomes a choice.
#include "model/variants/variants.h"

#include <array>

#include "model/variants/dbuf_hold_forms.h"
#include "model/variants/dnode_slots_forms.h"
#include "model/variants/next_offset_forms.h"
#include "model/variants/object_alloc_forms.h"
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
constexpr choice_t<std::unique_ptr<const dnode_slots_t> (*)()> slot_retries[] = {
    {"drop-once", make_dnode_slots_by_handle, "who is refused the slot waits without a hold on it"},
    {"hold-again", make_dnode_slots_by_handle_hold_again, "who is refused takes the hold again before each try"},
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
        return chosen(slot_retries, code.slot_retry).make();
    return chosen(slot_forms, code.walk_earlier_slots ? "walk" : "type").make();
}

template <class Table>
void list(std::vector<choice_info> &all, const char *field, const Table &table)
{
    for (const auto &choice : table)
        all.push_back({field, choice.name, choice.what});
}

} // namespace

variants_t::variants_t(const code_config &code)
    : era(known_era(code.era)), object_alloc(chosen(object_allocs, code.object_alloc).make(code)),
      percpu_cursor(chosen(percpu_cursors, era.per_cpu_cursor).make()),
      dbuf_hold(chosen(dbuf_holds, code.dbuf_hold).make()), dnode_slots(make_dnode_slots(era, code)),
      next_offset(chosen(next_offsets, era.next_offset).make()),
      tx_hold_zap(chosen(tx_hold_zaps, code.tx_hold_zap).make()),
      zap_upgrade(chosen(zap_upgrades, code.zap_upgrade).make(code)),
      dbuf_evict_notify(chosen(dbuf_evict_notifies, code.dbuf_evict_notify).make()),
      make_dbuf_hash_locks(chosen(dbuf_hash_locks, code.dbuf_hash_locks).make)
{
}

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
