// Replays of what happens to a ZAP as a whole: filled, emptied, its shape at each size.
#include "analysis/conform_zap.h"

#include "analysis/conform_zap_report.h"

#include "model/zap.h"
#include "model/zap_report.h"

#include <memory>

namespace analysis {

namespace {

constexpr uint64_t value_offset = 1000; // the recordings store the index plus this

// Adds the names of [first, last), or removes every second of them.
void insert(ZapBed &bed, uint64_t zapobj, uint64_t first, uint64_t last)
{
    bed.transact_each(zapobj, first, last, [&](dmu::dmu_tx_t &tx, uint64_t i) {
        const uint64_t value = i + value_offset;
        auto added = dmu::zap_add(bed.os(), zapobj, f_name(i), {8, 1, &value}, tx);
        VERIFY(added.ok());
    });
}

void remove_every_second(ZapBed &bed, uint64_t zapobj, uint64_t count, uint64_t parity)
{
    bed.transact_each(zapobj, 0, (count + 1 - parity) / 2, [&](dmu::dmu_tx_t &tx, uint64_t i) {
        auto removed = dmu::zap_remove(bed.os(), zapobj, f_name(2 * i + parity), tx);
        VERIFY(removed.ok());
    });
}

// Compares the fields of one report, but for those that say what was done.
void compare_report(ZapBed &bed, uint64_t zapobj, const Json &recorded, Comparison &comparison)
{
    const Json got = zap_report(bed, zapobj, recorded);
    for (const auto &[name, value] : got.items()) {
        const auto there = recorded.find(name);
        comparison.equal(name, there == recorded.end() ? Json() : *there, value);
    }
    for (const auto &[name, value] : recorded.items())
        if (name != "label" && name != "n_inserted" && name != "end" && !got.contains(name))
            comparison.equal(name, value, Json());
}

std::string report_label(const Json &report)
{
    return text_field(report, "reports", "label") + ", " +
           std::to_string(number_field(report, "reports", "n_inserted"));
}

} // namespace

void replay_zap_structure(const Json &trace, Comparison &comparison)
{
    const Json &reports = list_field(trace, "", "reports");
    in_zap_bed(text_field(trace, "", "tree"), hex_field(trace, "", "salt"), [&](ZapBed &bed) {
        const uint64_t zapobj = bed.create_zap();
        uint64_t inserted = 0;
        uint64_t removals = 0;
        for (const Json &report : reports) {
            comparison.label(report_label(report));
            const std::string &label = text_field(report, "reports", "label");
            const uint64_t count = number_field(report, "reports", "n_inserted");
            if (label == "empty" || label == "insert") {
                insert(bed, zapobj, inserted, count);
                inserted = count;
            } else if (label == "removed even half" || label == "removed all") {
                remove_every_second(bed, zapobj, inserted, removals++);
            } else if (label.starts_with("after removing all, re-added")) {
                insert(bed, zapobj, 0, count);
            } else {
                throw BadTrace("reports.label", "\"" + label + "\" is no known step");
            }
            bed.sync();
            compare_report(bed, zapobj, report, comparison);
        }
    });
}

void replay_zap_remove(const Json &trace, Comparison &comparison)
{
    const Json &reports = list_field(trace, "", "reports");
    in_zap_bed(text_field(trace, "", "tree"), hex_field(trace, "", "salt"), [&](ZapBed &bed) {
        uint64_t zapobj = 0;
        for (const Json &report : reports) {
            comparison.label(report_label(report));
            const std::string &label = text_field(report, "reports", "label");
            const uint64_t count = number_field(report, "reports", "n_inserted");
            if (label == "removed even half") {
                zapobj = bed.create_zap();
                insert(bed, zapobj, 0, count);
                remove_every_second(bed, zapobj, count, 0);
            } else if (label == "removed all" && zapobj != 0) {
                remove_every_second(bed, zapobj, count, 1);
            } else if (label == "re-inserted 0..N-1 after removing all" && zapobj != 0) {
                insert(bed, zapobj, 0, count);
            } else {
                throw BadTrace("reports.label", "\"" + label + "\" is no known step here");
            }
            bed.sync();
            compare_report(bed, zapobj, report, comparison);
        }
    });
}

void replay_zap_events(const Json &trace, Comparison &comparison)
{
    static const Json known_fields = {"n_after_insert", "type",   "data_block_size", "num_leafs",  "freeblk",
                                      "zt_shift",       "zt_blk", "zt_numblks",      "zt_nextblk", "zt_blks_copied"};
    comparison.equal("fields", field(trace, "", "fields"), known_fields);
    const Json &events = list_field(trace, "", "events");
    constexpr uint64_t recorded_until = 2'000'000;
    // A shortened list ends the replay at its last event; a whole one is followed to the end of the recording.
    const bool whole = !trace.contains("until");
    const uint64_t until = whole ? recorded_until : number_field(trace, "", "until");

    in_zap_bed(text_field(trace, "", "tree"), hex_field(trace, "", "salt"), [&](ZapBed &bed) {
        const uint64_t zapobj = bed.create_zap();
        dmu::zap_shape_t before{};
        size_t index = 0;
        bed.transact_each(zapobj, 0, until, [&](dmu::dmu_tx_t &tx, uint64_t i) {
            const uint64_t value = i + value_offset;
            auto added = dmu::zap_add(bed.os(), zapobj, f_name(i), {8, 1, &value}, tx);
            VERIFY(added.ok());
            const dmu::zap_shape_t shape = dmu::zap_shape(bed.os(), zapobj);
            if (shape == before)
                return;
            before = shape;
            const Json row = {i + 1,
                              shape.micro ? "micro" : "fat",
                              shape.data_block_size,
                              shape.num_leafs,
                              shape.freeblk,
                              shape.table.zt_shift,
                              shape.table.zt_blk,
                              shape.table.zt_numblks,
                              shape.table.zt_nextblk,
                              shape.table.zt_blks_copied};
            comparison.step(index, "insert " + std::to_string(i + 1));
            comparison.equal("events[" + std::to_string(index) + "]", index < events.size() ? events[index] : Json(),
                             row);
            ++index;
        });
        if (index < events.size()) {
            comparison.label("after the last insert");
            comparison.equal("events[" + std::to_string(index) + "]", events[index], Json());
        }
    });
}

} // namespace analysis
