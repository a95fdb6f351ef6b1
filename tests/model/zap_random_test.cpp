// Random work on ZAPs beside a plain std::map: both must say the same, always, and after every sync so must the disk.
//
// Names come from a small set, so that they meet again, and some share all 28 bits of their hash. Values have one
// integer or several, so that microzaps become fat in the middle. Between the operations: syncs, evictions, the objset
// opened anew.
#include "tests/model/pool_fixture.h"
#include "tests/model/zap_disk_check.h"

#include "model/txg.h"
#include "model/zap.h"
#include "sim/random.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

using namespace dmu;
using namespace dmu_test;

namespace {

using Value = std::vector<uint64_t>;
using Model = std::map<std::string, Value>;

// Four sets of names with equal hashes for salt 1.
constexpr const char *colliding[] = {"xf3279c509e52c",  "x115492e95e1657", "x22da463260371b", "xf2deea13545f2",
                                     "x148abf547ebc45", "x1758dac686a471", "x4aea405345a21",  "x839f4a4b66ae2",
                                     "x1d164c4941454d", "xc2a4cc0b5399b",  "xd346be00cc8b3",  "x10f123f21e8e64"};

class RandomZap {
public:
    // One operation in `between` goes over the whole ZAP: a walk, a sync with its check, an eviction, a new opening.
    RandomZap(spa_t &spa, sim::Random &random, uint64_t names, bool short_values, uint64_t between)
        : spa_(spa), os_(&spa.objset()), random_(random), names_(names), short_values_(short_values), between_(between)
    {
        in_tx(0, [&](dmu_tx_t &tx) { zap_ = zap_create(*os_, DMU_OT_DIRECTORY_CONTENTS, DMU_OT_NONE, 0, tx); });
    }

    void step()
    {
        if (random_.below(between_) == 0)
            return seldom();
        const uint64_t dice = random_.below(980);
        if (dice < 450)
            add();
        else if (dice < 600)
            update();
        else if (dice < 800)
            remove();
        else
            lookup(name());
    }

    void finish()
    {
        walk();
        sync();
        reopen();
        for (const auto &[name, value] : model_)
            lookup(name);
        lookup("nobody");
    }

    uint64_t syncs() const { return syncs_; }

private:
    // What goes over all entries.
    void seldom()
    {
        const uint64_t dice = random_.below(20);
        if (dice < 5)
            walk();
        else if (dice < 15)
            sync();
        else if (dice < 18)
            evict();
        else
            reopen();
    }

    std::string name()
    {
        const uint64_t which = random_.below(names_ + std::size(colliding));
        if (which < std::size(colliding))
            return colliding[which];
        return "n" + std::string(!short_values_ && which % 7 == 0 ? which % 60 : 0, 'x') + std::to_string(which);
    }

    Value value()
    {
        const uint64_t length = short_values_ || random_.below(50) != 0 ? 1 : 1 + random_.below(40);
        Value integers(length);
        for (uint64_t &integer : integers)
            integer = random_.below(UINT64_MAX);
        return integers;
    }

    template <class Change>
    void in_tx(uint64_t object, Change change)
    {
        auto tx = dmu_tx_create(*os_);
        dmu_tx_hold_zap(*tx, object != 0 ? object : DMU_NEW_OBJECT, true, nullptr);
        REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
        change(*tx);
        dmu_tx_commit(std::move(tx));
    }

    void add()
    {
        const std::string key = name();
        const Value integers = value();
        in_tx(zap_, [&](dmu_tx_t &tx) {
            const int error = zap_add(*os_, zap_, key, {8, integers.size(), integers.data()}, tx).error();
            CHECK(error == (model_.contains(key) ? EEXIST : 0));
        });
        model_.emplace(key, integers);
    }

    void update()
    {
        const std::string key = name();
        const Value integers = value();
        in_tx(zap_, [&](dmu_tx_t &tx) {
            CHECK(zap_update(*os_, zap_, key, {8, integers.size(), integers.data()}, tx).ok());
        });
        model_[key] = integers;
    }

