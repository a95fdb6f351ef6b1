#include "analysis/text.h"

#include <doctest/doctest.h>

using namespace analysis;

TEST_CASE("what could move a terminal's cursor or forge a line is shown, not sent")
{
    CHECK(escaped("plain <b>&\"") == "plain <b>&\"");
    CHECK(escaped("a\x1b[2Jb\nc\td\r\x7f") == "a\\x1b[2Jb\\nc\\td\\x0d\\x7f");
    CHECK(escaped("gr\xc3\xbc\xc3\x9f") == "gr\xc3\xbc\xc3\x9f");
    CHECK(escaped("\xc2\x9b"
                  "1m") == "\\xc2\\x9b1m");                    // the one-character escape
    CHECK(escaped("\xe2\x80\xaetxt") == "\\xe2\\x80\\xaetxt"); // right-to-left override
    CHECK(escaped("\xff\xc3") == "\\xff\\xc3");
}

TEST_CASE("numbers are grouped and durations take the unit that fits")
{
    CHECK(grouped(974377) == "974,377");
    CHECK(grouped(0) == "0");
    CHECK(number_text(1234567) == "1,234,567");
    CHECK(number_text(0.03125) == "0.03125");
    CHECK(number_text(nullptr) == "-");
    CHECK(duration_text(0) == "0");
    CHECK(duration_text(12.5) == "12.50 ns");
    CHECK(duration_text(1234567) == "1.235 ms");
    CHECK(duration_text(5'000'000'000) == "5.000 s");
    CHECK(bytes_text(64 << 20) == "64 MiB");
    CHECK(bytes_text(1536) == "1.5 KiB");
    CHECK(percent_text(1, 8) == "12.5 %");
    CHECK(percent_text(1, 0) == "-");
}

TEST_CASE("a histogram is printed as DTrace prints an aggregation")
{
    // 974,135 of 974,240: the bar rounds to all 40; buckets between the first and the last are shown though empty
    Json histogram = Json::parse(R"({"scale": "quantize", "unit": "calls", "rows": [[0, 30], [1, 5], [4, 5]]})");
    CHECK(histogram_text(histogram) == "           value  ------------- Distribution ------------- count\n"
                                       "              -1 |                                         0\n"
                                       "               0 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           30\n"
                                       "               1 |@@@@@                                    5\n"
                                       "               2 |                                         0\n"
                                       "               4 |@@@@@                                    5\n"
                                       "               8 |                                         0\n");
}

TEST_CASE("columns are as wide as their widest cell")
{
    Table table({{"name", Table::left}, {"n"}});
    table.row({"a", "1,000"});
    table.row({"longer", "2"});
    CHECK(table.text("") == "name        n\na       1,000\nlonger      2\n");
}
