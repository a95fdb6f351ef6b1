// Numbers are whole, bounded, and mean what they say.
#include "scenarios/number.h"

#include <doctest/doctest.h>

using namespace scenarios;

namespace {

const Params params = {{"files", {2'000'000, false}}, {"threads", {32, false}}, {"gap", {5'000, true}}};

std::string value(const char *expression, Unit unit = Unit::plain)
{
    try {
        return decimal(evaluate(expression, unit, params).value);
    } catch (const NumberError &error) {
        return error.what();
    }
}

} // namespace

TEST_CASE("parameters, the four operations and parentheses follow the usual order")
{
    CHECK(value("$files / $threads") == "62500");
    CHECK(value("1 + 2 * 3 - 4 / 2") == "5");
    CHECK(value("(1+2)*3") == "9");
    CHECK(value("10 - 3 - 2") == "5");
    CHECK(value("-$threads + 33") == "1");
    CHECK(value("2 - 5") == "-3");
}

TEST_CASE("a division must come out whole")
{
    CHECK(value("$files / 3") == "\"$files / 3\": 2000000 / 3 does not come out whole");
    CHECK(value("1 / 0") == "\"1 / 0\" divides by zero");
}

TEST_CASE("units belong to their kind of number")
{
    CHECK(value("4G", Unit::size) == "4294967296");
    CHECK(value("$threads * 4K", Unit::size) == "131072");
    CHECK(value("10us", Unit::duration) == "10000");
    CHECK(value("10us") == "\"10us\" has the unit \"us\"; this number takes no unit");
    CHECK(value("10K", Unit::duration) == "\"10K\" has the unit \"K\"; units of time are ns, us, ms and s");
    CHECK(value("10k", Unit::size) == "\"10k\" has the unit \"k\"; units of size are K, M, G and T");
    CHECK(evaluate("2 * 3ms", Unit::duration, {}).time);
    CHECK(evaluate("$gap", Unit::duration, params).time);
    CHECK_FALSE(evaluate("$gap / 1ns", Unit::duration, params).time);
    CHECK(value("1.5s", Unit::duration) == "\"1.5s\" has a fraction; numbers are whole, take a smaller unit");
}

TEST_CASE("what is not a number says what one looks like")
{
    CHECK(value("$file").find("did you mean \"files\"?") != std::string::npos);
    for (const char *text : {"", "x", "1 +", "(1", "1)", "1 2", "$", "1 % 2", "0x10", "1e3"})
        CHECK_THROWS_AS(evaluate(text, Unit::plain, params), NumberError);
}

TEST_CASE("nothing overflows")
{
    CHECK(value("18446744073709551616") == "18446744073709551616"); // the bounds of the field refuse it
    CHECK(value("99999999999999999999999999999999999999999").find("is too large") != std::string::npos);
    CHECK_THROWS_AS(evaluate(std::string(401, '('), Unit::plain, params), NumberError);
    CHECK_THROWS_AS(evaluate(std::string(400, '('), Unit::plain, params), NumberError);
    CHECK_THROWS_AS(evaluate(std::string(400, '-'), Unit::plain, params), NumberError);
}

TEST_CASE("durations and sizes are written in their largest whole unit")
{
    CHECK(duration_text(0) == "0s");
    CHECK(duration_text(5'000'000'000) == "5s");
    CHECK(duration_text(1'500) == "1500ns");
    CHECK(duration_text(100'000) == "100us");
    CHECK(size_text(64 << 20) == "64M");
    CHECK(size_text(1000) == "1000");
    CHECK(size_text(0) == "0");
}
