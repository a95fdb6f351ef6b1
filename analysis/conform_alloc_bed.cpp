#include "analysis/conform_alloc_bed.h"

#include "sim/simulator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <exception>
#include <map>

namespace analysis {

using namespace dmu;

namespace {

constexpr size_t searches_listed = 20'000;
constexpr size_t slow_allocs_listed = 3'000;
constexpr uint32_t levels_listed = 8;
constexpr uint32_t recorded_cpus = 2;

// Calls made by the running thread so far, of the functions that were instrumented.
struct Calls {
    uint64_t next_offset, next_offset_level, hold, object_next, dbuf_hold, dbuf_hold_frame, findbp, find;

    static Calls now()
    {
        const uint64_t *calls = sim::hot.calls;
        const auto of = [calls](Fn fn) { return calls[static_cast<size_t>(fn)]; };
        return {of(Fn::dnode_next_offset),
                of(Fn::dnode_next_offset_level),
                dmu::dnode_hold_impl_calls(calls),
                of(Fn::dmu_object_next),
                of(Fn::dbuf_hold_impl) + of(Fn::dbuf_hold_impl_recursive),
                of(Fn::dbuf_hold_impl_frame),
                of(Fn::dbuf_findbp),
                of(Fn::dbuf_find) + of(Fn::dbuf_find_city)};
    }
    Calls operator-(const Calls &b) const
    {
        return {next_offset - b.next_offset,
                next_offset_level - b.next_offset_level,
                hold - b.hold,
                object_next - b.object_next,
                dbuf_hold - b.dbuf_hold,
                dbuf_hold_frame - b.dbuf_hold_frame,
                findbp - b.findbp,
                find - b.find};
    }
    void operator+=(const Calls &b)
    {
        next_offset += b.next_offset;
        next_offset_level += b.next_offset_level;
        hold += b.hold;
        object_next += b.object_next;
        dbuf_hold += b.dbuf_hold;
        dbuf_hold_frame += b.dbuf_hold_frame;
        findbp += b.findbp;
        find += b.find;
    }
};

// Counts by power of two: 0, 1, 2-3, 4-7, ...
class Quantize {
public:
    void add(uint64_t value) { ++buckets_[static_cast<size_t>(std::bit_width(value))]; }
    Json json() const
    {
        Json rows = Json::object();
        for (size_t i = 0; i < buckets_.size(); ++i)
            if (buckets_[i] != 0)
                rows[std::to_string(i == 0 ? 0 : 1ull << (i - 1))] = buckets_[i];
        return rows;
    }

private:
    std::array<uint64_t, 65> buckets_{};
};

class SearchLog final : public allocator_trace_t {
public:
    void searched(uint64_t from, uint32_t minlvl, uint64_t blkfill, const next_offset_t &found) override
    {
        if (total_++ < searches_listed)
            rows_.push_back({index, from, minlvl, blkfill, found.error, found.offset >> DNODE_SHIFT});
    }
    void write(Json &step)
    {
        step["searches_total"] = total_;
        step["searches"] = std::move(rows_);
    }

