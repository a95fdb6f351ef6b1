// Replay of holds of blocks of sparse objects, of the states of one block and its parent over a scripted sequence, and
// of the counts of single reads, holds and releases.
//
// The recordings come from one thread and an objset of type OTHER whose objects have three block pointers. Where time
// plays a part the recording's own times are an input: the replay lets as much pass. When the ARC last counted an
// access is compared as changed or not since the event before, since the real clock's origin means nothing.
#include "analysis/conform_dbuf.h"

#include "analysis/conform_counts.h"
#include "analysis/conform_zap_bed.h"

#include "model/dbuf_report.h"
#include "model/dmu.h"
#include "model/dmu_state.h"
#include "model/txg.h"

#include <charconv>
#include <cmath>
#include <map>

namespace analysis {

namespace {

// An object whose contents do not matter.
uint64_t create_object(ZapBed &bed, uint64_t recordsize)
{
    uint64_t object = 0;
    bed.transact(0, [&](dmu::dmu_tx_t &tx) {
        dmu::dnode_spec spec;
        spec.type = dmu::DMU_OT_PLAIN_FILE_CONTENTS; // opaque: petabytes are a few blocks
        spec.blocksize = static_cast<uint32_t>(recordsize);
        object = dmu::dmu_object_alloc(bed.os(), spec, tx);
    });
    return object;
}

dmu::dmu_tx_ptr assigned_write(ZapBed &bed, uint64_t object, uint64_t offset, uint64_t size)
{
    auto tx = dmu::dmu_tx_create(bed.os());
    dmu::dmu_tx_hold_write(*tx, object, offset, size);
    auto assigned = dmu::dmu_tx_assign(*tx, dmu::TXG_WAIT);
    VERIFY(assigned.ok());
    return tx;
}

void write(ZapBed &bed, uint64_t object, uint64_t offset, uint64_t size)
{
    auto tx = assigned_write(bed, object, offset, size);
    auto written = dmu::dmu_write(bed.os(), object, offset, size, nullptr, *tx);
    VERIFY(written.ok());
    dmu::dmu_tx_commit(std::move(tx));
}

void read(ZapBed &bed, uint64_t object, uint64_t offset, uint64_t size)
{
    auto done = dmu::dmu_read(bed.os(), object, offset, size, nullptr);
    VERIFY(done.ok());
}

dmu::dbuf_hold_t hold(dmu::dnode_t &dn, uint64_t blkid)
{
    auto reader = dmu::rw_enter(dn.dn_struct_rwlock, dmu::RW_READER);
    return dmu::dbuf_hold(dn, blkid);
}

// ---- dbuf_depth ----

class DepthReplay {
public:
    DepthReplay(ZapBed &bed, Comparison &comparison) : bed_(bed), comparison_(comparison) {}

    void replay(const Json &recorded, size_t index);

private:
    Json holding(uint64_t object, uint64_t blkid);
    uint64_t frames(const Counts &counts) const;

