// The makers that variants.cpp lists.
#pragma once

#include <memory>

#include "model/config.h"
#include "model/variants/object_alloc.h"

namespace dmu {

std::unique_ptr<const object_alloc_t> make_object_alloc_legacy(const code_config &code);
std::unique_ptr<const object_alloc_t> make_object_alloc_rescan(const code_config &code);
std::unique_ptr<const object_alloc_t> make_object_alloc_no_backfill(const code_config &code);
std::unique_ptr<const object_alloc_t> make_object_alloc_per_cpu(const code_config &code);
std::unique_ptr<const percpu_cursor_t> make_percpu_cursor_swap();
std::unique_ptr<const percpu_cursor_t> make_percpu_cursor_add();

} // namespace dmu
