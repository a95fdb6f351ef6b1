// dmusim: parse, dispatch, exit status. The one place where an exception becomes a message.
#include "analysis/cli/commands/commands.h"
#include "analysis/cli/errors.h"
#include "analysis/cli/exit_status.h"
#include "analysis/cli/interrupt.h"
#include "analysis/cli/output.h"
#include "analysis/text.h"
#include "analysis/version.h"
#include "scenarios/input_error.h"
#include "sim/verify.h"

#include <cstdio>
#include <new>
#include <sstream>

namespace cli {

namespace {

std::string general_help()
{
    std::string text =
        "Usage: dmusim COMMAND [OPTION]... [ARGUMENT]...\n\n"
        "A deterministic simulator of the OpenZFS DMU: what a change of its algorithms and locks does to\n"
        "throughput, on simulated CPUs.\n\nCommands:\n";
    for (const Command *command : commands()) {
        char line[160];
        std::snprintf(line, sizeof line, "  %-10s %s\n", command->name, command->summary);
        text += line;
    }
    text +=
        "\n  dmusim COMMAND --help    options and examples of a command\n"
        "  dmusim --version\n\n"
        "Examples:\n"
        "  dmusim run object-alloc-legacy\n"
        "  dmusim sweep alloc-one-txg --vary params.objects=8192,16384,32768 --vary code.object_alloc=legacy,rescan\n"
        "  dmusim list scenarios\n\n"
        "Exit status:\n"
        "    0  done, and every expectation held, every trace agreed\n"
        "    1  could not finish: output that cannot be written, out of memory, a limit reached\n"
        "    2  bad usage or bad input\n"
        "    3  ran, and an expectation or a trace did not hold\n"
        "    4  the simulated system deadlocked\n"
        "    5  the simulated system broke an invariant of its own\n"
        "    6  no progress: a livelock, a lost wake-up, a transaction that can never be assigned\n"
        "  130  interrupted; what had finished is kept\n";
    return text;
}

int dispatch(std::vector<std::string> words)
{
    if (words.empty())
        throw UsageError("a command is missing");
    if (words[0] == "help" && words.size() > 1)
        words = {words[1], "--help"};
    if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
        Output(std::string()).write(general_help());
        return done;
    }
    if (words[0] == "--version") {
        Output(std::string()).write(std::string("dmusim ") + analysis::version + "\n");
        return done;
    }
    std::vector<std::string> known;
    for (const Command *command : commands()) {
        if (words[0] != command->name) {
            known.emplace_back(command->name);
            continue;
        }
        auto arguments = read_arguments(*command, {words.begin() + 1, words.end()});
        return arguments ? command->run(*arguments) : static_cast<int>(done);
    }
    if (words[0].starts_with("-")) {
        known = {"--help", "--version"};
        throw UsageError("unknown option " + scenarios::in_quotes(words[0]) +
                         "; options of a command stand after its name");
    }
    throw UsageError(scenarios::unknown("command", words[0], known));
}

// A message may quote a file's author or a file's name: no control character of theirs reaches the terminal.
int complain(int status, const std::string &message)
{
    std::istringstream lines(message);
    for (std::string line; std::getline(lines, line);)
        std::fprintf(stderr, "%s\n", analysis::escaped(line).c_str());
    return status;
}

int guarded(const std::vector<std::string> &words)
{
    try {
        return dispatch(words);
    } catch (const UsageError &error) {
        return complain(bad_input, std::string("dmusim: ") + error.what() + "\nTry 'dmusim --help'.");
    } catch (const scenarios::InputError &error) {
        return complain(bad_input, error.what()); // file:line:column first, as compilers do
    } catch (const HostError &error) {
        return complain(could_not_finish, std::string("dmusim: ") + error.what());
    } catch (const Interrupted &error) {
        return complain(interrupted, std::string("dmusim: interrupted") + (*error.what() ? "; " : "") + error.what());
    } catch (const std::bad_alloc &) {
        return complain(could_not_finish, "dmusim: out of memory");
    } catch (const sim::InvariantBroken &error) {
        return complain(invariant_broken, std::string("dmusim: ") + error.what());
    } catch (const std::exception &error) {
        return complain(could_not_finish, std::string("dmusim: ") + error.what());
    }
}

} // namespace

} // namespace cli

int main(int count, char **words)
{
    cli::secure_standard_descriptors();
    cli::install_signal_handlers();
    return cli::guarded({words + (count > 0), words + count});
}
