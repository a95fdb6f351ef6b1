// Sources, as cited below: "table" is the published range for the machine of the profile's year (core-to-core latency
// tables, instruction tables, context-switch benchmarks); "recorded" is counted in the real library by callgrind;
// "assumed" is a plausible value that nothing here can confirm.
#include "sim/machine.h"

namespace sim {

namespace {

using M = Machine;
constexpr int64_t ns = 1000;
constexpr int64_t us = 1000 * ns;
constexpr int64_t ms = 1000 * us;

constexpr MachineParameter parameters[] = {
    {"instruction_ns", &M::instruction_ps, "ps", 20, 5 * ns, true,
     "one instruction of a modelled function (cycles per instruction over the clock)",
     "recorded: 3,878 instructions of the real library took 0.56 us"},
    {"rmw_owned_ns", &M::rmw_owned_ps, "ps", 1, us, false,
     "a: atomic read-modify-write on a cache line that this CPU alone owns", "table: about 20 cycles"},
    {"load_hit_ns", &M::load_hit_ps, "ps", 1, us, false, "h: load or plain store that hits", "table: 4 to 5 cycles"},
    {"transfer_same_socket_ns", &M::transfer_same_socket_ps, "ps", 1, 10 * us, true,
     "x0: a cache line comes from another CPU of the same socket", "table: core-to-core latency"},
    {"transfer_other_socket_ns", &M::transfer_other_socket_ps, "ps", 1, 10 * us, true,
     "x1: a cache line comes from a CPU of another socket", "table: core-to-core latency"},
    {"crowd_ns", &M::crowd_ps, "ps", 0, us, true, "c: more for each other sharer or poller of the line", "assumed"},
    {"backoff_ns", &M::backoff_ps, "ps", 0, 100 * us, true, "b: mean pause of a spinner that backs off", "assumed"},
    {"block_ns", &M::block_ps, "ps", 1, 100 * us, true, "B: CPU time to go to sleep", "assumed: 1 to 2 us"},
    {"wake_ns", &M::wake_ps, "ps", 0, 100 * us, true, "W: CPU time to wake one thread, paid by the waker", "assumed"},
    {"wake_latency_ns", &M::wake_latency_ps, "ps", 0, ms, true, "Lw: until an idle CPU takes a woken thread",
     "assumed: 2 to 5 us"},
    {"context_switch_ns", &M::context_switch_ps, "ps", 0, ms, true, "X: a CPU changes to another thread",
     "table: published context-switch times"},
    {"time_slice_ns", &M::time_slice_ps, "ps", 0, 1000 * ms, false,
     "Q: a thread gives way to a waiting one after this long; 0: never", "table: 1 to 10 ms"},
    {"data_lines", &M::data_lines, "lines", 0, 64, false,
     "lines of data behind a lock that come along when another CPU takes it", "assumed: one"},
    {"miss_ns", &M::miss_ps, "ps", 0, 10 * us, true,
     "first touch of an object's line by a CPU that lacks it; in a virtual machine with what the tables of pages take",
     "table: memory latency"},
    {"remote_memory_per_mille", &M::remote_memory_per_mille, "per mille", 1000, 5000, true,
     "a miss in the memory of another socket, in thousandths of one in the own; memory is spread over the sockets in "
     "use",
     "assumed"},
    {"allocate_instructions", &M::allocate_instructions, "instructions", 0, 100'000, false,
     "kmem_alloc of what has been given back before", "recorded: calloc and free, 471 instructions a pair"},
    {"free_instructions", &M::free_instructions, "instructions", 0, 100'000, false, "kmem_free",
     "recorded: as allocate_instructions"},
    {"copy_ns_per_KiB", &M::copy_ps_per_kib, "ps", 0, 100 * us, false, "copying cached memory", "assumed: 10 GB/s"},
    {"syscall_ns", &M::syscall_ps, "ps", 0, 100 * us, false, "entering and leaving the kernel", "assumed"},
    {"unrecorded_step_instructions", &M::unrecorded_step_instructions, "instructions", 0, 100'000, true,
     "one step of a function that no recording covers (list costs: how many steps each has)", "assumed"},
};

constexpr int64_t recorded_instruction_ps = 144;
constexpr int64_t recorded_allocation_instructions = 471;

// The costs of the real library's own locks (lock and unlock, 117 instructions a pair), the same for every CPU.
Machine flat()
{
    Machine m;
    m.profile = "flat";
    m.instruction_ps = recorded_instruction_ps;
    m.rmw_owned_ps = 117 * recorded_instruction_ps / 2;
    m.load_hit_ps = 2 * ns;
    m.transfer_same_socket_ps = m.rmw_owned_ps;
    m.transfer_other_socket_ps = m.rmw_owned_ps;
    m.block_ps = 1500 * ns;
    m.wake_ps = 1000 * ns;
    m.wake_latency_ps = 3000 * ns;
    m.context_switch_ps = 1200 * ns;
    m.time_slice_ps = 10 * ms;
    m.allocate_instructions = (recorded_allocation_instructions + 1) / 2;
    m.free_instructions = recorded_allocation_instructions / 2;
    m.copy_ps_per_kib = 100 * ns;
    m.syscall_ps = 100 * ns;
    m.unrecorded_step_instructions = 20;
    return m;
}

// Round numbers, and the line model on: for results worked out by hand.
Machine uniform()
{
    Machine m;
    m.profile = "uniform";
    m.line_model = true;
    m.instruction_ps = 1 * ns;
    m.rmw_owned_ps = 10 * ns;
    m.load_hit_ps = 1 * ns;
    m.transfer_same_socket_ps = 100 * ns;
    m.transfer_other_socket_ps = 100 * ns;
    m.block_ps = 1000 * ns;
    m.wake_ps = 1000 * ns;
    m.wake_latency_ps = 2000 * ns;
    m.context_switch_ps = 1000 * ns;
    m.time_slice_ps = 10 * ms;
    m.allocate_instructions = 10;
    m.free_instructions = 10;
    m.copy_ps_per_kib = 100 * ns;
    m.syscall_ps = 100 * ns;
    m.unrecorded_step_instructions = 20;
    return m;
}

Machine xeon_2016()
{
    Machine m = flat();
    m.profile = "xeon-2016";
    m.line_model = true;
    m.cpus = 16;
    m.cpus_per_socket = 8;
    m.rmw_owned_ps = 8 * ns;
    m.load_hit_ps = 2 * ns;
    m.transfer_same_socket_ps = 44 * ns;
    m.transfer_other_socket_ps = 118 * ns;
    m.crowd_ps = 20 * ns;
    m.backoff_ps = 500 * ns;
    m.block_ps = 1500 * ns;
    m.wake_ps = 1000 * ns;
    m.wake_latency_ps = 3500 * ns;
    m.context_switch_ps = 1350 * ns;
    m.time_slice_ps = 10 * ms;
    m.data_lines = 1;
    m.miss_ps = 90 * ns;
    m.remote_memory_per_mille = 1600;
    return m;
}

Machine server_2024()
{
    Machine m = xeon_2016();
    m.profile = "server-2024";
    m.cpus = 64;
    m.cpus_per_socket = 32;
    m.instruction_ps = 80;
    m.rmw_owned_ps = 6 * ns;
    m.load_hit_ps = 1500;
    m.transfer_same_socket_ps = 37 * ns;
    m.transfer_other_socket_ps = 152 * ns;
    m.crowd_ps = 20 * ns;
    m.block_ps = 1200 * ns;
    m.wake_ps = 800 * ns;
    m.wake_latency_ps = 2750 * ns;
    m.context_switch_ps = 1100 * ns;
    m.time_slice_ps = 4 * ms;
    m.miss_ps = 110 * ns;
    m.lock_policy = "queued";
    return m;
}

// The 16-CPU illumos guest of 2016. Fitted to published figures of creates in one directory: `dmusim calibrate
// analysis/targets/vm-2016.json` repeats it. What those figures cannot tell (going to sleep, waking, changing threads)
// is the host's table.
Machine vm_2016()
{
    Machine m = xeon_2016();
    m.profile = "vm-2016";
    m.instruction_ps = 630;
    m.transfer_same_socket_ps = 47 * ns;
    m.transfer_other_socket_ps = 160 * ns;
    m.crowd_ps = 43 * ns;
    m.miss_ps = 308 * ns;
    m.remote_memory_per_mille = 3450;
    m.unrecorded_step_instructions = 94;
    return m;
}

// The 8-CPU Linux guest of 2019.
Machine vm_2019()
{
    Machine m = xeon_2016();
    m.profile = "vm-2019";
    m.cpus = 8;
    m.cpus_per_socket = 8;
    m.lock_policy = "queued";
    return m;
}

const MachineProfile profiles[] = {
    {"flat", "every primitive costs the same wherever its cache line is; the real library's own instruction counts",
     flat()},
    {"uniform", "round numbers and one distance between all CPUs, for results worked out by hand", uniform()},
    {"xeon-2016", "a two-socket Xeon of 2016, from published tables", xeon_2016()},
    {"server-2024", "a two-socket server of 2024, from published tables", server_2024()},
    {"vm-2016", "a 16-CPU virtual machine of 2016 running illumos, fitted to published figures", vm_2016()},
    {"vm-2019", "an 8-CPU virtual machine of 2019 running Linux", vm_2019()},
};

} // namespace

std::span<const MachineParameter> machine_parameters()
{
    return parameters;
}

std::span<const MachineProfile> machine_profiles()
{
    return profiles;
}

const MachineParameter *find_machine_parameter(std::string_view name)
{
    for (const MachineParameter &parameter : parameters) {
        if (parameter.name == name)
            return &parameter;
    }
    return nullptr;
}

int64_t mean_miss_ps(const Machine &machine)
{
    const int64_t sockets = (int64_t{machine.cpus} + machine.cpus_per_socket - 1) / machine.cpus_per_socket;
    const int64_t per_mille = 1000 + (machine.remote_memory_per_mille - 1000) * (sockets - 1) / sockets;
    return machine.miss_ps * per_mille / 1000;
}

const MachineProfile *find_machine_profile(std::string_view name)
{
    for (const MachineProfile &profile : profiles) {
        if (profile.name == name)
            return &profile;
    }
    return nullptr;
}

} // namespace sim
