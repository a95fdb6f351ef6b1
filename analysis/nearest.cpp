#include "analysis/nearest.h"

#include <algorithm>

namespace analysis {

namespace {

// Edits, with a swap of neighbours as one (Damerau's restricted form).
size_t distance(std::string_view left, std::string_view right)
{
    std::vector<std::vector<size_t>> cost(left.size() + 1, std::vector<size_t>(right.size() + 1));
    for (size_t i = 0; i <= left.size(); ++i)
        cost[i][0] = i;
    for (size_t j = 0; j <= right.size(); ++j)
        cost[0][j] = j;
    for (size_t i = 1; i <= left.size(); ++i) {
        for (size_t j = 1; j <= right.size(); ++j) {
            size_t change = cost[i - 1][j - 1] + (left[i - 1] != right[j - 1]);
            cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, change});
            if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    }
    return cost[left.size()][right.size()];
}

} // namespace

std::string nearest(std::string_view typed, const std::vector<std::string> &known)
{
    constexpr size_t longest = 100; // a longer word is not a slip of the finger
    if (typed.size() > longest)
        return {};
    size_t best_distance = std::clamp<size_t>(typed.size() / 3, 1, 3) + 1;
    std::string best;
    for (const std::string &name : known) {
        if (name.size() > longest)
            continue;
        size_t edits = distance(typed, name);
        if (edits < best_distance) {
            best_distance = edits;
            best = name;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string> &known)
{
    std::string name = nearest(typed, known);
    return name.empty() ? "" : " (did you mean '" + name + "'?)";
}

} // namespace analysis
