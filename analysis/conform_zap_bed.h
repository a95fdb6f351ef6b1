// A pool, an objset and one simulated thread in which recorded ZAP operations are replayed.
//
// The recordings come from one thread of the real library in user space, so the machine has one CPU, nothing costs
// time, and the code base is the one the trace names as its tree. What a replay asks of the model goes through the same
// calls a workload makes: transactions are assigned and committed, blocks synced, evicted and read back.
#pragma once

#include "analysis/conform.h"
#include "analysis/json.h"

#include "model/dmu_object.h"
#include "model/dmu_tx.h"
#include "model/objset.h"
#include "model/spa.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace analysis {

class ZapBed {
public:
    explicit ZapBed(dmu::spa_t &spa, dmu::objset_t &os) : spa_(spa), os_(&os) {}

    dmu::objset_t &os() { return *os_; }
    dmu::spa_t &spa() { return spa_; }

    // Runs `change` in one assigned transaction that may change anything in the objects it names.
    void transact(uint64_t zapobj, const std::function<void(dmu::dmu_tx_t &)> &change);
    // The same many times over: step(tx, i) for i in [first, last), a few thousand a transaction.
    void transact_each(uint64_t zapobj, uint64_t first, uint64_t last,
                       const std::function<void(dmu::dmu_tx_t &, uint64_t)> &step);
    uint64_t create_zap();                   // at the next free number
    uint64_t create_zap_at(uint64_t object); // at that one
    void sync();                             // everything dirty is on disk when it returns
    void reopen();                           // the objset is closed and opened again

    // 0 or the errno, as traces have it.
    int add(uint64_t zapobj, std::string_view name, uint64_t value);
    int remove(uint64_t zapobj, std::string_view name);

private:
    dmu::spa_t &spa_;
    dmu::objset_t *os_;
};

// Runs `replay` in a simulated thread of a fresh pool. Throws BadTrace for a tree nobody knows.
void in_zap_bed(std::string_view tree, uint64_t salt, const std::function<void(ZapBed &)> &replay);

// "f00000042"
std::string f_name(uint64_t index);
// "94cde35000000000"
std::string hex64(uint64_t value, int digits = 16);

// Fields of a trace: absent or of another type is a BadTrace with its path.
const Json &field(const Json &object, const std::string &path, const char *name);
uint64_t number_field(const Json &object, const std::string &path, const char *name);
const std::string &text_field(const Json &object, const std::string &path, const char *name);
const Json &list_field(const Json &object, const std::string &path, const char *name);
uint64_t hex_field(const Json &object, const std::string &path, const char *name);

// Hands each entry of "cases" to a Replay made of the bed and the comparison.
template <class Replay>
void replay_cases(const Json &trace, Comparison &comparison)
{
    in_zap_bed(text_field(trace, "", "tree"), 1, [&](ZapBed &bed) {
        Replay replay(bed, comparison);
        size_t index = 0;
        for (const Json &recorded : list_field(trace, "", "cases"))
            replay.replay(recorded, index++);
    });
}

} // namespace analysis
