// The command line: what a command is, and how its words become values.
//
// The command's own options and the common ones are read by Boost.Program_options from the words after the command's
// name. Numbers are strict (a sign, a fraction or a blank is an error, where Boost alone would take -1 for 2^64-1), and
// a word that is nearly an option or a command is answered with the one that was probably meant.
#pragma once

#include "analysis/cli/progress.h"
#include "analysis/text.h"

#include <boost/program_options.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cli {

namespace po = boost::program_options;

// A whole number from 0 to 2^64 - 1, in digits and nothing else.
struct Whole {
    uint64_t value = 0;
};

void validate(boost::any &value, const std::vector<std::string> &texts, Whole *, int); // for Boost, found by type

struct Common {
    std::vector<std::string> sets; // PATH=VALUE
    std::optional<uint64_t> seed;
    std::optional<uint64_t> cpus;
    bool json = false;
    bool quiet = false;
    std::string output; // empty: standard output
    When progress = When::automatic;
    When color = When::automatic;

    // For a text that goes to standard output.
    analysis::Style style() const;
};

struct Arguments {
    Common common;
    po::variables_map options;
    std::vector<std::string> words; // what is not an option

    bool has(const char *name) const { return options.count(name) > 0; }
    uint64_t whole(const char *name, uint64_t otherwise) const
    {
        return has(name) ? options[name].as<Whole>().value : otherwise;
    }
    std::vector<std::string> list(const char *name) const
    {
        return has(name) ? options[name].as<std::vector<std::string>>() : std::vector<std::string>{};
    }
};

struct Command {
    const char *name;
    const char *synopsis; // after "dmusim NAME"
    const char *summary;  // one line
    const char *details;  // what it writes where; examples
    size_t words_min, words_max;
    const char *word;      // what a word is: "SCENARIO"
    bool scenario_options; // --set, --seed, --cpus
    void (*add_options)(po::options_description &);
    int (*run)(const Arguments &);
};

// Reads the words after the command's name. Throws UsageError. An empty optional: --help was asked for and printed.
std::optional<Arguments> read_arguments(const Command &command, const std::vector<std::string> &words);

std::string help_text(const Command &command);

} // namespace cli
