// Replay of dmu_tx_hold_zap in every shape of a directory, and of the adds that change the shape.
//
// The recording made seven directories, one after the other, filled each with f00000000, f00000001, ... and put the
// same questions to it; the object number and the entries of each case say which directory it is. A case is named by a
// sentence, of which the words "add", "remove", "existing", "new", "missing" and "NULL" are what was asked. Which
// existing name was asked for is not recorded and only matters while the pointer table grows: there its side of the
// table is taken from the number of dbufs that were made.
#include "analysis/conform_zap_profile.h"

#include "analysis/conform_counts.h"
#include "analysis/conform_zap_bed.h"

#include "model/zap.h"
#include "model/zap_hash.h"
#include "model/zap_report.h"

#include <map>
#include <optional>

namespace analysis {

namespace {

class HoldReplay {
public:
    HoldReplay(ZapBed &bed, Comparison &comparison) : bed_(bed), comparison_(comparison) {}

    void replay(const Json &recorded, size_t index);

private:
    struct Directory {
        uint64_t entries = 0;
    };

    uint64_t directory_of(const Json &recorded);
    void fill(uint64_t object, uint64_t entries, bool leave_header_dirty);
    void hold(const Json &recorded, const std::string &sentence);
    void change(const Json &recorded, const std::string &sentence);
    std::string name_for(const Json &recorded, const std::string &sentence, uint64_t object);
    bool leaf_is_full(uint64_t object, const std::string &name);

