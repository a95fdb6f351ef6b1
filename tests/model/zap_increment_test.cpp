// Sums under names, and ZAPs of a given number.
#include <doctest/doctest.h>

#include "model/dmu_state.h"
#include "model/zap.h"
#include "tests/model/pool_fixture.h"

using namespace dmu_test;

namespace {

// body(tx) in a transaction that may write to any object.
template <class Body>
void in_tx(objset_t &os, uint64_t zapobj, Body body)
{
    dmu_tx_ptr tx = dmu_tx_create(os);
    dmu_tx_hold_zap(*tx, zapobj, true, nullptr);
    REQUIRE(dmu_tx_assign(*tx, TXG_WAIT).ok());
    body(*tx);
    dmu_tx_commit(std::move(tx));
}

uint64_t new_zap(objset_t &os)
{
    uint64_t zapobj = 0;
    in_tx(os, DMU_NEW_OBJECT,
          [&](dmu_tx_t &tx) { zapobj = zap_create(os, DMU_OT_DIRECTORY_CONTENTS, DMU_OT_NONE, 0, tx); });
    return zapobj;
}

void increment(objset_t &os, uint64_t zapobj, const char *name, int64_t delta)
{
    in_tx(os, zapobj, [&](dmu_tx_t &tx) { CHECK(zap_increment(os, zapobj, name, delta, tx).ok()); });
}

// 0: there is no entry.
uint64_t sum(objset_t &os, uint64_t zapobj, const char *name)
{
    uint64_t value = 0;
    const auto found = zap_lookup(os, zapobj, name, 8, 1, &value);
    CHECK(found.ok() == (value != 0));
    return value;
}

// The entry comes with the first delta, grows, shrinks, and goes when it is 0.
void check_sums(objset_t &os, uint64_t zapobj)
{
    const uint64_t others = *zap_count(os, zapobj);
    increment(os, zapobj, "owner", 0);
    CHECK(sum(os, zapobj, "owner") == 0);
    CHECK(*zap_count(os, zapobj) == others);
    increment(os, zapobj, "owner", 700);
    increment(os, zapobj, "owner", 0);
    increment(os, zapobj, "owner", -200);
    CHECK(sum(os, zapobj, "owner") == 500);
    CHECK(*zap_count(os, zapobj) == others + 1);
    increment(os, zapobj, "owner", -500);
    CHECK(sum(os, zapobj, "owner") == 0);
    CHECK(*zap_count(os, zapobj) == others);
}

} // namespace

TEST_CASE("a sum comes with its first delta and goes when it is 0, in a microzap and in a fat ZAP")
{
    const sim::End end = run_objset(quiet_config(), [](spa_t &spa) {
        objset_t &os = spa.objset();
        const uint64_t zapobj = new_zap(os);
        increment(os, zapobj, "other", 1);
        check_sums(os, zapobj);
        CHECK(zap_get_stats(os, zapobj)->zs_salt == 0); // a microzap

        const std::string long_name(MZAP_NAME_LEN, 'x'); // and no room for it in one
        increment(os, zapobj, long_name.c_str(), 1);
        CHECK(zap_get_stats(os, zapobj)->zs_salt != 0);
        check_sums(os, zapobj);
        CHECK(sum(os, zapobj, "other") == 1);
    });
    CHECK(end.text == "");
}

TEST_CASE("a number and the name of its sum lead to each other")
{
    for (const uint64_t number : {uint64_t{0}, uint64_t{0xa}, uint64_t{0xffff'ffff}, UINT64_MAX})
        CHECK(zap_int_of_name(zap_int_name(number)) == number);
    CHECK(zap_int_name(0x1f) == "1f");
}

TEST_CASE("a ZAP is claimed under its number once")
{
    const sim::End end = run_objset(quiet_config(), [](spa_t &spa) {
        objset_t &os = spa.objset();
        constexpr uint64_t object = 77;
        const auto claim = [&] {
            int error = 0;
            in_tx(os, DMU_NEW_OBJECT,
                  [&](dmu_tx_t &tx) { error = zap_create_claim(os, object, DMU_OT_DIRECTORY_CONTENTS, tx).error(); });
            return error;
        };
        CHECK(claim() == 0);
        increment(os, object, "owner", 3);
        CHECK(claim() == EEXIST);
        CHECK(sum(os, object, "owner") == 3);
    });
    CHECK(end.text == "");
}
