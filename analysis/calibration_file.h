// The targets of a calibration as a file: which measured figures, of which runs, by which free parameters.
//
//   {
//     "profile": "vm-2016",                    the machine that the fit starts from
//     "free": [ { "parameter": "instruction_ns", "from": 0.1, "to": 1.5, "start": 0.65 }, ... ],
//     "set": { "params.files": 205000 },       overrides of every target's scenario; a target's own come after
//     "targets": [ { "name": "S3", "scenario": "create-one-directory", "set": { "machine.cpus": 16 },
//                    "metric": "ops.create.per_s", "value": 30000, "weight": 1, "because": "..." }, ... ],
//     "ratios": [ { "name": "S4 / S3", "of": "S4", "to": "S3", "value": 2, "because": "..." } ],
//     "trials": 40, "rounds": 6
//   }
//
// Ratios of two targets are shown and not fitted. Targets of the same scenario with the same overrides share one run.
#pragma once

#include "analysis/calibration.h"
#include "analysis/json.h"
#include "sim/machine.h"

namespace analysis {

struct CalibrationFile {
    struct Free {
        const sim::MachineParameter *parameter = nullptr;
        int64_t least = 1, most = 1; // as Machine holds it
        int64_t start = 0;           // 0: the profile's
    };
    struct Target {
        std::string name;
        std::string scenario;
        Json set = Json::object(); // path -> value, those of the whole file included
        std::string metric;
        double value = 0;
        double weight = 1;
        std::string because;
    };
    struct Ratio {
        std::string name;
        size_t of = 0, to = 0; // targets
        double value = 0;
        std::string because;
    };
    std::string profile;
    sim::Machine machine; // of that profile
    std::vector<Free> free;
    std::vector<Target> targets;
    std::vector<Ratio> ratios;
    uint64_t trials = 0, rounds = 0;

    std::vector<CalibrationParameter> parameters() const;
    std::vector<CalibrationTarget> figures() const;
};

inline constexpr size_t calibration_free_max = 12; // more would fit anything

// Throws scenarios::InputError. Whether each target's scenario can be read with its overrides is the caller's to find
// out.
CalibrationFile read_calibration(const std::string &file);

} // namespace analysis
