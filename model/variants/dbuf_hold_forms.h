// The makers that variants.cpp lists.
#pragma once

#include <memory>

#include "model/variants/dbuf_hold.h"

namespace dmu {

std::unique_ptr<const dbuf_hold_variant_t> make_dbuf_hold_heap_array();
std::unique_ptr<const dbuf_hold_variant_t> make_dbuf_hold_heap_frame();
std::unique_ptr<const dbuf_hold_variant_t> make_dbuf_hold_stack_frame();

} // namespace dmu
