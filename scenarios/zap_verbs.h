// What the operations on ZAPs do; one function an operation, named like it.
#pragma once

#include <cstdint>

namespace scenarios {

class Worker;
struct Step;

// What an integer of so many bytes can be.
constexpr uint64_t zap_integer_max(uint64_t bytes)
{
    return UINT64_MAX >> (64 - 8 * bytes);
}

namespace zap_verbs {

void zap_create(Worker &worker, const Step &step);
void zap_add(Worker &worker, const Step &step);
void zap_update(Worker &worker, const Step &step);
void zap_lookup(Worker &worker, const Step &step);
void zap_remove(Worker &worker, const Step &step);
void zap_count_write(Worker &worker, const Step &step);
void tx_hold_zap(Worker &worker, const Step &step);
void zap_cursor(Worker &worker, const Step &step);
void zap_stats(Worker &worker, const Step &step);

} // namespace zap_verbs
} // namespace scenarios
