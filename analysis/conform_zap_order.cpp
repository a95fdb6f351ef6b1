// Replays of the order in which entries are walked, and of every edge: what turns a microzap fat, which errno comes
// when.
//
// A recorded edge is named by a sentence. The tables below say what each sentence did; a sentence that is not there is
// a mistake in the file, never a difference.
#include "analysis/conform_zap.h"

#include "analysis/conform_zap_report.h"

#include "model/zap.h"
#include "model/zap_hash.h"
#include "model/zap_report.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace analysis {

namespace {

constexpr uint64_t value_offset = 1000;

// --- cursors
// ----------------------------------------------------------------------------------------------------------

void add_f_names(ZapBed &bed, uint64_t zapobj, uint64_t count)
{
    bed.transact_each(zapobj, 0, count, [&](dmu::dmu_tx_t &tx, uint64_t i) {
        const uint64_t value = i + value_offset;
        auto added = dmu::zap_add(bed.os(), zapobj, f_name(i), {8, 1, &value}, tx);
        VERIFY(added.ok());
    });
}

int add_two_integers(ZapBed &bed, uint64_t zapobj, std::string_view name)
{
    const std::array<uint64_t, 2> two{};
    int error = 0;
    bed.transact(zapobj, [&](dmu::dmu_tx_t &tx) {
        error = dmu::zap_add(bed.os(), zapobj, name, {8, two.size(), two.data()}, tx).error();
    });
    return error;
}

// A ZAP that is fat although it is empty: a value that no microzap holds has come and gone.
uint64_t create_fat(ZapBed &bed)
{
    const uint64_t zapobj = bed.create_zap();
    VERIFY3(add_two_integers(bed, zapobj, "upgrade"), ==, 0);
    VERIFY3(bed.remove(zapobj, "upgrade"), ==, 0);
    return zapobj;
}

void compare_order(ZapBed &bed, uint64_t zapobj, const Json &recorded, const std::string &path, Comparison &comparison)
{
    const Json rows = zap_cursor_rows(bed, zapobj);
    comparison.equal("order", list_field(recorded, path, "order"), rows);
    comparison.equal("end_cookie", field(recorded, path, "end_cookie"), zap_end_cookie(bed, zapobj));
    comparison.equal("restart_mismatches", field(recorded, path, "restart_mismatches"),
                     zap_restart_mismatches(bed, zapobj, rows));
}

// --- edges: upgrades
// --------------------------------------------------------------------------------------------------

struct Change {
    std::string name;
    uint64_t integer_size = 8;
    uint64_t num_integers = 1;
};

const std::map<std::string, Change, std::less<>> &upgrade_cases()
{
    static const std::map<std::string, Change, std::less<>> cases = [] {
        std::map<std::string, Change, std::less<>> table = {
            {"zap_add 1x8 value", {"x", 8, 1}},
            {"zap_add 2x8 value", {"x", 8, 2}},
            {"zap_add 1x4 value", {"x", 4, 1}},
            {"zap_add 8x1 value", {"x", 1, 8}},
            {"zap_add 0x8 value (num_integers 0)", {"x", 8, 0}},
            {"zap_add integer_size 3 (EINVAL; note type_after)", {"x", 3, 1}},
            {"zap_add duplicate of seed 1x8", {"seed", 8, 1}},
            {"zap_add duplicate of seed 2x8 (upgrades, then EEXIST)", {"seed", 8, 2}},
            {"zap_add value 8192 bytes (1024x8)", {"x", 8, 1024}},
            {"zap_add value 8200 bytes (1025x8)", {"x", 8, 1025}},
            {"zap_add value 1025x8 bytes as 1-byte ints 8193", {"x", 1, 8193}},
            {"zap_add empty name on microzap", {"", 8, 1}},
        };
        for (size_t length : {47, 48, 49, 50, 51, 52})
            table["zap_add name strlen " + std::to_string(length) + ", 1x8 value"] = {std::string(length, 'n'), 8, 1};
        for (size_t length : {254, 255, 256, 257})
            table["zap_add name strlen " + std::to_string(length) + " on microzap"] = {std::string(length, 'n'), 8, 1};
        return table;
    }();
    return cases;
}

void replay_upgrade(ZapBed &bed, const Json &recorded, Comparison &comparison)
{
    const std::string &sentence = text_field(recorded, "upgrade", "case");
    const auto known = upgrade_cases().find(sentence);
    if (known == upgrade_cases().end())
        throw BadTrace("upgrade.case", "\"" + sentence + "\" is no known edge");
    const Change &change = known->second;
    const std::vector<uint64_t> zeros(2048);

    const uint64_t zapobj = bed.create_zap();
    VERIFY3(bed.add(zapobj, "seed", 1), ==, 0);
    int error = 0;
    bed.transact(zapobj, [&](dmu::dmu_tx_t &tx) {
        error =
            dmu::zap_add(bed.os(), zapobj, change.name, {change.integer_size, change.num_integers, zeros.data()}, tx)
                .error();
    });
    const dmu::zap_shape_t shape = dmu::zap_shape(bed.os(), zapobj);
    auto count = dmu::zap_count(bed.os(), zapobj);
    VERIFY(count.ok());
    comparison.label("upgrade: " + sentence);
    comparison.equal("errno", field(recorded, "upgrade", "errno"), error);
    comparison.equal("type_after", field(recorded, "upgrade", "type_after"), shape.micro ? "micro" : "fat");
    comparison.equal("block_size", field(recorded, "upgrade", "block_size"), shape.data_block_size);
    comparison.equal("count", field(recorded, "upgrade", "count"), *count);
}

// --- edges: errno
// -----------------------------------------------------------------------------------------------------

constexpr uint64_t untouched = 57005; // what the first word of a buffer says before a call

// Where the look-ups of one form are made: entries "one" (one integer), and in the fat ZAP others of other widths.
struct LookupBed {
    ZapBed &bed;
    uint64_t zapobj;
    std::array<uint64_t, 2048> buffer{}; // a whole value fits

