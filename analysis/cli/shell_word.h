// A word as a shell takes it for itself, whatever is in it. The other way round: import.h, shell_words.
#pragma once

#include <string>

namespace cli {

// In single quotes.
inline std::string shell_quoted(const std::string &word)
{
    std::string text = "'";
    for (const char c : word)
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

} // namespace cli
