// Every command of the program, in the order of the help. One file per command defines each.
#pragma once

#include "analysis/cli/options.h"

namespace cli {

extern const Command run_command;
extern const Command sweep_command;
extern const Command merge_command;
extern const Command compare_command;
extern const Command report_command;
extern const Command export_command;
extern const Command import_command;
extern const Command whatif_command;
extern const Command calibrate_command;
extern const Command conform_command;
extern const Command validate_command;
extern const Command list_command;

const std::vector<const Command *> &commands();

} // namespace cli
