// Replay of the recorded sequence that creates a file without a file system, a million times in one open txg:
// cumulative counters at every checkpoint.
#include "analysis/conform_zap_profile.h"

#include "analysis/conform_counts.h"
#include "analysis/conform_zap_bed.h"

#include "model/zpl.h"

namespace analysis {

void replay_create_sequence(const Json &trace, Comparison &comparison)
{
    in_zap_bed(text_field(trace, "", "tree"), 1, [&](ZapBed &bed) {
        const uint64_t dir = bed.create_zap();
        comparison.equal("dir_object", field(trace, "", "dir_object"), dir);
        bed.sync();
        auto held = dmu::dnode_hold(bed.os(), dir); // by the file system that would have it open
        VERIFY(held.ok());

        Counts sum;
        uint64_t created = 0;
        uint64_t last_object = 0;
        for (const Json &recorded : list_field(trace, "", "cases")) {
            const uint64_t until = number_field(recorded, "cases", "dir_entries");
            comparison.label("after " + std::to_string(until) + " creates");
            sum += count(bed.os(), dir, [&] {
                for (; created < until; ++created) {
                    auto object = dmu::dmu_create(bed.os(), dir, f_name(created));
                    VERIFY(object.ok());
                    last_object = *object;
                }
            });
            comparison.equal("last_object", field(recorded, "cases", "last_object"), last_object);
            compare_profile(field(recorded, "cases", "profile"), sum, 1, comparison);
        }
        held->rele();
    });
    note_left_out(comparison);
}

} // namespace analysis
