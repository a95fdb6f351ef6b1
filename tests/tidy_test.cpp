// Rules of the house that are worth repeating, each with what to write instead.
#include "analysis/version.h"
#include "tests/source_tree.h"

#include <cctype>
#include <doctest/doctest.h>
#include <set>

namespace {

bool word_at(const std::string &text, size_t at, size_t length)
{
    auto part = [&](size_t i) {
        return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
    };
    return (at == 0 || !part(at - 1)) && !part(at + length);
}

bool has_word(const std::string &text, const std::string &word)
{
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
        if (word_at(text, at, word.size()))
            return true;
    return false;
}

bool below_analysis(const std::string &path)
{
    return path.starts_with("sim/") || path.starts_with("model/") || path.starts_with("scenarios/");
}

struct Rule {
    const char *word;
    const char *instead;
};

} // namespace

TEST_CASE("names that would make a run differ from the next one stay out of the simulation")
{
    static const Rule rules[] = {
        {"rand", "a named stream of sim/random.h"},
        {"srand", "a named stream of sim/random.h"},
        {"random_device", "a named stream of sim/random.h"},
        {"mt19937", "a named stream of sim/random.h"},
        {"mt19937_64", "a named stream of sim/random.h"},
        {"uniform_int_distribution", "the integer distributions of sim/random.h"},
        {"uniform_real_distribution", "the integer distributions of sim/random.h"},
        {"exponential_distribution", "the integer distributions of sim/random.h"},
        {"system_clock", "sim::now()"},
        {"steady_clock", "sim::now(), or Progress in analysis/cli"},
        {"gettimeofday", "sim::now()"},
        {"clock_gettime", "sim::now()"},
        {"setlocale", "nothing: the C locale"},
        {"double", "integers; floating point starts at analysis/"},
        {"float", "integers; floating point starts at analysis/"},
        {"assert", "VERIFY, which stays on"},
        {"fprintf", "nothing: lower layers do not print"},
        {"cout", "nothing: lower layers do not print"},
        {"cerr", "nothing: lower layers do not print"},
    };
    // The host's pace of progress callbacks is the interpreter's business and never in a result.
    static const std::set<std::string> paced = {"scenarios/run.cpp", "scenarios/workload.cpp"};
    for (const SourceFile &file : source_files()) {
        if (!below_analysis(file.path))
            continue;
        for (size_t i = 0; i < file.lines.size(); ++i) {
            std::string code = code_of(file.lines[i]);
            for (const Rule &rule : rules) {
                if (!has_word(code, rule.word))
                    continue;
                if (paced.count(file.path) > 0 && std::string(rule.word) == "steady_clock")
                    continue;
                INFO(file.path, ":", i + 1, ": '", std::string(rule.word), "'; write ", std::string(rule.instead));
                CHECK(false);
            }
        }
    }
}

TEST_CASE("a variant's name stands in its table and nowhere else in the model")
{
    static const char *const names[] = {"\"legacy\"",      "\"rescan\"",     "\"no-backfill\"", "\"per-cpu\"",
                                        "\"by-object\"",   "\"by-dnode\"",   "\"heap-frame\"",  "\"heap-array\"",
                                        "\"stack-frame\"", "\"lookup-only\""};
    for (const SourceFile &file : source_files()) {
        if (!file.path.starts_with("model/") || file.path.starts_with("model/variants/") ||
            file.path.starts_with("model/eras."))
            continue;
        for (size_t i = 0; i < file.lines.size(); ++i)
            for (const char *name : names) {
                INFO(file.path, ":", i + 1, ": ", std::string(name), "; ask the variant object instead");
                CHECK(code_of(file.lines[i], true).find(name) == std::string::npos);
            }
    }
}

TEST_CASE("a file is short enough to be read, and opens with its idea")
{
    constexpr size_t lines_max = 700;
    for (const SourceFile &file : source_files()) {
        INFO(file.path, " has ", file.lines.size(), " lines; split it by idea");
        CHECK(file.lines.size() <= lines_max);
        if (file.path.starts_with("tests/") || !file.path.ends_with(".h") || file.lines.empty())
            continue;
        INFO(file.path, ": a header begins with a comment that says what problem it solves, and how");
        CHECK(file.lines[0].starts_with("//"));
    }
}

TEST_CASE("the top level holds the five layers and nothing that has no place there")
{
    static const std::set<std::string> known = {"README.md", "meson.build", "meson_options.txt", "LICENSE", "sim",
                                                "model",     "scenarios",   "analysis",          "tests"};
    for (const auto &entry : std::filesystem::directory_iterator(DMUSIM_SOURCE_ROOT)) {
        std::string name = entry.path().filename().string();
        if (name.starts_with(".") || name.starts_with("build"))
            continue;
        INFO(name, ": put it into the layer it belongs to");
        CHECK(known.count(name) == 1);
    }
}

TEST_CASE("the version is the same in meson.build and in every result")
{
    std::ifstream build(std::string(DMUSIM_SOURCE_ROOT) + "/meson.build");
    std::string line, text;
    while (std::getline(build, line))
        text += line + "\n";
    CHECK(text.find("version : '" + std::string(analysis::version) + "'") != std::string::npos);
}
