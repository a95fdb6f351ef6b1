// What the inside of a ZAP looks like, for reports, traces and checks: shape, leaves, and where an entry stands.
//
// These go in by the front door (zap_lockdir) and change nothing; only people and tests ask.
#pragma once

#include "model/zap.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace dmu {

// The header in short. All but the block size is 0 for a microzap.
struct zap_shape_t {
    bool micro = true;
    uint64_t data_block_size = 0;
    uint64_t num_leafs = 0;
    uint64_t freeblk = 0;
    zap_table_phys_t table{};
    bool operator==(const zap_shape_t &other) const;
};
zap_shape_t zap_shape(objset_t &os, uint64_t zapobj);

struct zap_leaf_row_t {
    uint64_t first_pointer; // of those in the pointer table that lead to it
    uint64_t blkid;
    uint64_t prefix_len;
    uint64_t prefix;
    uint64_t nentries;
    uint64_t nfree;
};
std::vector<zap_leaf_row_t> zap_leaf_rows(objset_t &os, uint64_t zapobj); // in the order of the table

struct zap_place_t {
    uint64_t hash = 0;
    bool found = false;
    uint32_t cd = 0;
    uint32_t slot = 0; // of a microzap; of a fat ZAP: the entry's chunk
    // Fat ZAPs only; where the entry would be if it is not there.
    uint64_t leaf_blkid = 0;
    uint64_t bucket = 0;
    uint64_t prefix_len = 0;
    uint64_t prefix = 0;
};
zap_place_t zap_place(objset_t &os, uint64_t zapobj, std::string_view name);

} // namespace dmu
