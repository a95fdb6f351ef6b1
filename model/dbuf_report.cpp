#include "model/dbuf_report.h"

#include "model/dbuf_impl.h"

namespace dmu {

namespace {

dbuf_row_t row_of(const dmu_buf_impl_t &db)
{
    const dnode_t &dn = DB_DNODE(db);
    dbuf_row_t row;
    row.object = db.db_object;
    row.level = db.db_level;
    row.blkid = db.db_blkid;
    row.offset = db.db_level == 0 ? db.db_offset() : 0;
    row.db_size = db.db_size;
    row.meta = dbuf_buf_type(db, dn) == arc_buf_contents_t::metadata;
    row.db_state = db.db_state;
    row.db_holds = db.db_holds.peek();
    row.db_dirtycnt = db.db_dirtycnt;
    row.db_caching_status = db.db_caching_status;
    row.in_cache_list = list_link_active(db.db_cache_link);
    if (const arc_buf_t *buf = db.db_buf) {
        row.has_buffer = true;
        row.arc_state = buf->b_state;
        row.arc_size = buf->b_size;
        row.b_arc_access_ns = buf->b_arc_access.ns();
        row.mru_hits = buf->b_mru_hits;
        row.mru_ghost_hits = buf->b_mru_ghost_hits;
        row.mfu_hits = buf->b_mfu_hits;
        row.mfu_ghost_hits = buf->b_mfu_ghost_hits;
        row.arc_holds = list_link_active(buf->b_arc_node) ? 0 : 1;
    }
    row.dtype = dn.dn_type;
    row.btype = dn.dn_bonustype;
    row.data_bs = dn.dn_datablksz;
    row.meta_bs = dn.dn_indblkshift != 0 ? uint64_t{1} << dn.dn_indblkshift : 0;
    row.bsize = dn.dn_bonuslen;
    row.nlevels = dn.dn_nlevels;
    row.dn_holds = dn.dn_holds.peek();
    row.blocks = dn.dn_maxblkid + 1;
    row.dsize = dn.dn_phys->dn_used;
    return row;
}

template <class Visit>
void for_each_dbuf(const dmu_state_t &dmu, Visit visit)
{
    for (uint64_t i = 0; i <= dmu.dbufs.hash_table_mask; ++i)
        for (const dmu_buf_impl_t *db = dmu.dbufs.hash_table[i]; db != nullptr; db = db->db_hash_next)
            if (db->db_state != DB_EVICTING)
                visit(*db);
}

} // namespace

std::optional<dbuf_row_t> dbuf_row(const objset_t &os, uint64_t object, uint32_t level, uint64_t blkid)
{
    std::optional<dbuf_row_t> found;
    for_each_dbuf(os.os_dmu, [&](const dmu_buf_impl_t &db) {
        if (db.db_objset == &os && db.db_object == object && db.db_level == level && db.db_blkid == blkid)
            found = row_of(db);
    });
    return found;
}

std::vector<dbuf_row_t> dbuf_rows(const dmu_state_t &dmu)
{
    std::vector<dbuf_row_t> rows;
    for_each_dbuf(dmu, [&](const dmu_buf_impl_t &db) { rows.push_back(row_of(db)); });
    return rows;
}

const char *dbuf_state_name(dbuf_states_t state)
{
    static constexpr const char *names[] = {"UNCACHED", "FILL", "NOFILL", "READ", "CACHED", "EVICTING"};
    return names[static_cast<size_t>(state)];
}

const char *dbuf_caching_status_name(dbuf_cached_state_t status)
{
    switch (status) {
    case DB_DBUF_CACHE:
        return "DB_DBUF_CACHE";
    case DB_DBUF_METADATA_CACHE:
        return "DB_DBUF_METADATA_CACHE";
    case DB_NO_CACHE:
    case DB_CACHE_MAX:
        break;
    }
    return "DB_NO_CACHE";
}

} // namespace dmu
