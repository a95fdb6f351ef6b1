// Assertions that stay on in every build: a wrong simulation is worth nothing.
//
// A condition that fails is a mistake of the program (or a fault planted on purpose), never of the user's input. It
// throws InvariantBroken, which ends the run: the kernel catches it where a simulated thread begins, adds the simulated
// time, CPU and call path, and the program ends with its own exit code. One that fails while a thread's stack is being
// unwound, in a destructor that found the state half changed, throws nothing: the thread stays where it is.
#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>

namespace sim {

struct InvariantBroken : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Called before InvariantBroken is thrown, while the failing place is still on the stack; it need not return. Null:
// nobody.
inline void (*before_invariant_broken)(const std::string &text) = nullptr;

[[noreturn]] void verify_failed(const char *file, int line, const char *condition);
[[noreturn]] void verify3_failed(const char *file, int line, const char *condition, const std::string &left,
                                 const char *relation, const std::string &right);
// printf-style; the text is the message.
[[noreturn]] void panic(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

template <class T>
std::string verify_value(const T &value)
{
    if constexpr (std::is_same_v<T, bool>)
        return value ? "true" : "false";
    else if constexpr (std::is_enum_v<T>)
        return std::to_string(static_cast<std::underlying_type_t<T>>(value));
    else if constexpr (std::is_arithmetic_v<T>)
        return std::to_string(value);
    else if constexpr (std::is_pointer_v<T> || std::is_null_pointer_v<T>)
        return value == nullptr ? "null" : "non-null"; // an address would differ from run to run
    else
        return "?";
}

} // namespace sim

#define VERIFY(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) [[unlikely]]                                                                                 \
            ::sim::verify_failed(__FILE__, __LINE__, #condition);                                                      \
    } while (0)

#define VERIFY3(left, relation, right)                                                                                 \
    do {                                                                                                               \
        const auto &verify_left = (left);                                                                              \
        const auto &verify_right = (right);                                                                            \
        if (!(verify_left relation verify_right)) [[unlikely]]                                                         \
            ::sim::verify3_failed(__FILE__, __LINE__, #left " " #relation " " #right,                                  \
                                  ::sim::verify_value(verify_left), #relation, ::sim::verify_value(verify_right));     \
    } while (0)

#define PANIC(...) ::sim::panic(__FILE__, __LINE__, __VA_ARGS__)
