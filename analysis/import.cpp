#include "analysis/import.h"

#include "analysis/text.h"
#include "scenarios/operation.h"

#include <cctype>
#include <charconv>

namespace analysis {

const std::vector<ImportForm> &import_forms()
{
    static const std::vector<ImportForm> forms = {
        {"mdtest", "arguments of mdtest, with or without mpirun -np N in front", import_mdtest},
        {"fio", "a job file: filecreate, filestat, filedelete, read", import_fio},
        {"filebench", "a personality: createfile, openfile, statfile, deletefile", import_filebench}};
    return forms;
}

std::vector<std::string> shell_words(const std::string &line)
{
    std::vector<std::string> words;
    std::string word;
    bool inside = false;
    char quote = '\0';
    for (size_t i = 0; i < line.size(); ++i) {
        char c = line[i];
        if (quote != '\0') {
            if (c == quote)
                quote = '\0';
            else
                word += c;
        } else if (c == '\'' || c == '"') {
            quote = c;
            inside = true;
        } else if (c == '\\' && i + 1 < line.size()) {
            if (line[++i] != '\n') {
                word += line[i];
                inside = true;
            }
        } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
            if (inside)
                words.push_back(word);
            word.clear();
            inside = false;
        } else {
            word += c;
            inside = true;
        }
    }
    if (quote != '\0')
        throw ImportError(std::string("a ") + quote + " is not closed");
    if (inside)
        words.push_back(word);
    return words;
}

uint64_t import_number(const std::string &text, const std::string &what)
{
    static constexpr std::string_view units = "kmgt";
    uint64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    std::string unit(end, text.data() + text.size());
    for (char &c : unit)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (unit.ends_with("ib"))
        unit.resize(unit.size() - 2);
    else if (unit.size() > 1 && unit.ends_with('b'))
        unit.pop_back();
    size_t power = unit.empty() || unit == "b" ? 0 : units.find(unit) + 1;
    bool known = unit.empty() || unit == "b" || (unit.size() == 1 && units.find(unit) != std::string_view::npos);
    if (text.empty() || error != std::errc() || !known || (value >> (63 - 10 * power)) != 0)
        throw ImportError(what + ": " + escaped(text) + " is not a number (with k, m, g or t)");
    return value << (10 * power);
}

std::string plain_name(const std::string &text)
{
    std::string name;
    for (char c : text)
        name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ? c : '_';
    return name.empty() || name[0] == '.' ? "x" + name : name.substr(0, 60);
}

bool operation_known(const std::string &name)
{
    return scenarios::find_operation(name) != nullptr;
}

Imported finish_import(const std::string &name, const std::string &source, Json params, Json setup, Json workload,
                       Json rest, std::vector<std::string> notes)
{
    constexpr size_t description_max = 4000;
    std::string description = "Imported from " + escaped(source) + ".";
    for (const std::string &note : notes)
        description += " Not carried over: " + note + ".";
    if (description.size() > description_max)
        description = description.substr(0, description_max - 3) + "...";
    Json scenario = {{"$schema", "scenario.schema.json"},
                     {"name", name},
                     {"description", description},
                     {"params", std::move(params)}};
    for (auto &[key, value] : rest.items())
        scenario[key] = value;
    if (!setup.empty())
        scenario["setup"] = std::move(setup);
    scenario["workload"] = std::move(workload);
    return {std::move(scenario), std::move(notes)};
}

} // namespace analysis
