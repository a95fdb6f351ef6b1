// zap_shrink: OpenZFS until 2024 never gives a leaf back, so an emptied ZAP is walked like a full one (zfs#12006).
// Since 5044c4e3ff two empty leaves that were split from one become one again, and so on upwards, until one leaf is
// left.
//
// The pointer table keeps its size; the pointers to the leaf that goes point to the one that stays. Its block is freed,
// and when it was the last of the ZAP the next new leaf gets that block again, so the zap_leaf_t in memory must go with
// it (34906f8bbe). Nobody else can have the sibling: who has a leaf has the header as reader, and it is held as writer.
#include "model/variants/zap_shrink.h"

namespace dmu {

namespace {

class never_t final : public zap_shrink_t {
    Result<> removed(zap_lock_t &, const zap_name_t &, zap_leaf_hold_t &, dmu_tx_t &) const override { return {}; }
};

class collapse_t final : public zap_shrink_t {
    Result<> removed(zap_lock_t &lock, const zap_name_t &zn, zap_leaf_hold_t &leaf, dmu_tx_t &tx) const override
    {
        if (!may_collapse(leaf))
            return {};
        Probe probe{Fn::zap_shrink};
        if (!lock.zap_tryupgradedir(tx)) {
            leaf.zap_put_leaf();
            if (auto retaken = lock.retake_as_writer(tx); !retaken)
                return retaken;
            auto found = zap_deref_leaf(*lock, zn.hash(), &tx, RW_WRITER);
            if (!found)
                return SET_ERROR(found.error());
            leaf = std::move(*found);
        }
        while (may_collapse(leaf) && collapse(*lock, leaf, tx)) {
        } // each turn shortens the prefix
        return {};
    }

    static bool may_collapse(const zap_leaf_hold_t &leaf)
    {
        const zap_leaf_header &header = leaf.bytes().header();
        return header.lh_nentries == 0 && header.lh_prefix_len > 0;
    }

    // False: the sibling has entries, or is split further. REQUIRES: the header is held as writer.
    static bool collapse(zap_t &zap, zap_leaf_hold_t &leaf, dmu_tx_t &tx)
    {
        VERIFY(RW_WRITE_HELD(zap.zap_rwlock));
        const uint64_t prefix_len = leaf.bytes().header().lh_prefix_len;
        const uint64_t prefix = leaf.bytes().header().lh_prefix;
        const uint64_t finer_bits = zap.f_phys().zap_ptrtbl.zt_shift - prefix_len;
        auto blkid = zap_idx_to_blk(zap, (prefix ^ 1) << finer_bits);
        if (!blkid)
            return false;
        auto found = zap_get_leaf_byblk(zap, *blkid, &tx, RW_WRITER);
        if (!found)
            return false;
        zap_leaf_hold_t sibling = std::move(*found);
        const zap_leaf_header &other = sibling.bytes().header();
        if (other.lh_prefix_len != prefix_len || other.lh_nentries != 0)
            return false;
        VERIFY3(other.lh_prefix, ==, prefix ^ 1);

        if ((prefix & 1) != 0) // the lower one stays
            std::swap(leaf, sibling);
        zap_leaf_header &kept = leaf.bytes().header();
        const uint64_t gone_prefix = prefix | 1;
        --kept.lh_prefix_len;
        kept.lh_prefix >>= 1;
        for (uint64_t i = 0; i < 1ull << finer_bits; ++i) {
            auto stored = zap_set_idx_to_blk(zap, (gone_prefix << finer_bits) + i, leaf->l_blkid, tx);
            VERIFY(stored.ok());
        }
        drop(zap, sibling, tx);
        return true;
    }

    static void drop(zap_t &zap, zap_leaf_hold_t &gone, dmu_tx_t &tx)
    {
        const uint64_t blkid = gone->l_blkid;
        zap_leaf_t *leaf = &*gone;
        {
            const dmu_buf_hold_t db = gone.release_buffer();
            dmu_buf_user_t *user = dmu_buf_remove_user(*db, leaf);
            VERIFY(user == leaf);
            delete leaf;
            kmem_free(sizeof(zap_leaf_t));
        }
        zap_phys_t &header = zap.f_phys();
        VERIFY3(header.zap_num_leafs, >, 1u);
        --header.zap_num_leafs;
        auto freed = dmu_free_range(*zap.zap_objset, zap.zap_object, blkid << zap.zap_block_shift,
                                    1ull << zap.zap_block_shift, tx);
        VERIFY(freed.ok());
        if (blkid + 1 == header.zap_freeblk)
            --header.zap_freeblk;
    }
};

} // namespace

std::unique_ptr<const zap_shrink_t> make_zap_shrink_never()
{
    return std::make_unique<never_t>();
}

std::unique_ptr<const zap_shrink_t> make_zap_shrink_collapse()
{
    return std::make_unique<collapse_t>();
}

} // namespace dmu
