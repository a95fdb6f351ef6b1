// Placeholders are filled with what the thread's place in its script says.
#include "scenarios/placeholder.h"

#include <doctest/doctest.h>

using namespace scenarios;

namespace {

class Fixed : public Placeholders {
public:
    uint64_t thread() override { return 3; }
    uint64_t round() override { return 17; }
    uint64_t group_number() override { return 204027; }
    std::string_view group() override { return "creator"; }
    uint64_t random(uint64_t low, uint64_t high) override { return (low + high) / 2; }
};

std::string filled(const char *text)
{
    Fixed fixed;
    try {
        return Template(text).fill(fixed);
    } catch (const NumberError &error) {
        return error.what();
    }
}

} // namespace

TEST_CASE("every placeholder, with and without a width")
{
    CHECK(filled("f{n:08}") == "f00204027");
    CHECK(filled("{group}-{thread}/{i:1}") == "creator-3/17");
    CHECK(filled("{rand:10..30}{rand:1..3:03}") == "20002");
    CHECK(filled("{{{i}}}") == "{17}");
    CHECK(filled("plain") == "plain");
    CHECK(filled("") == "");
    CHECK(Template("a{{b").constant());
    CHECK_FALSE(Template("a{i}").constant());
}

TEST_CASE("a mistake in a placeholder says what is known")
{
    CHECK(filled("{thred}").find("did you mean \"thread\"?") != std::string::npos);
    CHECK(filled("{i").find("without its \"}\"") != std::string::npos);
    CHECK(filled("i}").find("without its \"{\"") != std::string::npos);
    CHECK(filled("{rand}").find("{rand:LO..HI}") != std::string::npos);
    CHECK(filled("{rand:5..1}").find("above the upper") != std::string::npos);
    CHECK(filled("{i:x}").find("is not a number") != std::string::npos);
    CHECK(filled("{i:99999999999999999999999}").find("is not a number") != std::string::npos);
    CHECK(filled("{i:101}").find("at most 100") != std::string::npos);
}

TEST_CASE("a number may depend on the round, and is then checked each round")
{
    const Document document =
        parse_json("f", R"j({"a": "{i} * 4K", "b": "{i} - 18", "c": "{i} * us", "d": "100 / ({i} - 1)"})j");
    const Params params;
    const Reading reading{document, params};
    const Value root{document.root, reading, ""};
    Fixed fixed;
    CHECK(read_quantity(root.at("a"), {Unit::size}).get(fixed, params) == 17 * 4096);
    CHECK_THROWS_AS(read_quantity(root.at("b"), {}).get(fixed, params), NumberError);
    CHECK_THROWS_AS(read_quantity(root.at("c"), {}), InputError);
    CHECK_THROWS_AS(read_quantity(root.at("d"), {}).get(fixed, params), DivisionError); // 100 / 16
}
