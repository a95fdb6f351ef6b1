// The machine of a scenario: a profile by name and what is changed about it.
#pragma once

#include "scenarios/field.h"

#include <cstdint>
#include <string>

namespace scenarios {

struct MachineConfig {
    std::string profile = "flat";
    uint64_t cpus = 16;
    uint64_t cpus_per_socket = 8;
};

const Table &machine_table();

} // namespace scenarios
