// dmusim import: a scenario from a workload that somebody has for another tool.
#include "analysis/import.h"

#include "analysis/cli/commands/commands.h"
#include "analysis/cli/errors.h"
#include "analysis/cli/exit_status.h"
#include "analysis/cli/output.h"
#include "scenarios/input_error.h"
#include "scenarios/scenario.h"
#include "scenarios/strict_json.h"

#include <filesystem>

namespace cli {

namespace {

// What follows the form's name: a file, "-", or the words themselves (a command line).
std::string input_text(const std::vector<std::string> &words)
{
    std::error_code none;
    if (words.size() == 2 && (words[1] == "-" || std::filesystem::is_regular_file(words[1], none)))
        return scenarios::read_text(words[1]);
    if (words[0] != "mdtest")
        return scenarios::read_text(words[1]); // a file that is not there: says so
    std::string line;
    if (words.size() == 2) // one word: a command line in quotes
        return words[1];
    for (size_t i = 1; i < words.size(); ++i) {
        line += line.empty() ? "'" : " '";
        for (char c : words[i])
            line += c == '\'' ? std::string("'\\''") : std::string(1, c);
        line += "'";
    }
    return line;
}

int run(const Arguments &arguments)
{
    std::vector<std::string> names;
    const analysis::ImportForm *chosen = nullptr;
    for (const analysis::ImportForm &form : analysis::import_forms()) {
        names.emplace_back(form.name);
        if (arguments.words[0] == form.name)
            chosen = &form;
    }
    if (chosen == nullptr)
        throw UsageError("import: " + scenarios::unknown("format", arguments.words[0], names));
    if (arguments.words.size() > 2 && std::string_view(chosen->name) != "mdtest")
        throw UsageError("import: " + std::string(chosen->name) + " takes one file");
    std::string text = input_text(arguments.words);
    analysis::Imported imported;
    try {
        imported = chosen->read(text);
    } catch (const analysis::ImportError &error) {
        throw scenarios::InputError(arguments.words.size() == 2 ? arguments.words[1] : arguments.words[0], {}, "",
                                    error.what());
    }
    std::string product = analysis::dump(imported.scenario, 2) + "\n";
    scenarios::read_scenario(scenarios::parse_json("the imported scenario", product),
                             {}); // what is handed out can be run
    Output output(arguments.common.output);
    output.write(product);
    output.commit();
    for (const std::string &note : imported.notes)
        if (!arguments.common.quiet)
            std::fprintf(stderr, "dmusim: import: not carried over: %s\n", note.c_str());
    return done;
}

} // namespace

const Command import_command = {
    "import",
    "[OPTION]... FORMAT FILE | import mdtest -- ARGUMENTS...",
    "Make a scenario from a workload for another tool.",
    "FORMAT FILE (\"-\": standard input):\n"
    "  mdtest     arguments, in a file, in quotes or after \"--\": phases, items, tasks, directories\n"
    "  fio        a job file: filecreate, filestat, filedelete; reads where file data are simulated\n"
    "  filebench  a personality: createfile, openfile, statfile, deletefile\n\n"
    "What could not be carried over is said on standard error and in the scenario's description.\n\n"
    "Examples:\n"
    "  dmusim import mdtest -o mine.json -- mpirun -np 16 mdtest -F -C -T -r -n 1000 -d /tank/x\n"
    "  dmusim import fio storm.fio | dmusim run -\n",
    2,
    4096,
    "word (FORMAT and FILE)",
    false,
    nullptr,
    run};

} // namespace cli
