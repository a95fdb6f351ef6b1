// Planted faults: mistakes that code like this has made, or nearly, each a choice that is wrong.
//
// They are there to be found: by disturbed schedules (dmusim run --schedules), and shrunk. A fault sets a choice that a
// scenario could also set by itself, so what it does is told by that choice.
#pragma once

#include "model/config.h"

namespace dmu {

// The code with its fault in it. REQUIRES: the fault's name is one of choices().
code_config with_fault(code_config code);

} // namespace dmu
