// Replay of single operations on directories of six sizes, and of creates step by step.
//
// The recording made a directory of each size, and for each operation synced, measured the first call, and then the
// mean of 64 calls in the same open txg. Which names were drawn for those is not recorded. Their number of digits shows
// in one count, so the names here have the same; which leaf they fall into decides whether that leaf and the indirect
// block above it are dirty already. So the calls are sorted by what they found (leaf clean or dirty, indirect block
// clean or dirty, leaf to be split), and the model's counts of each sort are mixed in the recorded shares: those that
// give the recorded counts of os_lock, of splits, of entries moved by them, and of buffers taken up that were clean.
// Everything else must then be equal.
#include "analysis/conform_zap_profile.h"

#include "analysis/conform_counts.h"
#include "analysis/conform_zap_bed.h"

#include "model/dmu.h"
#include "model/zap.h"
#include "model/zap_report.h"

#include <array>
#include <optional>

namespace analysis {

namespace {

constexpr uint64_t calls_a_mean = 64;

// What a call found, as its own counts tell: how many dnode_setdirty it took, whether the leaf was split, how many
// buffers were clean and not in use.
using Sort = std::array<int64_t, 3>;

int64_t at(const std::map<std::string, int64_t> &counts, const char *name)
{
    const auto found = counts.find(name);
    return found == counts.end() ? 0 : found->second;
}

Sort sort_of(const Counts &counts)
{
    return {at(counts.mutex, "os_lock"), counts.function("zap_expand_leaf"), counts.function("arc_buf_add_ref")};
}

// How many entries a split moves depends on their hashes: what one more counts, of three chunks each.
const Counts &moved_entry()
{
    static const Counts one = [] {
        Counts counts;
        counts.fn = {{"zap_leaf_transfer_entry", 1},
                     {"zap_leaf_transfer_array", 2},
                     {"zap_leaf_chunk_alloc", 3},
                     {"zap_leaf_chunk_free", 3}};
        return counts;
    }();
    return one;
}

// Without what depends on the name's length and on the entries moved.
Counts typical(Counts counts)
{
    counts.fn.erase("ldv");
    counts.add_times(moved_entry(), -counts.function("zap_leaf_transfer_entry"));
    return counts;
}

// Sixty-four calls: their sum, and by sort how many there were and what one of them counts.
struct Mean {
    struct Part {
        int64_t calls = 0;
        Counts each;
    };
    Counts sum;
    std::map<Sort, Part> parts;

    // `changing` is the part of the call whose sort depends on the name; elsewhere the call itself.
    void add(const Counts &whole, const Counts &changing)
    {
        sum += whole;
        Part &part = parts[sort_of(changing)];
        ++part.calls;
        part.each = typical(changing);
    }
    void know(const Counts &changing) { parts[sort_of(changing)].each = typical(changing); }
};

// The sum of 64 calls in other shares, with as many entries moved by splits as were recorded.
Counts mixed(const Mean &mean, const std::vector<int64_t> &shares, const Json &profile)
{
    Counts sum = mean.sum;
    sum.add_times(moved_entry(), recorded_count(profile, "fn", "zap_leaf_transfer_entry", calls_a_mean) -
                                     sum.function("zap_leaf_transfer_entry"));
    size_t i = 0;
    for (const auto &[sort, part] : mean.parts)
        sum.add_times(part.each, shares[i++] - part.calls);
    return sum;
}

// The shares in which the recorded calls must have come: every combination that gives the recorded counts is tried, and
// the one that leaves the fewest differences taken.
std::optional<std::vector<int64_t>> recorded_shares(const Mean &mean, const Json &profile)
{
    const Sort recorded = {recorded_count(profile, "mutex", "os_lock@dnode.c", calls_a_mean),
                           recorded_count(profile, "fn", "zap_expand_leaf", calls_a_mean),
                           recorded_count(profile, "fn", "arc_buf_add_ref", calls_a_mean)};
    Sort left = recorded;
    const Sort own = sort_of(mean.sum);
    for (size_t i = 0; i < left.size(); ++i)
        left[i] -= own[i]; // what the rest of the call counts stays
    for (const auto &[sort, part] : mean.parts)
        for (size_t i = 0; i < left.size(); ++i)
            left[i] += sort[i] * part.calls;

    std::optional<std::vector<int64_t>> best;
    uint64_t fewest = UINT64_MAX;
    std::vector<int64_t> shares;
    const auto choose = [&](const auto &self, auto next, int64_t calls, Sort rest) -> void {
        if (next == mean.parts.end()) {
            if (calls != 0 || rest != Sort{})
                return;
            const uint64_t differences = profile_differences(profile, mixed(mean, shares, profile), calls_a_mean);
            if (differences < fewest) {
                fewest = differences;
                best = shares;
            }
            return;
        }
        for (int64_t share = 0; share <= calls; ++share) {
            shares.push_back(share);
            self(self, std::next(next), calls - share, rest);
            shares.pop_back();
            for (size_t i = 0; i < rest.size(); ++i) {
                rest[i] -= next->first[i];
                if (rest[i] < 0)
                    return;
            }
        }
    };
    choose(choose, mean.parts.begin(), static_cast<int64_t>(calls_a_mean), left);
    return best;
}

class OpReplay {
public:
    OpReplay(ZapBed &bed, Comparison &comparison) : bed_(bed), comparison_(comparison) {}
    ~OpReplay() noexcept(false) { held_.rele(); }

