// What a scenario can choose by name: the names of the tables in model/variants/variants.cpp, for readers and help.
#pragma once

#include <span>
#include <string_view>

namespace dmu {

struct choice_info {
    const char *field; // of code_config: "object_alloc"
    const char *name;  // as scenarios spell it
    const char *what;  // a sentence
};
// Every choice a scenario can make by name.
std::span<const choice_info> choices();
bool is_choice(std::string_view field, std::string_view name);

} // namespace dmu
