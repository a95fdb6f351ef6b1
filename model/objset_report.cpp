// What stands on disk, read back block by block without touching the caches or the clock.
#include "model/dmu_state.h"
#include "model/objset.h"
#include "model/spa.h"
#include "model/zpl.h"

namespace dmu {

namespace {

class tree_walk_t {
public:
    tree_walk_t(const block_store &store, const dnode_phys_t &phys, bool recounted)
        : store_(store), phys_(phys), recounted_(recounted), epbs_(phys.dn_indblkshift - SPA_BLKPTRSHIFT)
    {
    }

    meta_dnode_report_t walk()
    {
        report_.phys_maxblkid = phys_.dn_maxblkid;
        report_.phys_nlevels = phys_.dn_nlevels;
        if (phys_.dn_nlevels == 0)
            return std::move(report_);
        for (uint32_t level = phys_.dn_nlevels - 1; level > 0; --level)
            report_.levels.push_back({level, {}});
        const uint32_t top = phys_.dn_nlevels - 1;
        for (uint64_t i = 0; i <= last_of(top); ++i)
            visit(phys_.dn_blkptr[i], top, i);
        return std::move(report_);
    }

private:
    uint64_t last_of(uint32_t level) const { return phys_.dn_maxblkid >> (level * epbs_); }

    // Notes the pointer's fill in its level's list and everything below it. Returns the fill.
    uint64_t visit(const blkptr_t &bp, uint32_t level, uint64_t blkid)
    {
        if (BP_IS_HOLE(bp)) {
            report_.level0_holes += level == 0 ? 1 : 0;
            note(level, blkid, BP_GET_FILL(bp));
            return 0;
        }
        uint64_t below = 0;
        if (level > 0) {
            const block_ref data = store_.read(bp.blk_dva);
            const uint64_t first = blkid << epbs_;
            const uint64_t last = std::min<uint64_t>(last_of(level - 1), first + (1ull << epbs_) - 1);
            for (uint64_t child = first; child <= last; ++child)
                below += visit(data->blkptrs()[child - first], level - 1, child);
        } else if (recounted_) {
            const block_ref &data = store_.read(bp.blk_dva);
            for (uint32_t i = 0; i < DNODES_PER_BLOCK; ++i)
                below += data->dnodes()[i].dn_type != DMU_OT_NONE ? 1 : 0;
        } else {
            below = BP_GET_FILL(bp);
        }
        note(level, blkid, recounted_ ? below : BP_GET_FILL(bp));
        return below;
    }

    // In each level the blocks come in ascending order. What lies under a hole has no pointers, and counts as empty
    // when more follows.
    void note(uint32_t level, uint64_t blkid, uint64_t fill)
    {
        fill_runs_t &runs = level == 0 ? report_.level0 : report_.levels[phys_.dn_nlevels - 1 - level].fills;
        uint64_t &noted = noted_[level];
        VERIFY3(blkid, >=, noted);
        add_run(runs, 0, blkid - noted);
        add_run(runs, fill, 1);
        noted = blkid + 1;
    }

    static void add_run(fill_runs_t &runs, uint64_t fill, uint64_t count)
    {
        if (count == 0)
            return;
        if (!runs.empty() && runs.back().first == fill)
            runs.back().second += count;
        else
            runs.emplace_back(fill, count);
    }

    const block_store &store_;
    const dnode_phys_t &phys_;
    const bool recounted_;
    const uint32_t epbs_;
    meta_dnode_report_t report_;
    std::array<uint64_t, DN_MAX_LEVELS> noted_{}; // blocks, by level
};

// What the dnodes below a block pointer take, by owner.
void count_used(const block_store &store, const blkptr_t &bp, userused_report_t &report)
{
    if (BP_IS_HOLE(bp))
        return;
    const block_ref data = store.read(bp.blk_dva);
    if (bp.blk_level > 0) {
        for (uint32_t i = 0; i < data->size >> SPA_BLKPTRSHIFT; ++i)
            count_used(store, data->blkptrs()[i], report);
        return;
    }
    for (uint32_t i = 0; i < data->size >> DNODE_SHIFT; ++i) {
        const dnode_phys_t &phys = data->dnodes()[i];
        owner_t owner;
        if (phys.dn_type == DMU_OT_NONE || phys.dn_bonuslen == 0 ||
            zfs_space_delta_cb(static_cast<dmu_object_type_t>(phys.dn_bonustype), phys.dn_bonus, owner) != 0)
            continue;
        report.users[owner.uid] += DNODE_SIZE + phys.dn_used;
        report.groups[owner.gid] += DNODE_SIZE + phys.dn_used;
    }
}

} // namespace

userused_report_t userused_recounted(const objset_t &os)
{
    userused_report_t report;
    if (BP_IS_HOLE(os.os_rootbp))
        return report;
    const block_ref root = os.os_dmu.store.read(os.os_rootbp.blk_dva);
    const dnode_phys_t &mdn = root->objset()->os_meta_dnode;
    for (uint32_t i = 0; i < mdn.dn_nblkptr; ++i)
        count_used(os.os_dmu.store, mdn.dn_blkptr[i], report);
    return report;
}

meta_dnode_report_t meta_dnode_report(const objset_t &os, bool recounted)
{
    const blkptr_t &root = os.os_rootbp;
    if (BP_IS_HOLE(root))
        return {};
    const block_ref phys = os.os_dmu.store.read(root.blk_dva);
    meta_dnode_report_t report = tree_walk_t(os.os_dmu.store, phys->objset()->os_meta_dnode, recounted).walk();
    report.used_objects = BP_GET_FILL(root);
    return report;
}

} // namespace dmu
