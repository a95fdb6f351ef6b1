// Every dbuf in memory with its buffer and its dnode, as the kstat "dbufs" lists them. Free of charge: for reports.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/arc.h"
#include "model/dbuf.h"

namespace dmu {

struct objset_t;
struct dmu_state_t;

struct dbuf_row_t {
    // the dbuf
    uint64_t object = 0;
    uint32_t level = 0;
    uint64_t blkid = 0;
    uint64_t offset = 0; // of its first byte in the object's data; 0 above level 0
    uint64_t db_size = 0;
    bool meta = false; // counted as metadata
    dbuf_states_t db_state = DB_UNCACHED;
    uint64_t db_holds = 0;
    uint32_t db_dirtycnt = 0;
    dbuf_cached_state_t db_caching_status = DB_NO_CACHE;
    bool in_cache_list = false;
    // its buffer; all 0 and anon where it has none
    bool has_buffer = false;
    arc_state_t arc_state = arc_state_t::anon;
    uint64_t arc_size = 0;
    int64_t b_arc_access_ns = 0; // 0: never
    uint64_t mru_hits = 0, mru_ghost_hits = 0, mfu_hits = 0, mfu_ghost_hits = 0;
    uint64_t arc_holds = 0;
    // its dnode
    uint32_t dtype = 0, btype = 0;
    uint64_t data_bs = 0, meta_bs = 0, bsize = 0;
    uint32_t nlevels = 0;
    uint64_t dn_holds = 0;
    uint64_t blocks = 0; // dn_maxblkid + 1
    uint64_t dsize = 0;  // bytes on disk
};

// Nothing if it is not in memory.
std::optional<dbuf_row_t> dbuf_row(const objset_t &os, uint64_t object, uint32_t level, uint64_t blkid);
// All of them, in the order of the hash table's chains.
std::vector<dbuf_row_t> dbuf_rows(const dmu_state_t &dmu);
const char *dbuf_state_name(dbuf_states_t state);                 // "CACHED"
const char *dbuf_caching_status_name(dbuf_cached_state_t status); // "DB_DBUF_CACHE"

} // namespace dmu
