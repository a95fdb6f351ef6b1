// The machine of a scenario: a profile by name or from a file, and what is changed about it.
//
// The fields are those of sim/machine.h's parameter table, so that a parameter declared there can be set, is in the
// schema, and stands in every result. Times of the hardware are written in nanoseconds, with up to three decimals.
#pragma once

#include "scenarios/field.h"
#include "sim/machine.h"

namespace scenarios {

const Table &machine_table(); // sim::Machine

// One value of a parameter, as a profile writes it and as Machine holds it. Throws InputError out of its range.
int64_t read_machine_parameter(const Value &value, const sim::MachineParameter &parameter);
json machine_parameter_json(const sim::MachineParameter &parameter, int64_t value);

// `name` is a built-in profile or a file.
void read_machine_profile(sim::Machine &machine, const Value &name);

// Starts from the profile that "profile" names, then reads the rest.
void read_machine(sim::Machine &machine, const Value &value);

// The machine in a profile's file: an object with the fields of a scenario's "machine"; "profile" names the built-in
// one that it starts from.
sim::Machine read_profile(const std::string &file);

} // namespace scenarios