    void remove()
    {
        const std::string key = name();
        in_tx(zap_, [&](dmu_tx_t &tx) {
            CHECK(zap_remove(*os_, zap_, key, tx).error() == (model_.erase(key) == 1 ? 0 : ENOENT));
        });
    }

    void lookup(const std::string &key)
    {
        Value read(64);
        const int error = zap_lookup(*os_, zap_, key, 8, read.size(), read.data()).error();
        const auto known = model_.find(key);
        REQUIRE(error == (known == model_.end() ? ENOENT : 0));
        if (error == 0) {
            read.resize(known->second.size());
            CHECK(read == known->second);
        }
    }

    void walk()
    {
        zap_cursor_t cursor(*os_, zap_);
        uint64_t seen = 0;
        std::pair<uint64_t, uint32_t> last{};
        for (auto entry = cursor.retrieve(); entry; cursor.advance(), entry = cursor.retrieve(), ++seen) {
            const std::pair<uint64_t, uint32_t> place{cursor.hash(), cursor.cd()};
            CHECK((seen == 0 || last < place));
            last = place;
            const auto known = model_.find(entry->za_name);
            REQUIRE(known != model_.end());
            CHECK(entry->za_num_integers == known->second.size());
            CHECK(entry->za_first_integer == known->second.front());
        }
        CHECK(seen == model_.size());
        auto count = zap_count(*os_, zap_);
        REQUIRE(count.ok());
        CHECK(*count == model_.size());
    }

    void sync()
    {
        ++syncs_;
        txg_wait_synced(spa_.dsl_pool(), 0);
        const ZapOnDisk disk(*os_, zap_);
        REQUIRE(disk.fault == "");
        REQUIRE(disk.entries.size() == model_.size());
        for (const auto &[name, entry] : disk.entries) {
            const auto known = model_.find(name);
            REQUIRE(known != model_.end());
            CHECK(entry.integers == known->second);
        }
    }

    void evict()
    {
        sync();
        dmu_objset_evict_dbufs(*os_);
    }

    void reopen() { os_ = &spa_.spa_reopen_objset(); }

    spa_t &spa_;
    objset_t *os_;
    sim::Random &random_;
    uint64_t names_;
    bool short_values_;
    uint64_t between_;
    uint64_t zap_ = 0;
    Model model_;
    uint64_t syncs_ = 0;
};

// One objset, one ZAP, `steps` operations. DMUSIM_SEED repeats what a printed seed did.
void run(const char *era, uint64_t seed, uint64_t names, bool short_values, uint64_t between, uint64_t steps)
{
    MESSAGE(std::string(era) << ", seed " << seed << ", " << steps << " operations");
    CAPTURE(std::string(era));
    CAPTURE(seed);
    model_config config = quiet_config();
    const model_config chosen = era_config(era);
    config.code = chosen.code;
    config.dataset = chosen.dataset;
    const sim::End end = run_objset(config, [&](spa_t &spa) {
        sim::Random random(seed, "zap");
        RandomZap zap(spa, random, names, short_values, between);
        for (uint64_t i = 0; i < steps; ++i)
            zap.step();
        zap.finish();
        CHECK(zap.syncs() > 0);
    });
    CHECK(end.text == "");
    CHECK(end.ending == sim::Ending::finished);
}

uint64_t seed_from_outside()
{
    const char *text = std::getenv("DMUSIM_SEED");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}

} // namespace

TEST_CASE("random work on a microzap and a std::map never differ, nor does the disk")
{
    run("zol-2016-08", seed_from_outside(), 60, true, 50, 4000);
}

TEST_CASE("random work on a ZAP that becomes fat and splits and a std::map never differ, nor does the disk")
{
    for (const char *era : {"illumos-2016", "zol-2016-08", "zol-2017", "zol-2019"})
        run(era, seed_from_outside(), 4000, false, 50, 5000);
}

TEST_SUITE("long")
{
    TEST_CASE("ten million random operations on ZAPs of four code bases agree with a std::map")
    {
        for (const char *era : {"illumos-2016", "zol-2016-08", "zol-2017", "zol-2019"}) {
            run(era, seed_from_outside() + 1, 300, true, 50, 500'000);
            run(era, seed_from_outside() + 2, 60'000, false, 1000, 2'000'000);
        }
    }
}