    int lookup(std::string_view name, uint64_t integer_size, uint64_t num_integers, uint64_t object = 0)
    {
        return dmu::zap_lookup(bed.os(), object != 0 ? object : zapobj, name, integer_size, num_integers, buffer.data())
            .error();
    }
};

using Edge = int (*)(LookupBed &);

// Of an entry of one-byte integers the recording looked at another buffer than the one it read into.
int lookup_aside(LookupBed &at, std::string_view name, uint64_t integer_size, uint64_t num_integers)
{
    const uint64_t before = at.buffer[0];
    const int error = at.lookup(name, integer_size, num_integers);
    at.buffer[0] = before;
    return error;
}

int change(LookupBed &at, const std::function<dmu::Result<>(dmu::dmu_tx_t &)> &what)
{
    int error = 0;
    at.bed.transact(at.zapobj, [&](dmu::dmu_tx_t &tx) { error = what(tx).error(); });
    return error;
}

int update_and_read(LookupBed &at, std::string_view name, uint64_t value)
{
    const int error = change(at, [&](dmu::dmu_tx_t &tx) {
        return dmu::zap_update(at.bed.os(), at.zapobj, name, {8, 1, &value}, tx);
    });
    return error != 0 ? error : at.lookup(name, 8, 1);
}

int in_a_file(LookupBed &at)
{
    uint64_t object = 0;
    at.bed.transact(0, [&](dmu::dmu_tx_t &tx) {
        dmu::dnode_spec spec;
        spec.type = dmu::DMU_OT_PLAIN_FILE_CONTENTS;
        object = dmu::dmu_object_alloc(at.bed.os(), spec, tx);
    });
    return at.lookup("one", 8, 1, object);
}

const std::map<std::string, Edge, std::less<>> edges = {
    {"lookup one 8,1", [](LookupBed &at) { return at.lookup("one", 8, 1); }},
    {"lookup missing 8,1", [](LookupBed &at) { return at.lookup("missing", 8, 1); }},
    {"lookup one 8,0 (buffer too small)", [](LookupBed &at) { return at.lookup("one", 8, 0); }},
    {"lookup one 8,2 (larger buffer)", [](LookupBed &at) { return at.lookup("one", 8, 2); }},
    {"lookup one 4,1 (smaller integer)", [](LookupBed &at) { return at.lookup("one", 4, 1); }},
    {"lookup one 1,8", [](LookupBed &at) { return at.lookup("one", 1, 8); }},
    {"lookup one 3,1 (bad integer size)", [](LookupBed &at) { return at.lookup("one", 3, 1); }},
    {"lookup missing 3,1", [](LookupBed &at) { return at.lookup("missing", 3, 1); }},
    {"lookup one 16,1", [](LookupBed &at) { return at.lookup("one", 16, 1); }},
    {"lookup one 8,1025 (E2BIG?)", [](LookupBed &at) { return at.lookup("one", 8, 1025); }},
    {"lookup two8 8,1", [](LookupBed &at) { return at.lookup("two8", 8, 1); }},
    {"lookup int4 8,3 (larger integer than stored)", [](LookupBed &at) { return at.lookup("int4", 8, 3); }},
    {"lookup int4 8,1", [](LookupBed &at) { return at.lookup("int4", 8, 1); }},
    {"lookup int4 1,12", [](LookupBed &at) { return at.lookup("int4", 1, 12); }},
    {"lookup int1 4,10", [](LookupBed &at) { return lookup_aside(at, "int1", 4, 10); }},
    {"lookup name strlen 256", [](LookupBed &at) { return at.lookup(std::string(256, 'n'), 8, 1); }},
    {"lookup name strlen 255", [](LookupBed &at) { return at.lookup(std::string(255, 'n'), 8, 1); }},
    {"add duplicate",
     [](LookupBed &at) {
         const uint64_t value = 2;
         return change(at, [&](dmu::dmu_tx_t &tx) {
             return dmu::zap_add(at.bed.os(), at.zapobj, "one", {8, 1, &value}, tx);
         });
     }},
    {"remove missing",
     [](LookupBed &at) {
         return change(at, [&](dmu::dmu_tx_t &tx) { return dmu::zap_remove(at.bed.os(), at.zapobj, "missing", tx); });
     }},
    {"remove name strlen 256",
     [](LookupBed &at) {
         return change(
             at, [&](dmu::dmu_tx_t &tx) { return dmu::zap_remove(at.bed.os(), at.zapobj, std::string(256, 'n'), tx); });
     }},
    {"zap_length one",
     [](LookupBed &at) {
         auto length = dmu::zap_length(at.bed.os(), at.zapobj, "one");
         if (length)
             at.buffer[0] = length->integer_size * 100 + length->num_integers;
         return length.error();
     }},
    {"zap_contains one", [](LookupBed &at) { return dmu::zap_contains(at.bed.os(), at.zapobj, "one").error(); }},
    {"zap_contains missing",
     [](LookupBed &at) { return dmu::zap_contains(at.bed.os(), at.zapobj, "missing").error(); }},
    {"zap_update existing 8,1", [](LookupBed &at) { return update_and_read(at, "one", 99); }},
    {"zap_update new 8,1", [](LookupBed &at) { return update_and_read(at, "new", 98); }},
    {"lookup in a PLAIN_FILE_CONTENTS object", in_a_file},
    {"lookup in object 999999 (free)", [](LookupBed &at) { return at.lookup("one", 8, 1, 999'999); }},
    {"lookup in object 0 (meta dnode)",
     [](LookupBed &at) { return dmu::zap_lookup(at.bed.os(), 0, "one", 8, 1, at.buffer.data()).error(); }},
};

void replay_lookups(ZapBed &bed, const Json &rows, Comparison &comparison)
{
    std::map<std::string, LookupBed> beds;
    for (const char *form : {"micro", "fat"}) {
        const uint64_t zapobj = std::string_view(form) == "fat" ? create_fat(bed) : bed.create_zap();
        VERIFY3(bed.add(zapobj, "one", 1), ==, 0);
        if (std::string_view(form) == "fat") {
            const std::array<uint64_t, 2> zeros{};
            VERIFY3(add_two_integers(bed, zapobj, "two8"), ==, 0);
            bed.transact(zapobj, [&](dmu::dmu_tx_t &tx) {
                VERIFY(dmu::zap_add(bed.os(), zapobj, "int4", {4, 3, zeros.data()}, tx).ok());
                VERIFY(dmu::zap_add(bed.os(), zapobj, "int1", {1, 10, zeros.data()}, tx).ok());
            });
        }
        beds.emplace(form, LookupBed{bed, zapobj, {}});
    }
    for (const Json &row : rows) {
        const std::string &sentence = text_field(row, "lookups", "case");
        const auto edge = edges.find(sentence);
        const auto at = beds.find(text_field(row, "lookups", "zap"));
        if (edge == edges.end())
            throw BadTrace("lookups.case", "\"" + sentence + "\" is no known edge");
        if (at == beds.end())
            throw BadTrace("lookups.zap", "micro or fat");
        at->second.buffer[0] = untouched;
        const int error = edge->second(at->second);
        comparison.label("lookups: " + at->first + ": " + sentence);
        comparison.equal("errno", field(row, "lookups", "errno"), error);
        comparison.equal("buf0", field(row, "lookups", "buf0"), at->second.buffer[0]);
    }
}

// --- edges: collisions
// ------------------------------------------------------------------------------------------------

// Names of 28 equal hash bits are added, removed and added again; the recording says where each stands after each step.
void replay_collisions(ZapBed &bed, const Json &test, Comparison &comparison)
{
    const std::string &form = text_field(test, "tests", "zap");
    if (form != "micro" && form != "fat")
        throw BadTrace("tests.zap", "micro or fat");
    const uint64_t zapobj = form == "fat" ? create_fat(bed) : bed.create_zap();
    const std::string &hash = text_field(test, "tests", "hash28");
    uint64_t added = 0;
    bool removed_any = false;
    for (const Json &step : list_field(test, "tests", "steps")) {
        const std::string &what = text_field(step, "tests.steps", "after");
        const std::string name = what.substr(std::min(what.size(), what.find(' ') + 1));
        comparison.label("collisions of " + hash + ", " + form + ": " + what);
        if (what.starts_with("add ")) {
            // The first time the names are numbered; one that comes back has the value 1.
            VERIFY3(bed.add(zapobj, name, removed_any ? 1 : added++), ==, 0);
        } else if (what.starts_with("remove ")) {
            removed_any = true;
            VERIFY3(bed.remove(zapobj, name), ==, 0);
        } else {
            throw BadTrace("tests.steps.after", "\"" + what + "\" is no known step");
        }
        Json cds = Json::object();
        for (const auto &[asked, recorded] : field(step, "tests.steps", "cds").items()) {
            const dmu::zap_place_t place = dmu::zap_place(bed.os(), zapobj, asked);
            comparison.equal("hash28", hash, hex64(place.hash >> (64 - dmu::ZAP_HASHBITS), 7));
            cds[asked] = place.found ? Json{place.cd, place.slot} : Json{-1, -1};
        }
        comparison.equal("cds", step["cds"], cds);
    }
    const Json rows = zap_cursor_rows(bed, zapobj);
    comparison.label("collisions of " + hash + ", " + form + ": order");
    comparison.equal("cursor", field(test, "tests", "cursor"), rows);
    comparison.equal("end_cookie", field(test, "tests", "end_cookie"), zap_end_cookie(bed, zapobj));
    comparison.equal("restart_mismatches", field(test, "tests", "restart_mismatches"),
                     zap_restart_mismatches(bed, zapobj, rows));
    if (test.contains("after_upgrade_to_fat_cursor")) {
        VERIFY3(add_two_integers(bed, zapobj, "upg"), ==, 0);
        comparison.equal("after_upgrade_to_fat_cursor", test["after_upgrade_to_fat_cursor"],
                         zap_cursor_rows(bed, zapobj));
    }
}

// Equal hashes among the first `count` f-names, counted as pairs of neighbours in hash order.
uint64_t f_name_collisions(uint64_t salt, uint64_t count)
{
    std::vector<uint64_t> hashes(count);
    for (uint64_t i = 0; i < count; ++i)
        hashes[i] = dmu::zap_hash_bytes(salt, f_name(i));
    std::sort(hashes.begin(), hashes.end());
    uint64_t pairs = 0;
    for (uint64_t i = 1; i < count; ++i)
        pairs += hashes[i] == hashes[i - 1];
    return pairs;
}

} // namespace

void replay_zap_cursor(const Json &trace, Comparison &comparison)
{
    in_zap_bed(text_field(trace, "", "tree"), hex_field(trace, "", "salt"), [&](ZapBed &bed) {
        for (const auto &[name, recorded] : trace.items()) {
            const bool fat_at_first = name == "fat300";
            if (name != "micro300" && name != "fat3000" && !fat_at_first)
                continue;
            comparison.label(name);
            const uint64_t zapobj = fat_at_first ? create_fat(bed) : bed.create_zap();
            add_f_names(bed, zapobj, list_field(recorded, name, "order").size());
            bed.sync();
            compare_order(bed, zapobj, recorded, name, comparison);
            if (!recorded.contains("report"))
                continue;
            const Json got = zap_report(bed, zapobj, recorded["report"]);
            for (const auto &[key, value] : got.items())
                comparison.equal("report." + key, recorded["report"].value(key, Json()), value);
        }
    });
}

void replay_zap_edge(const Json &trace, Comparison &comparison)
{
    constexpr uint64_t salt = 1; // the recording does not say; its hashes do
    in_zap_bed(text_field(trace, "", "tree"), salt, [&](ZapBed &bed) {
        for (const Json &row : list_field(trace, "", "upgrade"))
            replay_upgrade(bed, row, comparison);
        replay_lookups(bed, list_field(trace, "", "lookups"), comparison);
        for (const Json &test : list_field(trace, "", "tests"))
            replay_collisions(bed, test, comparison);
    });
    comparison.label("names that collide");
    for (const auto &[key, count] :
         {std::pair<const char *, uint64_t>{"f_name_adjacent_collisions_in_first_4M", 4'000'000},
          {"f_name_adjacent_collisions_in_first_2M", 2'000'000}}) {
        if (trace.contains(key))
            comparison.equal(key, trace[key], f_name_collisions(salt, count));
    }
    if (trace.contains("f_name_collision_groups"))
        comparison.equal("f_name_collision_groups", trace["f_name_collision_groups"], Json::array());
    comparison.note("of \"int1\" the buffer shown is not the one read into, as in the recording");
}

} // namespace analysis
