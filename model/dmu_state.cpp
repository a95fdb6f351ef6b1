#include "model/dmu_state.h"

namespace dmu {

dmu_state_t::dmu_state_t(const model_config &configuration)
    : config(configuration), variants(configuration.code), era(variants.era),
      dbufs(DBUF_HASH_BUCKETS, configuration.dataset.dbuf_mutexes)
{
}

} // namespace dmu
