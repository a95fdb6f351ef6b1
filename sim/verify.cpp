#include "sim/verify.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace sim {

namespace {

// The path from the source root on, so that a message is the same wherever the tree was built.
std::string place(const char *file, int line)
{
    static const char *const layers[] = {"sim/", "model/", "scenarios/", "analysis/", "tests/"};
    const char *from = file;
    for (const char *layer : layers) {
        for (const char *at = file; (at = std::strstr(at, layer)) != nullptr; ++at) {
            if (at == file || at[-1] == '/') {
                from = at;
                break;
            }
        }
    }
    return std::string(from) + ":" + std::to_string(line);
}

[[noreturn]] void fail(const std::string &text)
{
    if (before_invariant_broken != nullptr)
        before_invariant_broken(text);
    throw InvariantBroken(text);
}

} // namespace

void verify_failed(const char *file, int line, const char *condition)
{
    fail(place(file, line) + ": VERIFY(" + condition + ") failed");
}

void verify3_failed(const char *file, int line, const char *condition, const std::string &left, const char *relation,
                    const std::string &right)
{
    fail(place(file, line) + ": VERIFY3(" + condition + ") failed (" + left + " " + relation + " " + right + ")");
}

void panic(const char *file, int line, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fail(place(file, line) + ": " + text);
}

} // namespace sim
