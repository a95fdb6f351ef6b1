// See the head of conform_zap_report.h.
#include "analysis/conform_zap_report.h"

#include "model/zap.h"
#include "model/zap_report.h"

#include <cstdlib>

namespace analysis {

namespace {

Json name_row(ZapBed &bed, uint64_t zapobj, const std::string &name, bool micro)
{
    const dmu::zap_place_t place = dmu::zap_place(bed.os(), zapobj, name);
    Json row = {name, hex64(place.hash), place.leaf_blkid};
    row.push_back(place.found ? Json(place.cd) : Json(-1));
    row.push_back(place.found ? Json(place.slot) : Json(-1));
    if (!micro) {
        row.push_back(place.bucket);
        row.push_back(place.prefix_len);
        row.push_back(place.prefix);
    }
    return row;
}

Json name_rows(ZapBed &bed, uint64_t zapobj, const Json &recorded, bool micro)
{
    Json rows = Json::array();
    for (const Json &row : recorded) {
        if (!row.is_array() || row.empty() || !row[0].is_string())
            throw BadTrace("names", "a row begins with a name");
        rows.push_back(name_row(bed, zapobj, row[0].get<std::string>(), micro));
    }
    return rows;
}

Json leaf_rows(ZapBed &bed, uint64_t zapobj)
{
    Json rows = Json::array();
    for (const dmu::zap_leaf_row_t &leaf : dmu::zap_leaf_rows(bed.os(), zapobj))
        rows.push_back({leaf.first_pointer, leaf.blkid, leaf.prefix_len, leaf.prefix, leaf.nentries, leaf.nfree});
    return rows;
}

Json::number_unsigned_t cookie_number(const std::string &text)
{
    return std::strtoull(text.c_str(), nullptr, 16);
}

} // namespace

Json zap_report(ZapBed &bed, uint64_t zapobj, const Json &recorded)
{
    auto counted = dmu::zap_count(bed.os(), zapobj);
    auto info = dmu::dmu_object_info(bed.os(), zapobj);
    auto stated = dmu::zap_get_stats(bed.os(), zapobj);
    VERIFY(counted.ok());
    VERIFY(info.ok());
    VERIFY(stated.ok());
    const dmu::zap_stats_t &stats = *stated;
    const dmu::zap_shape_t shape = dmu::zap_shape(bed.os(), zapobj);

    Json report;
    report["type"] = shape.micro ? "micro" : "fat";
    report["zap_count"] = *counted;
    report["data_block_size"] = info->doi_data_block_size;
    report["max_offset"] = info->doi_max_offset;
    report["indblk_size"] = info->doi_metadata_block_size;
    report["indirection"] = info->doi_indirection;
    report["zs_num_entries"] = stats.zs_num_entries;
    report["zs_blocksize"] = stats.zs_blocksize;
    report["zs_num_blocks"] = stats.zs_num_blocks;
    report["zs_num_leafs"] = stats.zs_num_leafs;
    report["zs_ptrtbl_len"] = stats.zs_ptrtbl_len;
    report["zs_ptrtbl_zt_blk"] = stats.zs_ptrtbl_zt_blk;
    report["zs_ptrtbl_zt_numblks"] = stats.zs_ptrtbl_zt_numblks;
    report["zs_ptrtbl_zt_shift"] = stats.zs_ptrtbl_zt_shift;
    report["zs_ptrtbl_nextblk"] = stats.zs_ptrtbl_nextblk;
    report["zs_ptrtbl_blks_copied"] = stats.zs_ptrtbl_blks_copied;
    report["zs_salt"] = stats.zs_salt;
    report["leafs_with_2n_pointers"] = stats.zs_leafs_with_2n_pointers;
    report["blocks_with_n5_entries"] = stats.zs_blocks_with_n5_entries;
    report["blocks_n_tenths_full"] = stats.zs_blocks_n_tenths_full;
    report["entries_using_n_chunks"] = stats.zs_entries_using_n_chunks;
    report["buckets_with_n_entries"] = stats.zs_buckets_with_n_entries;
    if (shape.micro) {
        report["num_chunks"] = dmu::mzap_slots(shape.data_block_size);
    } else {
        report["zap_freeblk"] = shape.freeblk;
        report["zap_flags"] = 0;
    }
    if (recorded.contains("names"))
        report["names"] = name_rows(bed, zapobj, recorded["names"], shape.micro);
    if (recorded.contains("leaves"))
        report["leaves"] = leaf_rows(bed, zapobj);
    return report;
}

Json zap_cursor_rows(ZapBed &bed, uint64_t zapobj)
{
    Json rows = Json::array();
    dmu::zap_cursor_t cursor(bed.os(), zapobj);
    for (auto entry = cursor.retrieve(); entry; entry = cursor.retrieve()) {
        Json row = {entry->za_name, hex64(cursor.hash()), cursor.cd(), hex64(cursor.serialize(), 1)};
        cursor.advance();
        row.push_back(hex64(cursor.serialize(), 1));
        row.push_back(entry->za_first_integer);
        rows.push_back(std::move(row));
    }
    return rows;
}

uint64_t zap_restart_mismatches(ZapBed &bed, uint64_t zapobj, const Json &rows)
{
    uint64_t mismatches = 0;
    for (const Json &row : rows) {
        dmu::zap_cursor_t cursor(bed.os(), zapobj, cookie_number(row[3].get<std::string>()));
        auto entry = cursor.retrieve();
        if (!entry || entry->za_name != row[0].get<std::string>())
            ++mismatches;
    }
    return mismatches;
}

std::string zap_end_cookie(ZapBed &bed, uint64_t zapobj)
{
    dmu::zap_cursor_t cursor(bed.os(), zapobj);
    while (cursor.retrieve())
        cursor.advance();
    return hex64(cursor.serialize(), 1);
}

} // namespace analysis
