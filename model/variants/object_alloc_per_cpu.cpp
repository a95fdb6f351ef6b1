// object_alloc "per-cpu": OpenZFS 8199, dbeb879699 (2017-06).
//
// Each CPU draws object numbers from a chunk of its own. A chunk is a run of whole dnode blocks, so os_obj_lock is
// taken once per chunk, and two CPUs share a dnode block's dbuf only when a thread is moved between reading its cursor
// and using it. At a level-1 boundary the next chunk is searched for as before; a second time in one call, an empty
// dnode block is. How the number is taken from the cursor is a choice of its own (percpu_cursor.cpp).
#include "model/dmu_object.h"
#include "model/dmu_state.h"
#include "model/dmu_tx.h"
#include "model/objset.h"
#include "model/variants/object_alloc_forms.h"
#include "model/variants/sparse_region.h"

namespace dmu {

namespace {

class per_cpu_t final : public object_alloc_t {
public:
    per_cpu_t(uint64_t threshold, uint32_t chunk_shift) : threshold_(threshold), chunk_objects_(1ull << chunk_shift) {}

    uint64_t dmu_object_alloc(objset_t &os, const dnode_spec &spec, dmu_tx_t &tx) const override
    {
        const percpu_cursor_t &how = *os.os_dmu.variants.percpu_cursor;
        const uint64_t chunk = std::clamp<uint64_t>(chunk_objects_, DNODES_PER_BLOCK, objects_per_l1(os));
        const uint32_t cpu = cpu_seqid();
        atomic_uint64_t &cursor = os.os_obj_next_percpu[cpu % os.os_obj_next_percpu.size()];
        bool searched = false;

        uint64_t object = cursor.load();
        for (;;) {
            if (how.chunk_spent(object, spec.slots, chunk))
                object = next_chunk(os, cursor, chunk, searched);
            object = how.take(cursor, object, spec.slots);

            if (auto hold = dnode_hold_impl(os, object, DNODE_MUST_BE_FREE, spec.slots)) {
                dnode_t &dn = **hold;
                auto writer = rw_enter(dn.dn_struct_rwlock, RW_WRITER);
                if (dn.dn_type == DMU_OT_NONE) {
                    dnode_allocate(dn, spec, tx);
                    writer.exit();
                    dmu_tx_add_new_object(tx, dn);
                    hold->rele();
                    how.taken(cursor, object, spec.slots);
                    note_block(os, object, cpu);
                    return object;
                }
                writer.exit();
                ++os.stats.dnode_alloc_race; // lost between the hold and the lock
            }
            ++os.allocator.visits;
            const object_next_t next = dmu_object_next(os, object, true, 0);
            object = next.object;
            if (next.error != 0) {
                // Nothing of it is on disk: a dnode can begin at the next block at any rate.
                object = (object / DNODES_PER_BLOCK + 1) * DNODES_PER_BLOCK;
                ++os.stats.dnode_alloc_next_block;
            }
            cursor.exchange(object);
        }
    }

    void objset_synced(objset_t &os) const override { arm_rescan(os, threshold_); }

private:
    static uint64_t next_chunk(objset_t &os, atomic_uint64_t &cursor, uint64_t chunk, bool &searched)
    {
        ++os.stats.dnode_alloc_next_chunk;
        ++os.allocator.chunks;
        auto held = mutex_enter(os.os_obj_lock);
        VERIFY(os.os_obj_next_chunk % chunk == 0);

        uint64_t object = os.os_obj_next_chunk;
        if (object % objects_per_l1(os) == 0) {
            const sparse_region_t region = sparse_region(os, search_start(os, object), searched);
            searched = true;
            if (region.found)
                object = region.object;
        }
        // A search for an empty block may end inside a chunk.
        os.os_obj_next_chunk = (object / chunk + 1) * chunk;
        cursor.exchange(object);
        return object;
    }

    // Two CPUs in one dnode block: what chunks are there to prevent. It takes a thread that is no longer where it took
    // its number.
    static void note_block(objset_t &os, uint64_t object, uint32_t cursor_cpu)
    {
        settle();
        if (cpu_seqid() != cursor_cpu)
            ++os.allocator.migrations;
        dnode_block_user_t &last = os.last_block_user[object / DNODES_PER_BLOCK % os.last_block_user.size()];
        const dnode_block_user_t now{object / DNODES_PER_BLOCK, cpu_seqid()};
        if (last.block == now.block && last.cpu != now.cpu)
            ++os.allocator.shared_blocks;
        last = now;
    }

    const uint64_t threshold_;
    const uint64_t chunk_objects_;
};

} // namespace

std::unique_ptr<const object_alloc_t> make_object_alloc_per_cpu(const code_config &code)
{
    return std::make_unique<per_cpu_t>(code.rescan_threshold, code.alloc_chunk_shift);
}

} // namespace dmu
