#include "scenarios/machine.h"

#include "scenarios/scenario.h"

namespace scenarios {

const Table &machine_table()
{
    static const Table table(
        "a machine",
        {
            choice("profile", &MachineConfig::profile, {"flat"}, "What operations cost on this machine."),
            number("cpus", &MachineConfig::cpus, {Unit::plain, 1, cpus_max}, "CPUs; they fill sockets in order."),
            number("cpus_per_socket", &MachineConfig::cpus_per_socket, {Unit::plain, 1, cpus_max}, "CPUs of a socket."),
        });
    return table;
}

} // namespace scenarios
