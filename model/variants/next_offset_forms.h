// The makers that variants.cpp lists.
#pragma once

#include <memory>

#include "model/variants/next_offset.h"

namespace dmu {

std::unique_ptr<const next_offset_variant_t> make_next_offset_narrowing();
std::unique_ptr<const next_offset_variant_t> make_next_offset_narrowing_aligned();
std::unique_ptr<const next_offset_variant_t> make_next_offset_climbing();

} // namespace dmu
