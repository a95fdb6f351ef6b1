// What one simulated hold and release of a cached dbuf costs the host: instructions, by cost.sh.
//
//   dbuf_hold_benchmark FORM OPERATIONS     FORM: heap-array, heap-frame or stack-frame
//
// One thread on the machine of 2019, whose cache lines are modelled; the dbuf goes out of the dbuf cache and into it
// again each time (holds 0, 1, 0), round robin over 128 blocks, as the recorded measurement of the real library does.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "model/dmu.h"
#include "model/dmu_object.h"
#include "model/dmu_tx.h"
#include "model/eras.h"
#include "model/objset.h"
#include "model/spa.h"
#include "sim/simulator.h"

using namespace dmu;

namespace {

constexpr uint64_t blocks = 128;
constexpr uint32_t blocksize = 8 << 10;

dmu_tx_ptr assigned(objset_t &os, const std::function<void(dmu_tx_t &)> &hold)
{
    dmu_tx_ptr tx = dmu_tx_create(os);
    hold(*tx);
    VERIFY(dmu_tx_assign(*tx, TXG_WAIT).ok());
    return tx;
}

uint64_t cached_file(spa_t &spa)
{
    objset_t &os = spa.objset();
    dmu_tx_ptr tx = assigned(os, [](dmu_tx_t &t) { dmu_tx_hold_bonus(t, DMU_NEW_OBJECT); });
    dnode_spec spec;
    spec.type = DMU_OT_PLAIN_FILE_CONTENTS;
    spec.blocksize = blocksize;
    const uint64_t object = dmu_object_alloc(os, spec, *tx);
    dmu_tx_commit(std::move(tx));
    tx = assigned(os, [&](dmu_tx_t &t) { dmu_tx_hold_write(t, object, 0, blocks * blocksize); });
    VERIFY(dmu_write(os, object, 0, blocks * blocksize, nullptr, *tx).ok());
    dmu_tx_commit(std::move(tx));
    txg_wait_synced(spa.dsl_pool(), 0);
    VERIFY(dmu_read(os, object, 0, blocks * blocksize, nullptr).ok());
    return object;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::fprintf(stderr, "dbuf_hold_benchmark FORM OPERATIONS\n");
        return 2;
    }
    model_config config = era_config("zol-2019");
    config.code.dbuf_hold = argv[1];
    const uint64_t operations = std::strtoull(argv[2], nullptr, 10);

    sim::Simulator simulator(sim::find_machine_profile("vm-2019")->machine, model_tables(), 1);
    simulator.set_free(true);
    simulator.spawn("holder", {}, [&] {
        spa_t spa(config);
        spa.spa_create();
        auto dn = dnode_hold(spa.objset(), cached_file(spa));
        VERIFY(dn.ok());
        simulator.set_free(false);
        rw_enter_manual((*dn)->dn_struct_rwlock, RW_READER);
        for (uint64_t i = 0; i < operations; ++i)
            dbuf_hold(**dn, i % blocks).rele();
        rw_exit((*dn)->dn_struct_rwlock);
        simulator.set_free(true);
        dn->rele();
        spa.spa_stop();
        spa.spa_close();
    });
    const sim::End end = simulator.run();
    std::printf("%llu holds and releases: %lld ns simulated\n", static_cast<unsigned long long>(operations),
                static_cast<long long>(end.at.ns()));
    return end.ending == sim::Ending::finished ? 0 : 1;
}
