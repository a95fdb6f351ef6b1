// The arrows between the layers, held by the #include lines: sim <- model <- scenarios <- analysis <- analysis/cli.
//
// A layer may use what stands to its left. Inside model/ only spl.h names sim/. Each library from outside belongs to
// the layers listed with it.
#include "tests/source_tree.h"

#include <doctest/doctest.h>
#include <map>

namespace {

const std::vector<std::string> layers = {"sim", "model", "scenarios", "analysis", "analysis/cli"};

// Index in layers of a path such as "analysis/cli/main.cpp"; size() where it is in none.
size_t layer_of(const std::string &path)
{
    for (size_t i = layers.size(); i-- > 0;)
        if (path.starts_with(layers[i] + "/"))
            return i;
    return layers.size();
}

struct Include {
    std::string file;
    size_t line;
    std::string header;
};

std::vector<Include> includes()
{
    std::vector<Include> all;
    for (const SourceFile &file : source_files()) {
        if (layer_of(file.path) == layers.size())
            continue;
        for (size_t i = 0; i < file.lines.size(); ++i) {
            const std::string &line = file.lines[i];
            if (!line.starts_with("#include"))
                continue;
            size_t open = line.find_first_of("\"<"), close = line.find_first_of("\">", open + 1);
            if (open != std::string::npos && close != std::string::npos)
                all.push_back({file.path, i + 1, line.substr(open + 1, close - open - 1)});
        }
    }
    return all;
}

} // namespace

TEST_CASE("an include points to the own layer or to one on its left")
{
    for (const Include &include : includes()) {
        size_t to = layer_of(include.header);
        if (to == layers.size())
            continue;
        INFO(include.file, ":", include.line, " includes ", include.header);
        CHECK(to <= layer_of(include.file));
    }
}

TEST_CASE("inside the model only the porting layer names the simulation kernel")
{
    for (const Include &include : includes()) {
        // sim/verify.h is vocabulary, not kernel: assertions.
        if (!include.file.starts_with("model/") || !include.header.starts_with("sim/") ||
            include.header == "sim/verify.h")
            continue;
        INFO(include.file, ":", include.line, " includes ", include.header);
        CHECK(include.file == "model/spl.h");
    }
}

TEST_CASE("a library from outside is named only where it belongs")
{
    static const std::map<std::string, std::vector<std::string>> homes = {
        {"boost/context", {"sim/fiber."}},
        {"boost/pool", {"model/pooled."}},
        {"boost/program_options", {"analysis/cli/"}},
        {"nlohmann/", {"scenarios/", "analysis/"}},
        {"Eigen/", {"analysis/"}},
        {"unsupported/Eigen/", {"analysis/"}},
    };
    for (const Include &include : includes())
        for (const auto &[library, allowed] : homes) {
            if (!include.header.starts_with(library))
                continue;
            bool at_home = false;
            for (const std::string &home : allowed)
                at_home = at_home || include.file.starts_with(home);
            INFO(include.file, ":", include.line, " includes ", include.header);
            CHECK(at_home);
        }
}
