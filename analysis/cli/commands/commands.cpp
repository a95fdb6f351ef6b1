#include "analysis/cli/commands/commands.h"

namespace cli {

const std::vector<const Command *> &commands()
{
    static const std::vector<const Command *> all = {
        &run_command,    &sweep_command,  &merge_command,     &compare_command, &report_command,   &export_command,
        &import_command, &whatif_command, &calibrate_command, &conform_command, &validate_command, &list_command,
    };
    return all;
}

} // namespace cli