    ZapBed &bed_;
    Comparison &comparison_;
};

// Levels of the recursion. In code that keeps them on the heap, the function that is entered once a level has its own
// name.
uint64_t DepthReplay::frames(const Counts &counts) const
{
    const int64_t on_heap = counts.function("dbuf_hold_impl_arg");
    return static_cast<uint64_t>(on_heap != 0 ? on_heap : counts.function("dbuf_hold_impl"));
}

Json DepthReplay::holding(uint64_t object, uint64_t blkid)
{
    auto dn = dmu::dnode_hold(bed_.os(), object);
    VERIFY(dn.ok());
    dmu::dbuf_hold_t held;
    const Counts counts = count(bed_.os(), object, [&] { held = hold(**dn, blkid); });
    VERIFY(held);
    held.rele();
    const auto acquired = [](const std::map<std::string, int64_t> &locks, const char *name) {
        const auto found = locks.find(name);
        return found == locks.end() ? 0 : found->second;
    };
    return {{"frames", frames(counts)},
            {"depth", frames(counts)}, // each level is entered from the one below
            {"kmem_allocs_for_hold_args", counts.function("dbuf_hold_arg_create")},
            {"dbuf_find", counts.function("dbuf_find")},
            {"dbuf_create", counts.function("dbuf_create")},
            {"dbuf_read", counts.function("dbuf_read")},
            {"arc_buf_access", counts.function("arc_buf_access")},
            {"arc_read", counts.function("arc_read")},
            {"rw_dn_struct", acquired(counts.read, "dn_struct_rwlock")},
            {"mutex_db_mtx", acquired(counts.mutex, "db_mtx")},
            {"mutex_hash", acquired(counts.mutex, "hash_mutexes")}};
}

void DepthReplay::replay(const Json &recorded, size_t index)
{
    const std::string path = "cases." + std::to_string(index);
    const uint64_t recordsize = number_field(recorded, path, "recordsize");
    const uint64_t log2_size = number_field(recorded, path, "log2_size");
    if (recordsize < 512 || recordsize > (16 << 20) || (recordsize & (recordsize - 1)) != 0)
        throw BadTrace(path + ".recordsize", "not a power of two from 512 to 16777216");
    if (log2_size > 63 || (1ull << log2_size) < recordsize)
        throw BadTrace(path + ".log2_size", "not a size from one record to 2^63 bytes");
    comparison_.step(index, "recordsize " + std::to_string(recordsize) + ", 2^" + std::to_string(log2_size) + " bytes");

    const uint64_t offset = (1ull << log2_size) - recordsize;
    const uint64_t object = create_object(bed_, recordsize);
    write(bed_, object, offset, recordsize);
    bed_.sync();
    uint64_t blkid = 0;
    {
        auto dn = dmu::dnode_hold(bed_.os(), object);
        VERIFY(dn.ok());
        blkid = dmu::dbuf_whichblock(**dn, 0, offset);
        comparison_.equal("nlevels", field(recorded, path, "nlevels"), (*dn)->dn_nlevels);
        comparison_.equal("nblkptr", field(recorded, path, "nblkptr"), (*dn)->dn_nblkptr);
        comparison_.equal("indblkshift", field(recorded, path, "indblkshift"), (*dn)->dn_indblkshift);
        comparison_.equal("blkid", field(recorded, path, "blkid"), blkid);
    }
    bed_.reopen();
    comparison_.equal("uncached", field(recorded, path, "uncached"), holding(object, blkid));
    read(bed_, object, offset, recordsize);
    comparison_.equal("cached", field(recorded, path, "cached"), holding(object, blkid));
    if (recorded.contains("hole_block0_uncached")) {
        bed_.reopen();
        comparison_.equal("hole_block0_uncached", recorded["hole_block0_uncached"], holding(object, 0));
        read(bed_, object, offset, recordsize);
    }
    const Counts counts = count(bed_.os(), object, [&] { read(bed_, object, offset, recordsize); });
    comparison_.equal("dmu_read_cached", field(recorded, path, "dmu_read_cached"),
                      {{"dbuf_hold_impl", frames(counts)},
                       {"kmem_allocs_for_hold_args", counts.function("dbuf_hold_arg_create")},
                       {"all_kmem", counts.function("kmem_alloc")}});
}

// ---- dbuf_states ----

constexpr uint64_t state_recordsize = 8 << 10;
constexpr uint64_t state_blocks = 10; // written at first; the block that is looked at is the second

class StatesReplay {
public:
    StatesReplay(ZapBed &bed, Comparison &comparison) : bed_(bed), comparison_(comparison) {}

    void replay(const Json &event, size_t index);
    ~StatesReplay() noexcept(false) { held_.clear(); }

private:
    void act(const std::string &event, const std::string &path);
    void compare(const Json &event, const std::string &path, uint64_t level, uint64_t blkid);

