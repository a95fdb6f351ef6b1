#include "analysis/cli/options.h"

#include "analysis/cli/errors.h"
#include "analysis/cli/output.h"
#include "scenarios/input_error.h"

#include <charconv>
#include <cstdlib>
#include <set>
#include <sstream>
#include <unistd.h>

namespace cli {

// Found by Boost through the type of the last pointer.
void validate(boost::any &value, const std::vector<std::string> &texts, Whole *, int)
{
    po::validators::check_first_occurrence(value);
    const std::string &text = po::validators::get_single_string(texts);
    Whole whole;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole.value);
    if (error != std::errc() || end != text.data() + text.size() || text.empty())
        throw po::invalid_option_value(text);
    value = whole;
}

namespace {

po::options_description common_options(const Command &command)
{
    po::options_description options("Common options");
    auto add = options.add_options();
    if (command.scenario_options) {
        add("set", po::value<std::vector<std::string>>()->composing()->value_name("PATH=VALUE"),
            "put VALUE (JSON or a bare string) at a dotted path of the scenario; repeatable");
        add("seed", po::value<Whole>()->value_name("N"), "the scenario's seed, from 0 to 2^64-1");
        add("cpus", po::value<Whole>()->value_name("N"), "short for --set machine.cpus=N");
    }
    add("json", "JSON on standard output, nothing else");
    add("output,o", po::value<std::string>()->value_name("FILE"), "write there, whole or not at all");
    add("quiet,q", "no report, no progress; only errors and what was asked for by --json or -o");
    add("progress", po::value<std::string>()->value_name("WHEN"),
        "auto (a line on a terminal, elsewhere one a minute), always (from the beginning), never");
    add("color", po::value<std::string>()->value_name("WHEN"), "auto (on a terminal, unless NO_COLOR), always, never");
    add("help,h", "this text");
    return options;
}

po::options_description own_options(const Command &command)
{
    po::options_description options("Options");
    if (command.add_options != nullptr)
        command.add_options(options);
    return options;
}

When read_when(const char *option, const std::string &text)
{
    if (text == "auto")
        return When::automatic;
    if (text == "always")
        return When::always;
    if (text == "never")
        return When::never;
    throw UsageError(std::string(option) + ": " + scenarios::in_quotes(text) + " is not one of auto, always, never");
}

// `--seed -1` would be read as an option of its own and the message would speak of something else: a long option that
// takes a value takes the next word, whatever it looks like.
std::vector<std::string> join_values(const std::vector<std::string> &words, const po::options_description &options)
{
    std::set<std::string> valued;
    for (const auto &option : options.options())
        if (option->semantic()->max_tokens() > 0)
            valued.insert("--" + option->long_name());
    std::vector<std::string> joined;
    for (size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "--") {
            joined.insert(joined.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
            break;
        }
        if (valued.count(words[i]) > 0 && i + 1 < words.size()) {
            joined.push_back(words[i] + "=" + words[i + 1]);
            ++i;
        } else {
            joined.push_back(words[i]);
        }
    }
    return joined;
}

po::variables_map parse(const Command &command, const std::vector<std::string> &given,
                        const po::options_description &visible)
{
    po::options_description all;
    all.add(visible).add_options()("words", po::value<std::vector<std::string>>());
    po::positional_options_description positions;
    positions.add("words", -1);
    int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    std::vector<std::string> words = join_values(given, visible);
    po::variables_map values;
    const std::string name = command.name;
    for (const std::string &word : words)
        if (word.starts_with("--") && word.find('=') == word.size() - 1)
            throw UsageError(name + ": " + analysis::escaped(word.substr(0, word.size() - 1)) + ": its value is empty");
    try {
        po::store(po::command_line_parser(words).options(all).positional(positions).style(style).run(), values);
        po::notify(values);
    } catch (const po::unknown_option &error) {
        std::vector<std::string> known;
        for (const auto &option : visible.options())
            known.push_back("--" + option->long_name());
        std::string typed = error.get_option_name();
        std::string near = scenarios::nearest(typed, known);
        throw UsageError(name + ": unknown option " + scenarios::in_quotes(typed) +
                         (near.empty() ? "" : "; did you mean " + near + "?"));
    } catch (const po::multiple_occurrences &error) {
        throw UsageError(name + ": " + error.get_option_name() + " is given twice");
    } catch (const po::invalid_command_line_syntax &error) {
        throw UsageError(name + ": " + analysis::escaped(error.what()));
    } catch (const po::validation_error &error) {
        // Boost's own text does not say what is allowed; every typed option here is a whole number.
        std::string what = analysis::escaped(error.what());
        throw UsageError(name + ": " + what + "; a whole number from 0 to 18446744073709551615 is wanted");
    } catch (const po::error &error) {
        throw UsageError(name + ": " + analysis::escaped(error.what()));
    }
    return values;
}

} // namespace

analysis::Style Common::style() const
{
    const char *no_color = std::getenv("NO_COLOR");
    const char *terminal = std::getenv("TERM");
    bool automatic = isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') && terminal != nullptr &&
                     std::string_view(terminal) != "dumb";
    return {color == When::always || (color == When::automatic && automatic)};
}

std::string help_text(const Command &command)
{
    std::ostringstream text;
    text << "Usage: dmusim " << command.name << " " << command.synopsis << "\n\n" << command.summary << "\n\n";
    if (po::options_description own = own_options(command); !own.options().empty())
        text << own << "\n";
    text << common_options(command) << "\n" << command.details;
    return text.str();
}

std::optional<Arguments> read_arguments(const Command &command, const std::vector<std::string> &words)
{
    po::options_description visible;
    visible.add(own_options(command)).add(common_options(command));
    Arguments arguments;
    arguments.options = parse(command, words, visible);
    if (arguments.has("help")) {
        Output(std::string()).write(help_text(command));
        return std::nullopt;
    }
    arguments.words = arguments.list("words");
    if (arguments.words.size() < command.words_min)
        throw UsageError(std::string(command.name) + ": " +
                         (command.words_min == 1 ? std::string("a ") + command.word + " is missing"
                                                 : std::to_string(command.words_min) + " words are wanted, " +
                                                       std::to_string(arguments.words.size()) + " given: dmusim " +
                                                       command.name + " " + command.synopsis));
    if (arguments.words.size() > command.words_max)
        throw UsageError(std::string(command.name) + ": " + scenarios::in_quotes(arguments.words[command.words_max]) +
                         " is one " + command.word + " too many");
    Common &common = arguments.common;
    if (command.scenario_options) {
        common.sets = arguments.list("set");
        if (arguments.has("seed"))
            common.seed = arguments.whole("seed", 0);
        if (arguments.has("cpus"))
            common.cpus = arguments.whole("cpus", 0);
    }
    common.json = arguments.has("json");
    common.quiet = arguments.has("quiet");
    if (arguments.has("output")) {
        common.output = arguments.options["output"].as<std::string>();
        if (common.output.empty())
            throw UsageError(std::string(command.name) + ": -o: a file name is empty");
    }
    if (arguments.has("progress"))
        common.progress = read_when("--progress", arguments.options["progress"].as<std::string>());
    if (common.quiet)
        common.progress = When::never;
    if (arguments.has("color"))
        common.color = read_when("--color", arguments.options["color"].as<std::string>());
    return arguments;
}

} // namespace cli
