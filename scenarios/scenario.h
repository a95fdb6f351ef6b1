// A scenario: what is simulated, on which machine, what its threads do, what is expected to come out.
//
// Read from JSON through the tables of fields in scenario.cpp; written back as the effective scenario, in which every
// default, era and override is filled in and which reads as the same scenario again.
#pragma once

#include "model/config.h"
#include "scenarios/field.h"
#include "scenarios/machine.h"
#include "scenarios/step.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scenarios {

// Threads that run the same script.
struct Group {
    std::string name;
    uint64_t threads = 1;
    std::vector<uint32_t> cpus; // to stay on; empty: any
    uint64_t start_ns = 0;
    Steps steps;
};

// Run but not counted: for a time, or until an operation has been done so often.
struct Warmup {
    uint64_t for_ns = 0;
    std::string op; // empty: none
    uint64_t count = 0;
};

struct Stop {
    uint64_t simulated_ns = 0;         // no step begins after it; 0: scripts run to their end
    uint64_t patience_ns = longest_ns; // without a completed step, after which the run is said to get nowhere
};

// What would happen were a lock or a function cheaper (sim/careful.h).
struct Supposition {
    std::string lock;     // a class; one of the two
    std::string function; // its own instructions
    uint64_t factor = 0;  // how many times cheaper; 0: free
};

struct Scenario {
    std::string schema; // "$schema" as given; means nothing here
    std::string name;
    std::string description;
    uint64_t seed = 1;
    Params params;
    sim::Machine machine;
    dmu::model_config config;
    Steps setup;
    std::vector<Group> workload;
    Warmup warmup;
    Stop stop;
    std::vector<Supposition> suppose;
    uint64_t schedule = 0;           // 0: undisturbed; else which disturbance (sim/careful.h)
    std::vector<std::string> record; // "objects", "txgs", "series", "lock_order", "dmu_zfetch"
    json expect = json::array();     // checked in form here; judged on the printed result

    bool records(std::string_view what) const;
};

Scenario default_scenario(); // everything at its default; not complete, for it has no workload

// One --set, or what stands for one (--seed, --cpus).
struct Override {
    std::string path;   // dotted, list items by index
    std::string value;  // JSON, or bare text
    std::string option; // as errors name it: "--set machine.cpus=8"
};

// Reads "PATH=VALUE" as given to --set. Throws InputError.
Override parse_override(const std::string &argument);

// Reads and checks everything. Throws InputError with a place.
Scenario read_scenario(Document document, const std::vector<Override> &overrides = {});

// By file name, "-" for standard input, or built-in name.
Scenario load_scenario(const std::string &name, const std::vector<Override> &overrides = {});

json scenario_json(const Scenario &scenario);
// JSON Schema, draft-07. What it cannot say (what an expression comes to, which fields go together) only the reader
// checks.
json scenario_schema();

// The tables, for help: path of the object ("pool.disk"), table, the object with its defaults.
struct Section {
    std::string path;
    const Table *table;
    json defaults;
};
std::vector<Section> scenario_sections();

} // namespace scenarios