    ZapBed &bed_;
    Comparison &comparison_;
    uint64_t object_ = 0;
    std::string last_event_;
    dmu::dmu_tx_ptr tx_;
    dmu::dnode_hold_t dn_;
    std::vector<dmu::dbuf_hold_t> held_;
    struct Access {
        int64_t recorded = 0, got = 0;
    };
    std::map<std::pair<uint64_t, uint64_t>, Access> accesses_; // by level and block
};

void StatesReplay::act(const std::string &event, const std::string &path)
{
    const auto begins = [&](const char *text) { return event.starts_with(text); };
    const auto overwrite = [&] {
        tx_ = assigned_write(bed_, object_, state_recordsize, state_recordsize);
        auto written = dmu::dmu_write(bed_.os(), object_, state_recordsize, state_recordsize, nullptr, *tx_);
        VERIFY(written.ok());
    };
    if (begins("after dmu_write of 10 blocks")) {
        object_ = create_object(bed_, state_recordsize);
        bed_.sync();
        tx_ = assigned_write(bed_, object_, 0, state_blocks * state_recordsize);
        auto written = dmu::dmu_write(bed_.os(), object_, 0, state_blocks * state_recordsize, nullptr, *tx_);
        VERIFY(written.ok());
    } else if (begins("after commit")) {
        dmu::dmu_tx_commit(std::move(tx_));
    } else if (begins("after txg_wait_synced")) {
        bed_.sync();
    } else if (begins("after sync of the overwrite")) {
        dmu::dmu_tx_commit(std::move(tx_));
        bed_.sync();
    } else if (begins("overwritten in open txg")) {
        overwrite();
    } else if (begins("objset disowned")) {
        bed_.reopen();
    } else if (begins("after arc_flush")) {
        bed_.reopen();
        dmu::arc_flush(bed_.os().os_dmu);
        read(bed_, object_, state_recordsize, state_recordsize);
    } else if (begins("dmu_read")) {
        read(bed_, object_, state_recordsize, state_recordsize);
    } else if (begins("dbuf_hold") || begins("second dbuf_hold")) {
        if (!dn_)
            dn_ = std::move(*dmu::dnode_hold(bed_.os(), object_));
        held_.push_back(hold(*dn_, 1));
    } else if (begins("one dbuf_rele") || begins("last dbuf_rele")) {
        if (held_.empty())
            throw BadTrace(path + ".event", "nothing is held here");
        held_.pop_back();
        if (held_.empty())
            dn_.rele();
    } else {
        throw BadTrace(path + ".event", "\"" + event + "\" is no known step");
    }
}

void StatesReplay::compare(const Json &event, const std::string &path, uint64_t level, uint64_t blkid)
{
    const auto row = dmu::dbuf_row(bed_.os(), object_, static_cast<uint32_t>(level), blkid);
    if (event.contains("dbuf") && event["dbuf"].is_null()) {
        comparison_.equal("dbuf", nullptr, row ? Json("there is one") : Json(nullptr));
        accesses_.erase({level, blkid});
        return;
    }
    if (!row) {
        comparison_.equal("dbuf", "there is one", nullptr);
        return;
    }
    const std::pair<const char *, Json> fields[] = {
        {"db_state", dmu::dbuf_state_name(row->db_state)},
        {"holds", row->db_holds},
        {"dirtycnt", row->db_dirtycnt},
        {"arc_state", dmu::arc_state_name(row->arc_state)},
        {"b_mru_hits", row->mru_hits},
        {"b_mfu_hits", row->mfu_hits},
        {"arc_hdr_refcnt", row->arc_holds},
        {"caching_status", dmu::dbuf_caching_status_name(row->db_caching_status)},
        {"in_cache_list", row->in_cache_list ? 1 : 0}};
    for (const auto &[name, got] : fields)
        comparison_.equal(name, field(event, path, name), got);
    // 0 is no time: the buffer is anonymous. Other values are compared by whether they changed.
    Access now{static_cast<int64_t>(number_field(event, path, "b_arc_access_lbolt")), row->b_arc_access_ns};
    comparison_.equal("b_arc_access_lbolt is 0", now.recorded == 0, now.got == 0);
    const auto before = accesses_.find({level, blkid});
    if (before != accesses_.end())
        comparison_.equal("b_arc_access_lbolt changed", now.recorded != before->second.recorded,
                          now.got != before->second.got);
    accesses_[{level, blkid}] = now;
}

void StatesReplay::replay(const Json &event, size_t index)
{
    const std::string path = "events." + std::to_string(index);
    const std::string &what = text_field(event, path, "event");
    const Json &t_ms = field(event, path, "t_ms");
    if (!t_ms.is_number() || t_ms.get<double>() < 0 || t_ms.get<double>() > 1e9)
        throw BadTrace(path + ".t_ms", "not a number of milliseconds from 0 on");
    comparison_.step(index, what);
    // One action may be looked at twice, at both levels.
    if (what != last_event_) {
        const int64_t at_ns = std::llround(t_ms.get<double>() * 1e6);
        dmu::delay_until(dmu::hrtime_t{} + dmu::nanoseconds(at_ns));
        act(what, path);
        last_event_ = what;
    }
    compare(event, path, number_field(event, path, "level"), number_field(event, path, "blkid"));
}

// ---- read_profile ----

constexpr uint64_t profile_recordsize = 8 << 10;
constexpr uint64_t profile_file = 8 << 20; // bytes of the file that is read

class ProfileReplay {
public:
    ProfileReplay(ZapBed &bed, Comparison &comparison) : bed_(bed), comparison_(comparison) {}
    ~ProfileReplay() noexcept(false)
    {
        held_.clear();
        dn_.rele();
    }

