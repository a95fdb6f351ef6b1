#include "analysis/sensitivity.h"

#include "analysis/text.h"
#include "sim/verify.h"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

constexpr double still = 0.01;   // of the greatest value: no movement
constexpr double settled = 0.05; // of the range: as good as its last value

std::string text(double value)
{
    return number_text(four_digits(value));
}

} // namespace

Sensitivity sensitivity(const std::vector<Spot> &spots)
{
    VERIFY(!spots.empty());
    Sensitivity result{spots[0].median, spots[0].x, spots[0].median, spots[0].x, 0, false};
    bool rises = false, falls = false;
    double before = spots[0].median;
    for (const Spot &spot : spots) {
        if (spot.median < result.least) {
            result.least = spot.median;
            result.least_at = spot.x;
        }
        if (spot.median > result.most) {
            result.most = spot.median;
            result.most_at = spot.x;
        }
    }
    double greatest = std::max(std::fabs(result.least), std::fabs(result.most));
    for (const Spot &spot : spots) {
        rises = rises || spot.median > before + greatest * still;
        falls = falls || spot.median < before - greatest * still;
        before = spot.median;
    }
    result.direction = rises == falls ? 0 : rises ? 1 : -1;
    result.moves = result.most - result.least > greatest * still;
    return result;
}

std::string sensitivity_words(const std::vector<Spot> &spots)
{
    Sensitivity found = sensitivity(spots);
    if (!found.moves)
        return "does not move: " + text(spots.back().median) + " throughout";
    const Spot &first = spots.front(), &last = spots.back();
    std::string words;
    if (found.direction != 0)
        words = std::string(found.direction > 0 ? "rises" : "falls") + " from " + text(first.median) + " at " +
                number_text(varied_value(first.x)) + " to " + text(last.median) + " at " +
                number_text(varied_value(last.x));
    else
        words = "goes up and down between " + text(found.least) + " (at " + number_text(varied_value(found.least_at)) +
                ") and " + text(found.most) + " (at " + number_text(varied_value(found.most_at)) + ")";
    if (found.least > 0)
        words += ", " + digits_text(found.most / found.least, 3) + " times";
    double range = found.most - found.least;
    size_t from = spots.size();
    while (from > 0 && std::fabs(spots[from - 1].median - last.median) <= range * settled)
        --from;
    if (from + 1 < spots.size())
        words += "; settled from " + number_text(varied_value(spots[from].x)) + " on";
    size_t until = 0;
    while (until < spots.size() && std::fabs(spots[until].median - first.median) <= range * settled)
        ++until;
    if (until > 1)
        words += "; flat up to " + number_text(varied_value(spots[until - 1].x));
    return words;
}

std::vector<std::string> sensitivity_metrics(const Json &result)
{
    std::vector<std::string> metrics;
    for (const auto &[name, op] : result["ops"].items())
        metrics.push_back("ops." + name + ".per_s");
    for (const char *name : {"rescans", "dnode_blocks_in_use", "holes", "highest_block"})
        if (result.contains("allocator") && result["allocator"].contains(name))
            metrics.push_back(std::string("allocator.") + name);
    for (const char *name : {"visits", "dnode_next_offset"})
        if (result["counters"].contains(name))
            metrics.push_back(std::string("counters.") + name);
    return metrics;
}

} // namespace analysis
