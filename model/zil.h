// The intent log as creates and unlinks see it: a record a change, kept until its txg has synced.
//
// Nobody in these workloads asks for durability before the txg, so records are never written; what remains is what
// every transaction pays: the record's allocation, the lock of the open txg's list, and marking the log dirty.
// Followed: OpenZFS 8bea98150 (2016), zil_itx_create and zil_itx_assign. Left out: commits, the log's blocks, replay.
#pragma once

#include "model/dsl_pool.h"
#include "model/spl.h"
#include "model/txg.h"

#include <cstdint>

namespace dmu {

struct itxg_t {
    kmutex_t itxg_lock{"itxg_lock"};
    // under itxg_lock:
    uint64_t itxg_txg = 0; // whose records these are; older ones went with their txg
    uint64_t itxg_records = 0;
};

struct zilog_t {
    per_txg<itxg_t> zl_itxg;
    atomic_uint64_t zl_itx_list_sz{0}; // bytes of all records ever assigned
};

// A record of `bytes` for the change that tx makes. REQUIRES: tx is assigned.
void zil_itx_assign(zilog_t &zilog, uint64_t bytes, dmu_tx_t &tx);

} // namespace dmu
