#include "scenarios/input_error.h"

#include <algorithm>

namespace scenarios {

namespace {

constexpr size_t quoted_length_max = 60; // longer text tells the reader nothing more and hides the message
constexpr size_t listed_names_max = 24;

std::string message(const std::string &source, Place place, const std::string &path, const std::string &problem)
{
    std::string text = source;
    if (place.line != 0)
        text += ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
    if (!path.empty())
        text += ": " + path;
    return text + ": " + problem;
}

// The length of the well-formed UTF-8 sequence at the front of the text, 0 if there is none.
size_t utf8_length(std::string_view text)
{
    const auto lead = static_cast<unsigned char>(text[0]);
    const size_t length = lead < 0x80                            ? 1
                          : lead >= 0xC2 && lead < 0xE0          ? 2
                          : (lead & 0xF0) == 0xE0                ? 3
                          : (lead & 0xF8) == 0xF0 && lead < 0xF5 ? 4
                                                                 : 0;
    if (length == 0 || length > text.size())
        return 0;
    for (size_t i = 1; i < length; ++i)
        if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80)
            return 0;
    return length;
}

// Edits (insert, delete, replace, swap neighbours) that turn one word into the other.
size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::vector<size_t>> distance(a.size() + 1, std::vector<size_t>(b.size() + 1));
    for (size_t i = 0; i <= a.size(); ++i)
        distance[i][0] = i;
    for (size_t j = 0; j <= b.size(); ++j)
        distance[0][j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t replaced = distance[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            distance[i][j] = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                distance[i][j] = std::min(distance[i][j], distance[i - 2][j - 2] + 1);
        }
    }
    return distance[a.size()][b.size()];
}

} // namespace

InputError::InputError(std::string source_, Place place_, std::string path_, std::string problem_)
    : std::runtime_error(message(source_, place_, path_, problem_)), source(std::move(source_)), place(place_),
      path(std::move(path_)), problem(std::move(problem_))
{
}

std::string in_quotes(std::string_view text)
{
    static constexpr char hex[] = "0123456789abcdef";
    std::string out = "\"";
    while (!text.empty()) {
        if (out.size() > quoted_length_max) {
            out += "...";
            break;
        }
        const auto c = static_cast<unsigned char>(text[0]);
        const size_t length = utf8_length(text);
        // C1 control characters (U+0080 to U+009F) steer a terminal too.
        const bool c1 = length == 2 && c == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
        if (length == 0 || c1 || c < 0x20 || c == 0x7F) {
            out += std::string("\\x") + hex[c >> 4] + hex[c & 15];
            text.remove_prefix(1);
        } else {
            if (c == '"' || c == '\\')
                out += '\\';
            out += text.substr(0, length);
            text.remove_prefix(length);
        }
    }
    return out + '"';
}

std::string nearest(std::string_view wanted, const std::vector<std::string> &candidates)
{
    if (wanted.size() > quoted_length_max)
        return "";
    std::string best;
    size_t best_distance = std::max<size_t>(2, wanted.size() / 3) + 1;
    for (const std::string &candidate : candidates) {
        size_t distance = edit_distance(wanted, candidate);
        // A word of which the other is the beginning or the end is near, whatever its length.
        if (wanted.size() >= 3 && (candidate.starts_with(wanted) || candidate.ends_with(wanted)))
            distance = std::min<size_t>(distance, 2);
        if (distance < best_distance && distance < std::max(wanted.size(), candidate.size())) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

std::string unknown(std::string_view what, std::string_view given, const std::vector<std::string> &candidates)
{
    std::string text = "unknown " + std::string(what) + " " + in_quotes(given);
    if (const std::string meant = nearest(given, candidates); !meant.empty())
        return text + "; did you mean \"" + meant + "\"?";
    if (candidates.empty())
        return text + "; there is none to choose from";
    text += "; known: ";
    for (size_t i = 0; i < candidates.size() && i < listed_names_max; ++i)
        text += (i == 0 ? "" : ", ") + candidates[i];
    return text + (candidates.size() > listed_names_max ? ", ..." : "");
}

} // namespace scenarios