    ZapBed &bed_;
    Comparison &comparison_;
    std::map<uint64_t, Directory> directories_;
};

bool says(const std::string &sentence, std::string_view word)
{
    return sentence.find(word) != std::string::npos;
}

// The directory by its object number, which the first recorded path names; the trace lists them in order.
uint64_t HoldReplay::directory_of(const Json &recorded)
{
    const Json &paths = list_field(field(recorded, "cases", "profile"), "cases.profile", "dnode_hold_paths");
    if (paths.empty())
        return 0;
    const uint64_t object = number_field(paths[0], "cases.profile.dnode_hold_paths", "object");
    while (directories_.size() < object)
        directories_[bed_.create_zap()] = {};
    if (!directories_.contains(object))
        throw BadTrace("cases.profile.dnode_hold_paths.object", "no directory of that number");
    return object;
}

// Up to `entries` names, and synced; or synced at the last full thousand only, as the recording did on its way to an
// event.
void HoldReplay::fill(uint64_t object, uint64_t entries, bool leave_header_dirty)
{
    Directory &directory = directories_[object];
    const auto add = [&](uint64_t until) {
        bed_.transact_each(object, directory.entries, until, [&](dmu::dmu_tx_t &tx, uint64_t i) {
            const uint64_t value = i + 1;
            auto added = dmu::zap_add(bed_.os(), object, f_name(i), {8, 1, &value}, tx);
            VERIFY(added.ok());
        });
        directory.entries = std::max(directory.entries, until);
    };
    constexpr uint64_t names_a_txg = 1000;
    if (const uint64_t synced = entries - entries % names_a_txg; leave_header_dirty && directory.entries < synced) {
        add(synced);
        bed_.sync();
    }
    add(entries);
    if (!leave_header_dirty)
        bed_.sync();
}

// A name that the recording drew, of which only the length is known: each character costs one ldv, and so do its
// terminator and the value. REQUIRES: the call made one entry, or upgraded entries of f-names and made one.
std::string name_of_length(const Json &recorded)
{
    constexpr int64_t calls_an_f_name = 11;
    const int64_t calls = recorded_count(recorded["profile"], "fn", "ldv", 1);
    const int64_t length = calls % calls_an_f_name - 2 + (calls % calls_an_f_name < 3 ? calls_an_f_name : 0);
    return std::string(static_cast<size_t>(length), 'x');
}

std::string HoldReplay::name_for(const Json &recorded, const std::string &sentence, uint64_t object)
{
    if (const size_t at = sentence.find("f00"); at != std::string::npos) // a name chosen for the leaf it falls into
        return sentence.substr(at, 9);
    if (says(sentence, "missing"))
        return "missing";
    if (says(sentence, "new name"))
        return f_name(directories_[object].entries);
    // An existing one, on the side of the table that was recorded.
    const bool made_dbufs = recorded["profile"].value("fn", Json::object()).contains("dbuf_create");
    for (uint64_t i = 0;; ++i) {
        const bool upper_half = dmu::zap_hash_bytes(1, f_name(i)) >> 63 != 0;
        if (upper_half == made_dbufs)
            return f_name(i);
    }
}

bool HoldReplay::leaf_is_full(uint64_t object, const std::string &name)
{
    constexpr uint64_t chunks_an_entry = 3; // names of up to 20 characters, one integer
    const uint64_t blkid = dmu::zap_place(bed_.os(), object, name).leaf_blkid;
    for (const dmu::zap_leaf_row_t &leaf : dmu::zap_leaf_rows(bed_.os(), object))
        if (leaf.blkid == blkid)
            return leaf.nfree < chunks_an_entry;
    return false;
}

void HoldReplay::hold(const Json &recorded, const std::string &sentence)
{
    const bool fresh = says(sentence, "DMU_NEW_OBJECT");
    const uint64_t object = fresh ? dmu::DMU_NEW_OBJECT : directory_of(recorded);
    const bool mid_grow = says(sentence, "mid-grow");
    if (!fresh && !mid_grow)
        fill(object, number_field(recorded, "cases", "dir_entries"), false);
    const std::string name = fresh || says(sentence, "NULL") ? std::string() : name_for(recorded, sentence, object);
    const std::string_view view = name;
    const bool add = says(sentence, "add") || fresh;

    auto tx = dmu::dmu_tx_create(bed_.os());
    const Counts counts =
        count(bed_.os(), object, [&] { dmu::dmu_tx_hold_zap(*tx, object, add, name.empty() ? nullptr : &view); });
    VERIFY3(tx->tx_err, ==, 0);
    const dmu::dmu_tx_hold_t &txh = tx->tx_holds[tx->tx_hold_count - 1];
    comparison_.equal("space_towrite", field(recorded, "cases", "space_towrite"), txh.txh_space_towrite);
    comparison_.equal("space_tooverwrite", field(recorded, "cases", "space_tooverwrite"), txh.txh_space_tooverwrite);
    comparison_.equal("space_tofree", field(recorded, "cases", "space_tofree"), txh.txh_space_tofree);
    comparison_.equal("space_tounref", field(recorded, "cases", "space_tounref"), txh.txh_space_tounref);
    dmu::dmu_tx_abort(std::move(tx));
    compare_profile(recorded["profile"], counts, 1, comparison_);
}

void HoldReplay::change(const Json &recorded, const std::string &sentence)
{
    const uint64_t object = directory_of(recorded);
    const uint64_t entries = number_field(recorded, "cases", "dir_entries");
    const std::string &state = text_field(recorded, "cases", "state");
    const bool looking = text_field(recorded, "cases", "op") == "zap_lookup";
    Directory &directory = directories_[object];

    std::string name;
    if (state == "clean") {
        fill(object, entries, false);
        // A split is provoked by the first of the coming names that falls into a full leaf.
        uint64_t next = directory.entries;
        if (says(sentence, "leaf split"))
            while (!leaf_is_full(object, f_name(next)))
                ++next;
        name = says(sentence, "upgrades to fat") ? name_of_length(recorded) : f_name(next);
        if (says(sentence, "upgrades to fat")) // the next directory had been made in the same txg
            directories_[bed_.create_zap()] = {};
    } else if (looking) {
        name = name_for(recorded, sentence, object);
    } else {
        // The add that was recorded is the one that reached `entries`; one in the middle of a growth is the next.
        if (!says(sentence, "mid-grow"))
            fill(object, entries - 1, true);
        name = says(sentence, "mid-grow") ? name_of_length(recorded) : f_name(directory.entries);
    }

    Counts counts;
    if (looking) {
        uint64_t value = 0;
        counts = count(bed_.os(), object, [&] { VERIFY(dmu::zap_lookup(bed_.os(), object, name, 8, 1, &value).ok()); });
    } else {
        bed_.transact(object, [&](dmu::dmu_tx_t &tx) {
            const uint64_t value = 1;
            counts = count(bed_.os(), object, [&] {
                VERIFY(dmu::zap_add(bed_.os(), object, name, {8, 1, &value}, tx).ok());
            });
        });
        if (name == f_name(directory.entries))
            ++directory.entries;
    }
    compare_profile(recorded["profile"], counts, 1, comparison_);
}

void HoldReplay::replay(const Json &recorded, size_t index)
{
    const std::string &sentence = text_field(recorded, "cases", "case");
    const std::string &op = text_field(recorded, "cases", "op");
    comparison_.step(index, op + ", " + sentence);
    if (op == "dmu_tx_hold_zap")
        hold(recorded, sentence);
    else if (op == "zap_add" || op == "zap_lookup")
        change(recorded, sentence);
    else
        throw BadTrace("cases.op", "\"" + op + "\" is no known operation");
}

} // namespace

void replay_hold_zap(const Json &trace, Comparison &comparison)
{
    replay_cases<HoldReplay>(trace, comparison);
    note_left_out(comparison);
}

} // namespace analysis