    void replay(const Json &recorded, size_t index);

private:
    void prepare();
    uint64_t object_in_slot(uint64_t slot) const;
    void rewrite_dnode(uint64_t object);
    Counts call(const std::string &op, const std::string &which, const Json &profile, const std::string &path);

    ZapBed &bed_;
    Comparison &comparison_;
    uint64_t file_ = 0;
    uint64_t last_object_ = 0; // in slot 1 of a block of dnodes that nobody holds; one in each slot before it
    uint32_t blocksize_ = 512; // of the object that was rewritten last
    uint64_t next_offset_ = 0; // of a read that continues none before it
    dmu::dnode_hold_t dn_;
    std::vector<dmu::dbuf_hold_t> held_;
};

void ProfileReplay::prepare()
{
    file_ = create_object(bed_, profile_recordsize);
    do
        last_object_ = create_object(bed_, 512);
    while (last_object_ < 2 * dmu::DNODES_PER_BLOCK || last_object_ % dmu::DNODES_PER_BLOCK != 1);
    write(bed_, file_, 0, profile_file);
    bed_.sync();
}

// In the block of dnodes of the file, which is held by the file's dnode; for slot 1, in one that nobody holds.
uint64_t ProfileReplay::object_in_slot(uint64_t slot) const
{
    return slot == 1 ? last_object_ : file_ / dmu::DNODES_PER_BLOCK * dmu::DNODES_PER_BLOCK + slot;
}

// Its block is on disk anew, and so in mru.
void ProfileReplay::rewrite_dnode(uint64_t object)
{
    blocksize_ += 512;
    auto tx = dmu::dmu_tx_create(bed_.os());
    dmu::dmu_tx_hold_bonus(*tx, object);
    auto assigned = dmu::dmu_tx_assign(*tx, dmu::TXG_WAIT);
    VERIFY(assigned.ok());
    auto resized = dmu::dmu_object_set_blocksize(bed_.os(), object, blocksize_, 0, *tx);
    VERIFY(resized.ok());
    dmu::dmu_tx_commit(std::move(tx));
    bed_.sync();
}

// Which bytes a read begins with is not recorded, but whether it passed the prefetcher's lock: not at the first block.
// Nor is the time since the last look at a block, but whether it had been long enough for the block to become mfu.
Counts ProfileReplay::call(const std::string &op, const std::string &which, const Json &profile,
                           const std::string &path)
{
    dmu::objset_t &os = bed_.os();
    const bool aged = recorded_count(profile, "fn", "arc_change_state", 1) != 0;
    const auto settle_down = [&] { dmu::delay(dmu::milliseconds(aged ? 1000 : 0)); };
    if (op == "dmu_read") {
        uint64_t size = 0;
        const char *digits = which.c_str() + which.find_first_of("0123456789");
        std::from_chars(digits, which.c_str() + which.size(), size);
        if (size == 0 || size > profile_file / 4)
            throw BadTrace(path + ".case", "\"" + which + "\" names no size of a read");
        uint64_t offset = 0;
        if (recorded_count(profile, "mutex", "zf_lock@dmu_zfetch.c", 1) != 0)
            offset = next_offset_ = (next_offset_ + profile_file / 4) % profile_file;
        settle_down();
        return count(os, file_, [&] { read(bed_, file_, offset, size); });
    }
    if (op == "dbuf_hold") {
        if (!dn_)
            dn_ = std::move(*dmu::dnode_hold(os, file_));
        return count(os, file_, [&] { held_.push_back(hold(*dn_, 1)); });
    }
    if (op == "dbuf_rele") {
        if (held_.empty())
            throw BadTrace(path + ".op", "nothing is held here");
        const Counts counts = count(os, file_, [&] { held_.pop_back(); });
        if (held_.empty())
            dn_.rele();
        return counts;
    }
    if (op == "dnode_hold") {
        const size_t slot_at = which.find("slot ");
        uint64_t object = file_;
        if (slot_at != std::string::npos) {
            uint64_t slot = 0;
            std::from_chars(which.c_str() + slot_at + 5, which.c_str() + which.size(), slot);
            if (slot >= dmu::DNODES_PER_BLOCK)
                throw BadTrace(path + ".case", "\"" + which + "\" names no slot of a block of dnodes");
            object = object_in_slot(slot);
            if (aged)
                rewrite_dnode(object);
            for (int i = 0; i < 2; ++i) // its dnode_t is there, and its block the last of a stream
                VERIFY(dmu::dnode_hold(os, object).ok());
            settle_down();
        }
        return count(os, object, [&] { dn_ = std::move(*dmu::dnode_hold(os, object)); });
    }
    if (op == "dnode_rele")
        return count(os, file_, [&] { dn_.rele(); });
    throw BadTrace(path + ".op", "\"" + op + "\" is no known operation");
}

void ProfileReplay::replay(const Json &recorded, size_t index)
{
    const std::string path = "cases." + std::to_string(index);
    if (file_ == 0)
        prepare();
    const std::string &op = text_field(recorded, path, "op");
    const std::string &which = text_field(recorded, path, "case");
    comparison_.step(index, op + ", " + which);
    const Json &profile = field(recorded, path, "profile");
    compare_profile(profile, call(op, which, profile, path), 1, comparison_);
    if (op == "dnode_hold" && which.find("slot") != std::string::npos)
        dn_.rele();
}

} // namespace

void replay_dbuf_depth(const Json &trace, Comparison &comparison)
{
    replay_cases<DepthReplay>(trace, comparison);
}

void replay_dbuf_states(const Json &trace, Comparison &comparison)
{
    in_zap_bed(text_field(trace, "", "tree"), 1, [&](ZapBed &bed) {
        StatesReplay replay(bed, comparison);
        size_t index = 0;
        for (const Json &event : list_field(trace, "", "events"))
            replay.replay(event, index++);
    });
    comparison.note(
        "t_ms is an input: the replay lets that much time pass. b_arc_access_lbolt is compared as changed or "
        "not since the event before, and as 0 or not");
}

void replay_read_profile(const Json &trace, Comparison &comparison)
{
    replay_cases<ProfileReplay>(trace, comparison);
    comparison.note("inputs: whether a read begins at the file's first block (zf_lock), and whether the block had been "
                    "looked at long enough before (arc_change_state)");
    note_left_out(comparison);
}

} // namespace analysis
