#include "model/dmu_state.h"

namespace dmu {

namespace {

dbuf_hash_sizes_t sizes_of(const model_config &config)
{
    if (config.pool.memory != 0)
        return dbuf_hash_sizes(config.pool.memory);
    return {DBUF_HASH_BUCKETS, config.dataset.dbuf_mutexes};
}

} // namespace

dmu_state_t::dmu_state_t(const model_config &configuration)
    : config(configuration), variants(configuration.code), era(variants.era), arc(configuration, era.arc_buf_locks),
      dbufs(sizes_of(configuration).buckets, variants.make_dbuf_hash_locks(sizes_of(configuration).mutexes)),
      dbuf_cache(configuration.pool)
{
}

} // namespace dmu
