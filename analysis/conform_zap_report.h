// A ZAP as the recordings describe it.
#pragma once

#include "analysis/conform_zap_bed.h"

namespace analysis {

// The fields that `recorded` has, from the model: counts, block sizes, zap_get_stats, the names and leaves listed.
// `label` and `n_inserted` are the replay's own.
Json zap_report(ZapBed &bed, uint64_t zapobj, const Json &recorded);

// Every entry in cursor order: name, hash, cd, cookie of the entry, cookie after it, first integer.
Json zap_cursor_rows(ZapBed &bed, uint64_t zapobj);
// Entries that a cursor restarted from their cookie does not find again.
uint64_t zap_restart_mismatches(ZapBed &bed, uint64_t zapobj, const Json &rows);
// The cookie after the last entry.
std::string zap_end_cookie(ZapBed &bed, uint64_t zapobj);

} // namespace analysis
