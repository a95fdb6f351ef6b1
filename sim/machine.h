// The simulated machine as numbers: CPUs in sockets and what the hardware and the system underneath take for each
// thing.
//
// A machine is data: no name of a function, a lock or a scenario ever stands here. Each parameter has a row in a table
// with its meaning, its unit, the range it may have and where its values come from; readers of profiles and `list
// machines` are made from that table. The built-in profiles are one table too.
#pragma once

#include "sim/time.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sim {

struct Machine {
    std::string profile = "flat";
    std::string lock_policy = "adaptive-ttas"; // a name of lock_policies() in lock_policy.h
    uint32_t cpus = 16;
    uint32_t cpus_per_socket = 8; // sockets are filled in order
    bool line_model = false;      // false: every primitive costs the same wherever its cache line is

    // All times in picoseconds.
    int64_t instruction_ps = 0;
    int64_t rmw_owned_ps = 0;
    int64_t load_hit_ps = 0;
    int64_t transfer_same_socket_ps = 0;
    int64_t transfer_other_socket_ps = 0;
    int64_t crowd_ps = 0;
    int64_t backoff_ps = 0;
    int64_t block_ps = 0;
    int64_t wake_ps = 0;
    int64_t wake_latency_ps = 0;
    int64_t context_switch_ps = 0;
    int64_t time_slice_ps = 0; // 0: a thread runs until it waits
    int64_t data_lines = 0;
    int64_t miss_ps = 0;
    int64_t remote_memory_per_mille = 1000;
    int64_t allocate_instructions = 0;
    int64_t free_instructions = 0;
    int64_t copy_ps_per_kib = 0;
    int64_t syscall_ps = 0;
    int64_t unrecorded_step_instructions = 0;
};

struct MachineParameter {
    const char *name; // as in a profile; times are written in nanoseconds there, so the name ends in _ns
    int64_t Machine::*field;
    const char *unit; // "ps": written as nanoseconds with up to three decimals; else as it stands
    int64_t least;
    int64_t most;
    bool fitted; // may be a free parameter of calibration
    const char *meaning;
    const char *source;
};

std::span<const MachineParameter> machine_parameters();
// Null if there is none of that name.
const MachineParameter *find_machine_parameter(std::string_view name);

// A line from memory, on average: memory is spread over the sockets in use, so of S of them a share of (S - 1) / S is
// on another one.
int64_t mean_miss_ps(const Machine &machine);

struct MachineProfile {
    const char *name;
    const char *sentence;
    Machine machine;
};

std::span<const MachineProfile> machine_profiles();
// Null if there is none of that name.
const MachineProfile *find_machine_profile(std::string_view name);

} // namespace sim