    uint64_t index = 0; // of the allocation under way

private:
    uint64_t total_ = 0;
    Json rows_ = Json::array();
};

} // namespace

void AllocBed::run(const std::function<void()> &replay)
{
    sim::Machine machine;
    machine.cpus = recorded_cpus;
    machine.cpus_per_socket = recorded_cpus;
    sim::Simulator simulator(machine, model_tables(), 1);
    std::exception_ptr thrown;
    simulator.spawn("replay", {}, [&] {
        spa_ = std::make_unique<spa_t>(config_);
        os_ = &spa_->spa_create();
        try {
            replay();
        } catch (const sim::InvariantBroken &) {
            throw;
        } catch (...) {
            thrown = std::current_exception();
        }
        if (held_tx_ != nullptr)
            dmu_tx_commit(std::move(held_tx_));
        spa_->spa_stop();
    });
    const sim::End end = simulator.run();
    if (end.ending == sim::Ending::invariant)
        throw sim::InvariantBroken(end.text);
    if (end.ending != sim::Ending::finished)
        throw std::runtime_error("the replay did not end: " + end.text);
    spa_.reset();
    if (thrown)
        std::rethrow_exception(thrown);
}

void AllocBed::number_txgs_from(uint64_t recorded_open_txg)
{
    txg_offset_ = recorded_open_txg - open_txg();
}

dmu_tx_ptr AllocBed::assigned_tx()
{
    dmu_tx_ptr tx = dmu_tx_create(*os_);
    dmu_tx_hold_bonus(*tx, DMU_NEW_OBJECT);
    auto assigned = dmu_tx_assign(*tx, TXG_WAIT);
    VERIFY(assigned.ok());
    return tx;
}

Json AllocBed::txg_range(uint64_t first, uint64_t last) const
{
    return {{"txg_first", recorded(first)}, {"txg_last", recorded(last)}};
}

Json AllocBed::alloc(uint64_t count)
{
    Quantize next_offsets, holds, dbuf_holds;
    Calls totals{};
    SearchLog searches;
    const auto levels_before = spa_->spa_dmu->next_offset_level_calls;
    std::vector<uint64_t> objects;
    Json slow = Json::array();
    uint64_t slow_total = 0;
    uint64_t first_txg = open_txg();
    uint64_t last_txg = first_txg;

    os_->allocator_trace = &searches;
    for (uint64_t i = 0; i < count; ++i) {
        dmu_tx_ptr tx = assigned_tx();
        last_txg = tx->tx_txg;
        if (i == 0)
            first_txg = last_txg;
        searches.index = i;
        const Calls before = Calls::now();
        const uint64_t object = dmu_object_alloc(*os_, dnode_spec{}, *tx);
        const Calls calls = Calls::now() - before;
        dmu_tx_commit(std::move(tx));

        objects.push_back(object);
        totals += calls;
        next_offsets.add(calls.next_offset);
        holds.add(calls.hold);
        dbuf_holds.add(calls.dbuf_hold);
        if ((calls.next_offset > 0 || calls.hold > 2) && slow_total++ < slow_allocs_listed)
            slow.push_back({i, object, calls.next_offset, calls.hold});
    }
    os_->allocator_trace = nullptr;
    live_ += count;

    Json got = txg_range(first_txg, last_txg);
    got["objects"] = coded_objects(objects);
    got["hist"] = {{"dnode_next_offset", next_offsets.json()},
                   {"dnode_hold_impl", holds.json()},
                   {"dbuf_hold_impl", dbuf_holds.json()}};
    Json &all = got["totals"] = {{"dnode_next_offset", totals.next_offset},
                                 {"dnode_next_offset_level", totals.next_offset_level},
                                 {"dnode_hold_impl", totals.hold},
                                 {"dmu_object_next", totals.object_next},
                                 {"dbuf_hold_impl", totals.dbuf_hold},
                                 {"__dbuf_hold_impl", totals.dbuf_hold_frame},
                                 {"dbuf_findbp", totals.findbp},
                                 {"dbuf_find", totals.find}};
    // No other thread searches while the step runs, so the pool's counters are the caller's.
    for (uint32_t level = 0; level < levels_listed; ++level)
        all["dnode_next_offset_level[lvl=" + std::to_string(level) + "]"] =
            spa_->spa_dmu->next_offset_level_calls[level] - levels_before[level];
    searches.write(got);
    got["slow_allocs_total"] = slow_total;
    got["slow_allocs"] = std::move(slow);
    return got;
}

Json AllocBed::mtalloc(uint64_t threads, uint64_t count)
{
    const uint64_t txg = open_txg();
    std::vector<uint64_t> objects;
    uint64_t begun = 0;
    uint64_t running = threads;
    kmutex_t lock{"first"};
    kcondvar_t done;
    for (uint64_t t = 0; t < threads; ++t) {
        sim::hot.simulator->spawn("allocator", {}, [&] {
            while (begun < count) {
                ++begun;
                dmu_tx_ptr tx = assigned_tx();
                objects.push_back(dmu_object_alloc(*os_, dnode_spec{}, *tx));
                dmu_tx_commit(std::move(tx));
            }
            auto held = mutex_enter(lock);
            --running;
            cv_broadcast(done);
        });
    }
    {
        auto held = mutex_enter(lock);
        while (running > 0)
            cv_wait(done, lock);
    }
    live_ += count;
    std::sort(objects.begin(), objects.end());
    Json got = txg_range(txg, open_txg());
    got["objects_sorted"] = coded_objects(objects);
    return got;
}

Json AllocBed::free_objects(const std::vector<uint64_t> &objects)
{
    uint64_t first_txg = open_txg();
    uint64_t last_txg = first_txg;
    for (uint64_t object : objects) {
        dmu_tx_ptr tx = dmu_tx_create(*os_);
        dmu_tx_hold_free(*tx, object, 0, DMU_OBJECT_END);
        if (auto assigned = dmu_tx_assign(*tx, TXG_WAIT); !assigned) {
            dmu_tx_abort(std::move(tx));
            throw BadTrace("objects", "object " + std::to_string(object) + " is to be freed but does not exist");
        }
        last_txg = tx->tx_txg;
        if (object == objects.front())
            first_txg = last_txg;
        auto freed = dmu_object_free(*os_, object, *tx);
        VERIFY(freed.ok());
        dmu_tx_commit(std::move(tx));
        --live_;
    }
    return txg_range(first_txg, last_txg);
}

Json AllocBed::claim(const std::vector<uint64_t> &objects)
{
    uint64_t failed = 0;
    const uint64_t txg = open_txg();
    for (uint64_t object : objects) {
        dmu_tx_ptr tx = assigned_tx();
        if (dmu_object_claim(*os_, object, dnode_spec{}, *tx))
            ++live_;
        else
            ++failed;
        dmu_tx_commit(std::move(tx));
    }
    Json got = txg_range(txg, open_txg());
    got["failed"] = failed;
    return got;
}

Json AllocBed::sync()
{
    txg_wait_synced(pool(), open_txg());
    return Json::object();
}

Json AllocBed::reopen()
{
    os_ = &spa_->spa_reopen_objset();
    return Json::object();
}

Json AllocBed::export_import()
{
    os_ = &spa_->spa_export_import();
    return Json::object();
}

Json AllocBed::hold_tx()
{
    if (held_tx_ != nullptr)
        throw BadTrace("op", "a transaction is held already");
    held_tx_ = assigned_tx();
    return {{"txg", recorded(held_tx_->tx_txg)}};
}

Json AllocBed::quiesce_begin()
{
    const uint64_t next = open_txg() + 1;
    txg_quiesce_begin(pool());
    txg_wait_open(pool(), next);
    return Json::object();
}

Json AllocBed::release_tx_and_wait_synced()
{
    if (held_tx_ == nullptr)
        throw BadTrace("op", "no transaction is held");
    const uint64_t txg = held_tx_->tx_txg;
    dmu_tx_commit(std::move(held_tx_));
    txg_wait_synced(pool(), txg);
    return Json::object();
}

Json AllocBed::marktxg()
{
    return {{"txg", recorded(pool().dp_tx.tx_synced_txg)}};
}

Json AllocBed::query(uint64_t flags, uint64_t offset, uint64_t minlvl, uint64_t blkfill, uint64_t txg,
                     const std::string &path)
{
    dnode_t &mdn = DMU_META_DNODE(*os_);
    if (flags > (DNODE_FIND_HOLE | DNODE_FIND_BACKWARDS))
        throw BadTrace(path + "[0]", "no such flags");
    if (minlvl > mdn.dn_nlevels)
        throw BadTrace(path + "[2]", "the meta-dnode has no such level");
    if (blkfill == 0 || !std::has_single_bit(blkfill) || blkfill > DNODES_PER_BLOCK)
        throw BadTrace(path + "[3]", "a power of two up to the dnodes of a block is expected");
    if ((flags & DNODE_FIND_HOLE) != 0 && txg != 0)
        throw BadTrace(path + "[4]", "holes have no txg");
    if (txg != 0 && txg < txg_offset_)
        throw BadTrace(path + "[4]", "a txg before the first");
    const uint64_t ours = txg == 0 ? 0 : txg - txg_offset_;
    const next_offset_t found =
        dnode_next_offset(mdn, static_cast<uint32_t>(flags), offset, static_cast<uint32_t>(minlvl), blkfill, ours);
    return {flags, offset, minlvl, blkfill, txg, found.error, found.offset};
}

Json AllocBed::geometry()
{
    const dnode_t &mdn = DMU_META_DNODE(*os_);
    const uint32_t epbs = mdn.dn_indblkshift - SPA_BLKPTRSHIFT;
    return {{"objset_type", "OTHER"},
            {"dnode_size", DNODE_SIZE},
            {"dnode_block_shift", mdn.dn_datablkshift},
            {"meta_dnode_indblkshift", mdn.dn_indblkshift},
            {"meta_dnode_nblkptr", mdn.dn_nblkptr},
            {"meta_dnode_nlevels", mdn.dn_nlevels},
            {"L1_dnodes", uint64_t{DNODES_PER_BLOCK} << epbs},
            {"L2_dnodes", uint64_t{DNODES_PER_BLOCK} << (2 * epbs)}};
}

Json AllocBed::objects_in_use()
{
    std::vector<uint64_t> objects;
    for (object_next_t next{0, 0}; (next = dmu_object_next(*os_, next.object, false, 0)).error == 0;)
        objects.push_back(next.object);
    return coded_objects(objects);
}

Json AllocBed::state()
{
    Json state = {{"live", live_}};
    state["os_obj_next"] = os_->os_obj_next;
    state["os_obj_next_chunk"] = os_->os_obj_next_chunk;
    Json &cursors = state["os_obj_next_percpu"] = Json::array();
    for (const atomic_uint64_t &cursor : os_->os_obj_next_percpu)
        cursors.push_back(cursor.load());
    state["os_freed_dnodes"] = os_->os_freed_dnodes;
    state["os_rescan_dnodes"] = os_->os_rescan_dnodes.load() ? 1 : 0;
    state["open_txg"] = recorded(open_txg());
    state["synced_txg"] = recorded(pool().dp_tx.tx_synced_txg);
    return state;
}

Json AllocBed::synced_state(bool level0)
{
    const dnode_t &mdn = DMU_META_DNODE(*os_);
    const meta_dnode_report_t report = meta_dnode_report(*os_);
    Json fill = Json::object();
    for (const fill_level_t &level : report.levels)
        fill["bp_to_level_" + std::to_string(level.level)] = coded_runs(level.fills);
    std::map<uint64_t, uint64_t> blocks;
    for (const auto &[dnodes, count] : report.level0)
        blocks[dnodes] += count;
    Json &hist = fill["bp_to_level_0_hist"] = Json::object();
    for (const auto &[dnodes, count] : blocks)
        hist[std::to_string(dnodes)] = count;
    fill["bp_to_level_0_holes"] = report.level0_holes;
    if (level0)
        fill["bp_to_level_0"] = coded_runs(report.level0);

    Json state;
    state["mdn"] = {{"phys_nlevels", report.phys_nlevels},
                    {"phys_maxblkid", report.phys_maxblkid},
                    {"dn_maxblkid", mdn.dn_maxblkid},
                    {"dn_nlevels", mdn.dn_nlevels},
                    {"indblkshift", mdn.dn_indblkshift},
                    {"datablkshift", mdn.dn_datablkshift},
                    {"nblkptr", mdn.dn_nblkptr}};
    state["usedobjs"] = report.used_objects;
    state["fill"] = std::move(fill);
    return state;
}

} // namespace analysis
