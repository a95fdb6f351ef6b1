// The result of one run for people: what was expected, how fast it was, what it waited for, and why.
//
// Made from the JSON form, so that a stored result prints the same as a fresh one. Sections come in the order in which
// a reviewer asks: verdict, throughput, where the time went, locks by time waited with callers and holders, functions,
// histograms in DTrace's form, the allocator, txgs, and at the end every constant that was in effect.
#pragma once

#include "analysis/text.h"

namespace analysis {

std::string report_text(const Json &result, Style style);

} // namespace analysis
