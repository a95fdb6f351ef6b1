// Operations on ZAPs that scripts name: changes in a transaction of their own, look-ups without one.
#include "scenarios/zap_verbs.h"

#include "model/dmu_tx.h"
#include "model/zap.h"
#include "scenarios/workload.h"

#include <bit>
#include <cstring>

namespace scenarios {

namespace {

// The object behind the ZAP's name; 0: no step has made it.
uint64_t object_of(Worker &worker, const std::string &zap)
{
    sim::settle();
    const auto found = worker.world().zaps.find(zap);
    return found == worker.world().zaps.end() ? 0 : found->second;
}

// The integers that a step stores, in host order, each of the size it says.
class StoredValue {
public:
    StoredValue(Worker &worker, const Step &step)
    {
        static_assert(std::endian::native == std::endian::little);
        const size_t size = static_cast<size_t>(step.integer_size);
        bytes_.resize(step.values.size() * size);
        for (size_t i = 0; i < step.values.size(); ++i) {
            const uint64_t number = worker.value(step, step.values[i]), max = zap_integer_max(step.integer_size);
            if (number > max)
                throw InputError(worker.world().scenario.name.empty() ? "scenario" : worker.world().scenario.name, {},
                                 step.path,
                                 "comes to the value " + std::to_string(number) + " here; an integer of integer_size " +
                                     std::to_string(step.integer_size) + " is at most " + std::to_string(max));
            std::memcpy(bytes_.data() + i * size, &number, size);
        }
        value_ = {step.integer_size, step.values.size(), bytes_.data()};
    }
    const dmu::zap_value_t &get() const { return value_; }

private:
    std::vector<unsigned char> bytes_;
    dmu::zap_value_t value_;
};

// One operation on the ZAP; ENOENT where no step has made it.
template <class Body>
void on_zap(Worker &worker, const Step &step, const Body &body)
{
    const std::string zap = worker.text(step.zap);
    worker.operate(step, [&] {
        const uint64_t object = object_of(worker, zap);
        return object == 0 ? ENOENT : body(object);
    });
}

// The same in a transaction that holds the ZAP for the entry.
template <class Body>
void change(Worker &worker, const Step &step, bool add, const Body &body)
{
    const std::string name = worker.text(step.name);
    const std::string_view name_view = name;
    on_zap(worker, step, [&](uint64_t object) {
        dmu::dmu_tx_ptr tx = dmu::dmu_tx_create(worker.world().objset());
        dmu::dmu_tx_hold_zap(*tx, object, add, &name_view);
        if (const auto assigned = dmu::dmu_tx_assign(*tx, dmu::TXG_WAIT); !assigned) {
            dmu::dmu_tx_abort(std::move(tx));
            return assigned.error();
        }
        const int error = body(object, name_view, *tx);
        dmu::dmu_tx_commit(std::move(tx));
        return error;
    });
}

} // namespace

void zap_verbs::zap_create(Worker &worker, const Step &step)
{
    const std::string zap = worker.text(step.zap);
    worker.operate(step, [&] {
        World &world = worker.world();
        sim::settle();
        if (world.zaps.contains(zap))
            return EEXIST;
        dmu::dmu_tx_ptr tx = dmu::dmu_tx_create(world.objset());
        dmu::dmu_tx_hold_zap(*tx, dmu::DMU_NEW_OBJECT, true, nullptr);
        if (const auto assigned = dmu::dmu_tx_assign(*tx, dmu::TXG_WAIT); !assigned) {
            dmu::dmu_tx_abort(std::move(tx));
            return assigned.error();
        }
        world.zaps[zap] = dmu::zap_create(world.objset(), dmu::DMU_OT_ZAP_OTHER, dmu::DMU_OT_NONE, 0, *tx);
        ++world.objects_in_use;
        dmu::dmu_tx_commit(std::move(tx));
        return 0;
    });
}

void zap_verbs::zap_add(Worker &worker, const Step &step)
{
    const StoredValue value(worker, step);
    change(worker, step, true, [&](uint64_t object, std::string_view name, dmu::dmu_tx_t &tx) {
        return dmu::zap_add(worker.world().objset(), object, name, value.get(), tx).error();
    });
}

void zap_verbs::zap_update(Worker &worker, const Step &step)
{
    const StoredValue value(worker, step);
    change(worker, step, true, [&](uint64_t object, std::string_view name, dmu::dmu_tx_t &tx) {
        return dmu::zap_update(worker.world().objset(), object, name, value.get(), tx).error();
    });
}

void zap_verbs::zap_remove(Worker &worker, const Step &step)
{
    change(worker, step, false, [&](uint64_t object, std::string_view name, dmu::dmu_tx_t &tx) {
        return dmu::zap_remove(worker.world().objset(), object, name, tx).error();
    });
}

void zap_verbs::zap_lookup(Worker &worker, const Step &step)
{
    const std::string name = worker.text(step.name);
    std::vector<unsigned char> buffer(step.values.size() * step.integer_size);
    on_zap(worker, step, [&](uint64_t object) {
        return dmu::zap_lookup(worker.world().objset(), object, name, step.integer_size, step.values.size(),
                               buffer.data())
            .error();
    });
}

void zap_verbs::zap_count_write(Worker &worker, const Step &step)
{
    const std::string name = worker.text(step.name);
    const std::string_view name_view = name;
    on_zap(worker, step, [&](uint64_t object) {
        uint64_t towrite = 0, tooverwrite = 0;
        return dmu::zap_count_write(worker.world().objset(), object, &name_view, step.add, towrite, tooverwrite)
            .error();
    });
}

void zap_verbs::tx_hold_zap(Worker &worker, const Step &step)
{
    const std::string name = worker.text(step.name);
    const std::string_view name_view = name;
    on_zap(worker, step, [&](uint64_t object) {
        dmu::dmu_tx_ptr tx = dmu::dmu_tx_create(worker.world().objset());
        dmu::dmu_tx_hold_zap(*tx, object, step.add, &name_view);
        const int error = tx->tx_err;
        dmu::dmu_tx_abort(std::move(tx));
        return error;
    });
}

void zap_verbs::zap_cursor(Worker &worker, const Step &step)
{
    on_zap(worker, step, [&](uint64_t object) {
        for (dmu::zap_cursor_t cursor(worker.world().objset(), object);; cursor.advance())
            if (const auto entry = cursor.retrieve(); !entry)
                return entry.error() == ENOENT ? 0 : entry.error();
    });
}

void zap_verbs::zap_stats(Worker &worker, const Step &step)
{
    const std::string zap = worker.text(step.zap);
    on_zap(worker, step, [&](uint64_t object) {
        const auto stats = dmu::zap_get_stats(worker.world().objset(), object);
        if (stats)
            worker.world().zap_stats[zap] = *stats;
        return stats.error();
    });
}

} // namespace scenarios