    void replay(const Json &recorded, size_t index);

private:
    void begin_directory(uint64_t entries);
    void operation(const Json &recorded, const std::string &op, bool mean);
    Counts one_call(const std::string &op, const std::string &name);
    std::string name_of(const std::string &op, bool mean, uint64_t i) const;
    void learn_dirty_leaf(const std::string &op, const std::string &name, Mean &mean);

    void create(const Json &recorded, size_t step, bool mean);
    std::string first_name(const Json &profile, size_t step);
    Counts create_once(size_t step, const std::string &name, Counts *by_name);

    void compare(const Json &recorded, const Mean &mean);

    ZapBed &bed_;
    Comparison &comparison_;
    uint64_t dir_ = 0;
    uint64_t entries_ = 0;
    dmu::dnode_hold_t held_; // somebody has the directory open
};

constexpr std::array<const char *, 8> create_steps = {"create: dmu_tx_create",
                                                      "create: dmu_tx_hold_zap(dir,TRUE,name)",
                                                      "create: dmu_tx_hold_bonus(DMU_NEW_OBJECT)",
                                                      "create: dmu_tx_assign",
                                                      "create: dmu_object_alloc",
                                                      "create: zap_add",
                                                      "create: dmu_tx_commit",
                                                      "create: whole"};
constexpr size_t whole_create = create_steps.size() - 1;
constexpr size_t create_hold_zap = 1;
constexpr size_t create_zap_add = 5;

void OpReplay::begin_directory(uint64_t entries)
{
    held_.rele();
    dir_ = bed_.create_zap();
    entries_ = entries;
    bed_.transact_each(dir_, 0, entries, [&](dmu::dmu_tx_t &tx, uint64_t i) {
        const uint64_t value = i + 1;
        auto added = dmu::zap_add(bed_.os(), dir_, f_name(i), {8, 1, &value}, tx);
        VERIFY(added.ok());
    });
    auto held = dmu::dnode_hold(bed_.os(), dir_);
    VERIFY(held.ok());
    held_ = std::move(*held);
}

// Existing names in an order that jumps over the leaves; new ones of as many characters as the recorded ones had.
std::string OpReplay::name_of(const std::string &op, bool mean, uint64_t i) const
{
    constexpr uint64_t stride = 7919;
    if (op == "zap_add" || op == "zap_remove")
        return (mean ? "new-" : "fst-") + std::to_string(i);
    if (op.find("missing") != std::string::npos || op.find("(add)") != std::string::npos)
        return "mis-" + std::to_string(i);
    return f_name((i + 1) * stride % entries_);
}

Counts OpReplay::one_call(const std::string &op, const std::string &name)
{
    dmu::objset_t &os = bed_.os();
    const std::string_view view = name;
    const bool add = op.find("(add)") != std::string::npos;
    uint64_t value = 7, towrite = 0, tooverwrite = 0;
    if (op == "zap_lookup" || op == "zap_lookup_missing")
        return count(os, dir_, [&] { std::ignore = dmu::zap_lookup(os, dir_, name, 8, 1, &value); });
    if (op == "zap_lookup_by_dnode")
        return count(os, dir_, [&] { std::ignore = dmu::zap_lookup_by_dnode(*held_, name, 8, 1, &value); });
    if (op.starts_with("zap_count_write("))
        return count(os, dir_, [&] { std::ignore = dmu::zap_count_write(os, dir_, &view, add, towrite, tooverwrite); });
    if (op.starts_with("zap_count_write_by_dnode("))
        return count(os, dir_,
                     [&] { std::ignore = dmu::zap_count_write_by_dnode(*held_, &view, add, towrite, tooverwrite); });
    if (op.starts_with("dmu_tx_hold_zap(")) {
        auto tx = dmu::dmu_tx_create(os);
        const Counts counts = count(os, dir_, [&] { dmu::dmu_tx_hold_zap(*tx, dir_, add, &view); });
        dmu::dmu_tx_abort(std::move(tx));
        return counts;
    }
    Counts counts;
    bed_.transact(dir_, [&](dmu::dmu_tx_t &tx) {
        counts = count(os, dir_, [&] {
            dmu::Result<> done;
            if (op == "zap_update_existing")
                done = dmu::zap_update(os, dir_, name, {8, 1, &value}, tx);
            else if (op == "zap_add")
                done = dmu::zap_add(os, dir_, name, {8, 1, &value}, tx);
            else if (op == "zap_remove")
                done = dmu::zap_remove(os, dir_, name, tx);
            else
                throw BadTrace("cases.op", "\"" + op + "\" is no known operation");
            VERIFY(done.ok());
        });
    });
    return counts;
}

// A change in a leaf that is dirty already, since that need not have happened among the 64: in the leaf of `name`.
void OpReplay::learn_dirty_leaf(const std::string &op, const std::string &name, Mean &mean)
{
    if (op == "zap_update_existing") {
        mean.know(one_call(op, name));
        return;
    }
    const uint64_t leaf = dmu::zap_place(bed_.os(), dir_, name).leaf_blkid;
    for (uint64_t i = 0;; ++i) { // one in as many as there are leaves
        const std::string other = "more" + std::to_string(i);
        if (dmu::zap_place(bed_.os(), dir_, other).leaf_blkid != leaf)
            continue;
        const Counts added = one_call("zap_add", other);
        const Counts removed = one_call("zap_remove", other);
        mean.know(op == "zap_remove" ? removed : added);
        return;
    }
}

void OpReplay::compare(const Json &recorded, const Mean &mean)
{
    const Json &profile = field(recorded, "cases", "profile");
    const auto shares = mean.parts.size() > 1 ? recorded_shares(mean, profile) : std::nullopt;
    compare_profile(profile, shares ? mixed(mean, *shares, profile) : mean.sum, calls_a_mean, comparison_);
}

void OpReplay::operation(const Json &recorded, const std::string &op, bool mean)
{
    if (!mean) {
        bed_.sync();
        compare_profile(field(recorded, "cases", "profile"), one_call(op, name_of(op, false, 0)), 1, comparison_);
        return;
    }
    const bool changes = op == "zap_update_existing" || op == "zap_add" || op == "zap_remove";
    const bool fat = !dmu::zap_shape(bed_.os(), dir_).micro;
    Mean calls;
    for (uint64_t i = 0; i < calls_a_mean; ++i) {
        const Counts counts = one_call(op, name_of(op, true, i));
        calls.add(counts, changes && fat ? counts : Counts());
    }
    if (changes && fat)
        learn_dirty_leaf(op, name_of(op, true, calls_a_mean - 1), calls);
    compare(recorded, calls);
}

// One create of the recorded sequence; the counts of one step, or of all. by_name: the part that depends on the name.
Counts OpReplay::create_once(size_t step, const std::string &name, Counts *by_name)
{
    dmu::objset_t &os = bed_.os();
    const std::string_view view = name;
    std::array<Counts, create_steps.size()> counts;
    const auto measure = [&](size_t which, const std::function<void()> &call) {
        if (which == step || which == create_zap_add || which == create_hold_zap)
            counts[which] = count(os, dir_, call);
        else
            call();
    };
    const auto whole = [&] {
        dmu::dmu_tx_ptr tx;
        uint64_t object = 0;
        measure(0, [&] { tx = dmu::dmu_tx_create(os); });
        measure(1, [&] { dmu::dmu_tx_hold_zap(*tx, dir_, true, &view); });
        measure(2, [&] { dmu::dmu_tx_hold_bonus(*tx, dmu::DMU_NEW_OBJECT); });
        measure(3, [&] { VERIFY(dmu::dmu_tx_assign(*tx, dmu::TXG_WAIT).ok()); });
        measure(4, [&] {
            dmu::dnode_spec spec;
            spec.type = dmu::DMU_OT_PLAIN_FILE_CONTENTS;
            spec.bonustype = dmu::DMU_OT_SA;
            spec.bonuslen = 168;
            object = dmu::dmu_object_alloc(os, spec, *tx);
        });
        measure(create_zap_add, [&] { VERIFY(dmu::zap_add(os, dir_, name, {8, 1, &object}, *tx).ok()); });
        measure(6, [&] { dmu::dmu_tx_commit(std::move(tx)); });
    };
    if (step == whole_create)
        counts[whole_create] = count(os, dir_, whole);
    else
        whole();
    if (by_name != nullptr) {
        *by_name = step == create_zap_add ? Counts() : counts[create_hold_zap];
        if (step != create_hold_zap)
            *by_name += counts[create_zap_add];
    }
    return counts[step];
}

// The name of a create that is measured alone: into a leaf that is as clean as the recorded one was, and so its
// indirect block. Both show in the number of dnode_setdirty; allocating the object takes two of the whole create's.
std::string OpReplay::first_name(const Json &profile, size_t step)
{
    const std::string ending = std::to_string(step);
    if ((step != create_zap_add && step != whole_create) || dmu::zap_shape(bed_.os(), dir_).micro)
        return "first-" + ending;
    const int64_t wanted = recorded_count(profile, "mutex", "os_lock@dnode.c", 1) - (step == whole_create ? 2 : 0);
    for (char letter = 'a'; letter <= 'z'; ++letter) {
        const std::string name = std::string("firs") + letter + "-" + ending;
        auto leaf = dmu::dmu_buf_hold_noread_by_dnode(*held_, dmu::zap_place(bed_.os(), dir_, name).leaf_blkid
                                                                  << dmu::fzap_default_block_shift);
        VERIFY(leaf.ok());
        const dmu::dmu_buf_impl_t &db = **leaf;
        const bool clean = db.db_last_dirty == nullptr;
        const bool above_clean = db.db_parent != nullptr && db.db_parent->db_last_dirty == nullptr;
        if ((clean ? 1 : 0) + (clean && above_clean ? 1 : 0) == wanted)
            return name;
    }
    return "first-" + ending;
}

void OpReplay::create(const Json &recorded, size_t step, bool mean)
{
    if (!mean) {
        if (step == 0)
            bed_.sync();
        const Json &profile = field(recorded, "cases", "profile");
        compare_profile(profile, create_once(step, first_name(profile, step), nullptr), 1, comparison_);
        return;
    }
    const bool depends = step == create_hold_zap || step == create_zap_add || step == whole_create;
    const bool fat = !dmu::zap_shape(bed_.os(), dir_).micro;
    Mean calls;
    for (uint64_t i = 0; i < calls_a_mean; ++i) {
        Counts by_name;
        const Counts counts = create_once(step, "mean" + std::to_string(step) + "-" + std::to_string(i), &by_name);
        calls.add(counts, depends && fat ? by_name : Counts());
    }
    compare(recorded, calls);
}

void OpReplay::replay(const Json &recorded, size_t index)
{
    const std::string &op = text_field(recorded, "cases", "op");
    const std::string &which = text_field(recorded, "cases", "case");
    const uint64_t entries = number_field(recorded, "cases", "dir_entries");
    const bool mean = number_field(recorded, "cases", "calls_averaged") == calls_a_mean;
    comparison_.step(index, op + ", " + which + ", " + std::to_string(entries) + " entries");
    if (entries != entries_)
        begin_directory(entries);
    for (size_t step = 0; step < create_steps.size(); ++step)
        if (op == create_steps[step])
            return create(recorded, step, mean);
    operation(recorded, op, mean);
}

} // namespace

void replay_op_profile(const Json &trace, Comparison &comparison)
{
    replay_cases<OpReplay>(trace, comparison);
    comparison.note(
        "means over drawn names: the model's counts for clean and dirty leaves and indirect blocks, and for "
        "splits, in the shares that give the recorded os_lock count");
    note_left_out(comparison);
}

} // namespace analysis
