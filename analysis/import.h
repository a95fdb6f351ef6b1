// Scenarios from the workloads that people already have: mdtest's arguments, fio jobs, filebench personalities.
//
// Each importer reads what it knows, in the tool's own words, and makes a scenario of it; whatever it could not carry
// over it says, in a note for people and in the scenario's description, so that nobody takes the scenario for more than
// it is. What is no input of that tool at all is an error with its place.
#pragma once

#include "analysis/json.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace analysis {

struct ImportError : std::runtime_error {
    using runtime_error::runtime_error;
};

struct Imported {
    Json scenario;
    std::vector<std::string> notes; // what could not be carried over
};

struct ImportForm {
    const char *name;
    const char *what;
    Imported (*read)(const std::string &text);
};
const std::vector<ImportForm> &import_forms();

Imported import_mdtest(const std::string &command_line);
Imported import_fio(const std::string &job_file);
Imported import_filebench(const std::string &personality);

// ---- for the importers ----

// Words of a line as a shell would split them: blanks, '...', "...", backslash.
std::vector<std::string> shell_words(const std::string &line);
// "4k", "1m", "10g", "512": powers of 1024; throws ImportError that names `what`.
uint64_t import_number(const std::string &text, const std::string &what);
// A name that may stand in a scenario: placeholders and slashes taken out.
std::string plain_name(const std::string &text);
// Does this version simulate the operation?
bool operation_known(const std::string &name);
// The whole scenario around setup and workload, its description made from `source` and the notes.
Imported finish_import(const std::string &name, const std::string &source, Json params, Json setup, Json workload,
                       Json rest, std::vector<std::string> notes);

} // namespace analysis
