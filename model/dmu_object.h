// Objects by number: allocate, claim, free, find the next one.
//
// What differs between code bases is how dmu_object_alloc finds a free number: model/variants/object_alloc.h.
#pragma once

#include <cstdint>

#include "model/dnode.h"
#include "model/result.h"

namespace dmu {

// A free number, taken for tx. REQUIRES: tx is assigned and holds DMU_NEW_OBJECT.
uint64_t dmu_object_alloc(objset_t &os, const dnode_spec &spec, dmu_tx_t &tx);
// This number, as ZIL replay and receive want it. EEXIST, ENOSPC, ENOENT: it is not free.
Result<> dmu_object_claim(objset_t &os, uint64_t object, const dnode_spec &spec, dmu_tx_t &tx);
// ENOENT: there is no such object.
Result<> dmu_object_free(objset_t &os, uint64_t object, dmu_tx_t &tx);
// The next object after `object` that is allocated (or, hole: free) on disk, and younger than txg. ESRCH: none; offset
// as the search left it.
struct object_next_t {
    int error;
    uint64_t object;
};
object_next_t dmu_object_next(objset_t &os, uint64_t object, bool hole, uint64_t txg);

struct dmu_object_info_t {
    uint32_t doi_data_block_size;
    uint32_t doi_metadata_block_size;
    dmu_object_type_t doi_type;
    dmu_object_type_t doi_bonus_type;
    uint64_t doi_bonus_size;
    uint8_t doi_indirection;
    uint64_t doi_max_offset;
    uint64_t doi_physical_blocks_512;
};
Result<dmu_object_info_t> dmu_object_info(objset_t &os, uint64_t object);
dmu_object_info_t dmu_object_info_from_dnode(dnode_t &dn);

} // namespace dmu
