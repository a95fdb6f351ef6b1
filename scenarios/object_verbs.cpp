// Operations on objects and txgs: each a transaction (or none) as a user of the DMU writes it.
//
// Each object is one operation: "alloc" with a count of 1,000 is a thousand transactions, one after another, each with
// its latency and its own chance to be refused.
#include "scenarios/object_verbs.h"

#include "model/dmu.h"
#include "model/dmu_object.h"
#include "model/dmu_state.h"
#include "model/dmu_tx.h"
#include "model/dnode.h"
#include "model/objset.h"
#include "model/spa.h"
#include "model/txg.h"
#include "scenarios/workload.h"

#include <algorithm>
#include <iterator>

namespace scenarios {

namespace {

struct ObjectType {
    const char *name;
    dmu::dmu_object_type_t type;
};
constexpr ObjectType object_types[] = {{"UINT64_OTHER", dmu::DMU_OT_UINT64_OTHER},
                                       {"PLAIN_FILE_CONTENTS", dmu::DMU_OT_PLAIN_FILE_CONTENTS}};

template <class F>
void for_each_object(Worker &worker, const Step &step, const F &function)
{
    for (const ObjectRun &run : step.objects) {
        for (uint64_t object = run.first;; object += static_cast<uint64_t>(run.stride)) {
            if (worker.stopping())
                return;
            function(object);
            if (object == run.last)
                break;
        }
    }
}

// Of a type that scripts allocate: neither a ZAP nor anything of the file system.
bool is_plain(const dmu::dnode_t &dn)
{
    const bool known = std::any_of(std::begin(object_types), std::end(object_types),
                                   [&](const ObjectType &type) { return type.type == dn.dn_type; });
    return known && (dn.dn_bonustype == dmu::DMU_OT_NONE || dn.dn_bonustype == dmu::DMU_OT_UINT64_OTHER);
}

// Why a script may not change this object: it is somebody else's, who believes to know what is in it (EPERM), or
// nobody's at this instant, being made or freed (ENOENT). 0: it may.
int refusal(const dmu::dnode_t &dn, bool lives)
{
    if (!is_plain(dn))
        return EPERM;
    return lives ? 0 : ENOENT;
}
int refusal(dmu::dmu_tx_t &tx, bool lives)
{
    for (const dmu::dmu_tx_hold_t &txh : tx)
        if (txh.txh_dnode != nullptr)
            return refusal(*txh.txh_dnode, lives);
    return 0;
}

bool lives(World &world, uint64_t object)
{
    sim::settle();
    return world.live.contains(object);
}

// Nobody frees the object meanwhile, as whoever uses objects of the DMU sees to.
template <class Body>
int at_work_on(World &world, uint64_t object, const Body &body)
{
    sim::settle();
    ++world.at_work[object];
    const int error = body();
    sim::settle();
    if (--world.at_work[object] == 0)
        world.at_work.erase(object);
    return error;
}

// Runs `body` in a transaction of its own that has the holds which `hold` asks for, unless that has an error.
template <class Hold, class Body>
int in_transaction(dmu::objset_t &os, const Hold &hold, const Body &body)
{
    dmu::dmu_tx_ptr tx = dmu::dmu_tx_create(os);
    if (const int error = hold(*tx)) {
        dmu::dmu_tx_abort(std::move(tx));
        return error;
    }
    if (const auto assigned = dmu::dmu_tx_assign(*tx, dmu::TXG_WAIT); !assigned) {
        dmu::dmu_tx_abort(std::move(tx));
        return assigned.error();
    }
    const int error = body(*tx);
    dmu::dmu_tx_commit(std::move(tx));
    return error;
}

int hold_new_object(dmu::dmu_tx_t &tx)
{
    dmu::dmu_tx_hold_bonus(tx, dmu::DMU_NEW_OBJECT);
    return 0;
}

dmu::dnode_spec spec_of(const Step &step)
{
    dmu::dnode_spec spec;
    for (const ObjectType &type : object_types)
        if (step.type == type.name)
            spec.type = type.type;
    spec.blocksize = static_cast<uint32_t>(step.block_size);
    spec.bonustype = step.bonus == 0 ? dmu::DMU_OT_NONE : dmu::DMU_OT_UINT64_OTHER;
    spec.bonuslen = static_cast<uint32_t>(step.bonus);
    spec.slots = static_cast<uint32_t>(step.slots);
    return spec;
}

// lived: until this step chose it. REQUIRES: the caller has settled.
void free_one(Worker &worker, const Step &step, uint64_t object, bool lived)
{
    worker.operate(step, [&] {
        dmu::objset_t &os = worker.world().objset();
        if (lived && worker.world().at_work.contains(object)) {
            worker.world().live.add(object);
            return EBUSY;
        }
        const auto hold = [&](dmu::dmu_tx_t &tx) {
            dmu::dmu_tx_hold_free(tx, object, 0, dmu::DMU_OBJECT_END);
            return refusal(tx, lived);
        };
        return in_transaction(os, hold, [&](dmu::dmu_tx_t &tx) {
            const auto freed = dmu::dmu_object_free(os, object, tx);
            if (freed)
                --worker.world().objects_in_use;
            return freed.error();
        });
    });
}

std::vector<uint64_t> choose_live(Worker &worker, const Step &step)
{
    sim::settle();
    LiveObjects &live = worker.world().live;
    const uint64_t from = worker.value(step, step.from), to = worker.value(step, step.to);
    const uint64_t count = worker.value(step, step.limit);
    if (step.which == "all")
        return live.take_all(from, to);
    if (step.which == "first")
        return live.take_first(count, from, to);
    if (step.which == "every")
        return live.take_every(worker.value(step, step.stride), count, from, to);
    return live.take_random(count, from, to, [&](uint64_t n) { return worker.random(0, n - 1); });
}

} // namespace

void object_verbs::alloc(Worker &worker, const Step &step)
{
    const dmu::dnode_spec spec = spec_of(step);
    const uint64_t count = worker.value(step, step.count);
    for (uint64_t i = 0; i < count && !worker.stopping(); ++i) {
        worker.operate(step, [&] {
            dmu::objset_t &os = worker.world().objset();
            return in_transaction(os, hold_new_object, [&](dmu::dmu_tx_t &tx) {
                worker.world().allocated(dmu::dmu_object_alloc(os, spec, tx));
                return 0;
            });
        });
    }
}

void object_verbs::claim(Worker &worker, const Step &step)
{
    const dmu::dnode_spec spec = spec_of(step);
    for_each_object(worker, step, [&](uint64_t object) {
        worker.operate(step, [&] {
            dmu::objset_t &os = worker.world().objset();
            return in_transaction(os, hold_new_object, [&](dmu::dmu_tx_t &tx) {
                const auto claimed = dmu::dmu_object_claim(os, object, spec, tx);
                if (claimed) {
                    worker.world().make_live(object);
                    ++worker.world().objects_in_use;
                }
                return claimed.error();
            });
        });
    });
}

void object_verbs::free(Worker &worker, const Step &step)
{
    if (step.which.empty()) {
        for_each_object(worker, step, [&](uint64_t object) {
            const bool lived = lives(worker.world(), object);
            worker.world().live.remove(object);
            free_one(worker, step, object, lived);
        });
        return;
    }
    const std::vector<uint64_t> chosen = choose_live(worker, step);
    for (size_t i = 0; i < chosen.size(); ++i) {
        if (worker.stopping()) {
            for (; i < chosen.size(); ++i)
                worker.world().live.add(chosen[i]); // nobody has freed them
            return;
        }
        sim::settle();
        free_one(worker, step, chosen[i], true);
    }
}

void object_verbs::sync(Worker &worker, const Step &step)
{
    worker.operate(step, [&] {
        dmu::dsl_pool_t &dp = worker.world().spa().dsl_pool();
        dmu::txg_wait_synced(dp, dp.dp_tx.tx_open_txg);
        return 0;
    });
}

void object_verbs::reopen(Worker &worker, const Step &step)
{
    worker.operate_alone(step, [&] {
        worker.world().objset_closes();
        worker.world().spa().spa_reopen_objset();
        worker.world().objset_opened();
        return 0;
    });
}

void object_verbs::export_import(Worker &worker, const Step &step)
{
    worker.operate_alone(step, [&] {
        worker.world().objset_closes();
        worker.world().spa().spa_export_import();
        worker.world().objset_opened();
        return 0;
    });
}

void object_verbs::evict(Worker &worker, const Step &step)
{
    worker.operate(step, [&] {
        dmu::dmu_objset_evict_dbufs(worker.world().objset());
        return 0;
    });
}

void object_verbs::hold_tx(Worker &worker, const Step &step)
{
    const std::string name = worker.text(step.name);
    worker.operate(step, [&] {
        World &world = worker.world();
        if (world.held.contains(name))
            return EBUSY;
        dmu::dmu_tx_ptr tx = dmu::dmu_tx_create(world.objset());
        hold_new_object(*tx);
        if (const auto assigned = dmu::dmu_tx_assign(*tx, dmu::TXG_WAIT); !assigned) {
            dmu::dmu_tx_abort(std::move(tx));
            return assigned.error();
        }
        world.held[name] = std::move(tx);
        return 0;
    });
}

void object_verbs::quiesce(Worker &worker, const Step &step)
{
    worker.operate(step, [&] {
        dmu::txg_quiesce_begin(worker.world().spa().dsl_pool());
        return 0;
    });
}

void object_verbs::release_tx(Worker &worker, const Step &step)
{
    const std::string name = worker.text(step.name);
    worker.operate(step, [&] {
        World &world = worker.world();
        const auto held = world.held.find(name);
        if (held == world.held.end())
            return ENOENT;
        dmu::dmu_tx_ptr tx = std::move(held->second);
        world.held.erase(held);
        const uint64_t txg = dmu::dmu_tx_get_txg(*tx);
        dmu::dmu_tx_commit(std::move(tx));
        if (step.wait)
            dmu::txg_wait_synced(world.spa().dsl_pool(), txg);
        return 0;
    });
}

void object_verbs::hold(Worker &worker, const Step &step)
{
    for_each_object(worker, step, [&](uint64_t object) {
        World &world = worker.world();
        worker.operate(step, [&] {
            if (step.slot_at_ns == 0)
                return dmu::dnode_hold(world.objset(), object).error();
            const sim::Time instant = world.measured_from() + sim::nanoseconds(static_cast<int64_t>(step.slot_at_ns));
            return dmu::dnode_hold_in_step(world.objset(), object, instant).error();
        });
    });
}

void object_verbs::object_read(Worker &worker, const Step &step)
{
    const uint64_t offset = worker.value(step, step.offset), size = worker.value(step, step.size);
    for_each_object(worker, step, [&](uint64_t object) {
        worker.operate(step,
                       [&] { return dmu::dmu_read(worker.world().objset(), object, offset, size, nullptr).error(); });
    });
}

void object_verbs::object_update(Worker &worker, const Step &step)
{
    const sim::Duration work = sim::nanoseconds(static_cast<int64_t>(step.work_ns));
    for_each_object(worker, step, [&](uint64_t object) {
        World &world = worker.world();
        worker.operate(step, [&] {
            return at_work_on(world, object, [&] {
                dmu::objset_t &os = world.objset();
                if (lives(world, object))
                    return os.os_dmu.variants.assign_order->update(os, object, work).error();
                const auto held = dmu::dnode_hold(os, object);
                return held ? refusal(**held, false) : held.error();
            });
        });
    });
}

void object_verbs::object_write(Worker &worker, const Step &step)
{
    const uint64_t offset = worker.value(step, step.offset), size = worker.value(step, step.size);
    for_each_object(worker, step, [&](uint64_t object) {
        World &world = worker.world();
        worker.operate(step, [&] {
            return at_work_on(world, object, [&] {
                dmu::objset_t &os = world.objset();
                const auto hold = [&](dmu::dmu_tx_t &tx) {
                    dmu::dmu_tx_hold_write(tx, object, offset, size);
                    return refusal(tx, lives(world, object));
                };
                return in_transaction(os, hold, [&](dmu::dmu_tx_t &tx) {
                    return dmu::dmu_write(os, object, offset, size, nullptr, tx).error();
                });
            });
        });
    });
}

void object_verbs::next_offset(Worker &worker, const Step &step)
{
    uint32_t flags = 0;
    for (const std::string &flag : step.flags)
        flags |= flag == "hole" ? dmu::DNODE_FIND_HOLE : dmu::DNODE_FIND_BACKWARDS;
    worker.operate(step, [&] {
        return dmu::dnode_next_offset(dmu::DMU_META_DNODE(worker.world().objset()), flags,
                                      worker.value(step, step.offset), static_cast<uint32_t>(step.minlvl), step.blkfill,
                                      step.txg)
            .error;
    });
}

} // namespace scenarios
