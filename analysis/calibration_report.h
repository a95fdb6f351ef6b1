// What a calibration found, as data and for people: the residual of each target, what each parameter does to it, which
// target pins which parameter, and how well the others predict it.
#pragma once

#include "analysis/calibration_file.h"
#include "analysis/text.h"

namespace analysis {

Json calibration_json(const CalibrationFile &file, const CalibrationResult &result);
std::string calibration_text(const Json &report, const Style &style);

// The machine with the fitted values, as a file that "profile" of a scenario may name.
Json fitted_profile(const CalibrationFile &file, const CalibrationResult &result);

} // namespace analysis
