#include "analysis/whatif.h"

#include "analysis/metric.h"
#include "analysis/report_parts.h"

#include <algorithm>

namespace analysis {

namespace {

const Json &wait_of(const Json &lock)
{
    return member(member(lock, "wait_ns"), "total");
}

double own_time(const Json &function)
{
    return number_of(member(function, "self_ns")) - number_of(member(function, "spin_ns"));
}

// By CPU time of their own without waiting, the longest first; equal ones in the order of the result.
std::vector<const Json *> functions_by_own_time(const Json &result)
{
    std::vector<const Json *> list;
    for (const Json &function : member(member(result, "cpu"), "functions"))
        if (own_time(function) > 0)
            list.push_back(&function);
    std::stable_sort(list.begin(), list.end(),
                     [](const Json *a, const Json *b) { return own_time(*a) > own_time(*b); });
    return list;
}

// Where in the run as it is a lock of that class was waited for most, and how much of the waiting that is.
Json hottest_of(const Json &result, const Json &lock_class)
{
    for (const Json &lock : member(result, "locks")) {
        if (member(lock, "class") != lock_class || member(lock, "hottest").empty())
            continue;
        const Json &first = lock["hottest"][0];
        const double all = number_of(wait_of(lock));
        return {{"instance", member(first, "instance")},
                {"share", all > 0 ? Json(number_of(member(first, "wait_ns")) / all) : Json(nullptr)}};
    }
    return nullptr;
}

std::string times(const Json &gain)
{
    return gain.is_number() ? digits_text(number_of(gain), 4) + "x" : "-";
}

std::string what_becomes(const Json &entry)
{
    const Json &factor = member(entry, "factor");
    return shown(member(entry, "name")) + (factor == 0 ? " free" : " " + number_text(factor) + " times cheaper");
}

bool loses(const Json &entry)
{
    return member(entry, "gain").is_number() && number_of(member(entry, "gain")) < 1;
}

bool gains(const Json &entry)
{
    return number_of(member(entry, "gain")) > 1;
}

// What helps most, and which lock of that class it is.
void add_best(const Json &whatif, const Json &first, std::vector<std::string> &words)
{
    if (!gains(first)) {
        words.emplace_back("None of them gains anything.");
        return;
    }
    words.push_back("With " + what_becomes(first) + ", " + shown(member(whatif, "metric")) + " goes from " +
                    number_text(member(first, "before")) + " to " + number_text(member(first, "after")) + " (" +
                    times(member(first, "gain")) + "); on top is then " + shown(member(first, "next")) + ".");
    if (const Json &hottest = member(first, "hottest"); !hottest.is_null())
        words.push_back("Of all " + shown(member(first, "name")) + ", that of " + shown(member(hottest, "instance")) +
                        " was waited for most: " + percent_text(member(hottest, "share"), 1) + " of the waiting.");
}

// The top lock alone loses; whether it does with anything else as well. Pairs are by gain, the largest first.
void add_together(const Json &top, const Json &pairs, std::vector<std::string> &words)
{
    const std::string name = top["name"].get<std::string>();
    std::vector<const Json *> with_it;
    for (const Json &pair : pairs) {
        const std::string both = pair["name"].get<std::string>();
        if (pair["kind"].get<std::string>().starts_with("lock") &&
            (both.starts_with(name + " + ") || both.ends_with(" + " + name)) && member(pair, "gain").is_number())
            with_it.push_back(&pair);
    }
    if (with_it.empty())
        return;
    const Json &best = *with_it.front(), &worst = *with_it.back();
    if (gains(best))
        words.push_back("Together with another it gains: " + what_becomes(best) + ", " + times(best["gain"]) + ".");
    if (loses(worst))
        words.push_back((gains(best) ? "But not with every other: " : "Nor does it gain together with another: ") +
                        what_becomes(worst) + ", " + times(worst["gain"]) + ".");
}

void add_best_pair(const Json &pair, const Json &single, std::vector<std::string> &words)
{
    if (number_of(member(pair, "gain")) > number_of(member(single, "gain")))
        words.push_back("Of two at once, " + what_becomes(pair) + " gains most: " + times(pair["gain"]) + ", against " +
                        times(member(single, "gain")) + " for the best one alone.");
}

} // namespace

std::string Trial::kind() const
{
    std::string text;
    for (const Part &part : parts)
        text += std::string(text.empty() ? "" : " + ") + (part.is_lock ? "lock" : "function");
    return text;
}

std::string Trial::name() const
{
    std::string text;
    for (const Part &part : parts)
        text += (text.empty() ? "" : " + ") + part.name;
    return text;
}

Json Trial::suppositions(uint64_t factor) const
{
    Json list = Json::array();
    for (const Part &part : parts)
        list.push_back({{part.is_lock ? "lock" : "function", part.name}, {"factor", factor}});
    return list;
}

std::vector<Trial> top_trials(const Json &result, size_t top)
{
    std::vector<Trial> trials;
    const Json &locks = member(result, "locks"); // by wait already
    for (size_t i = 0; i < std::min(locks.size(), top); ++i)
        if (number_of(wait_of(locks[i])) > 0)
            trials.push_back({{{true, locks[i]["class"].get<std::string>()}}});
    const std::vector<const Json *> functions = functions_by_own_time(result);
    for (size_t i = 0; i < std::min(functions.size(), top); ++i)
        trials.push_back({{{false, (*functions[i])["name"].get<std::string>()}}});
    return trials;
}

std::vector<Trial> pair_trials(const std::vector<Trial> &singles)
{
    std::vector<Trial> pairs;
    for (size_t i = 0; i < singles.size(); ++i)
        for (size_t j = i + 1; j < singles.size(); ++j)
            pairs.push_back({{singles[i].parts[0], singles[j].parts[0]}});
    return pairs;
}

std::string throughput_metric(const Json &result)
{
    std::string metric;
    double most = 0;
    for (const auto &[name, op] : member(result, "ops").items())
        if (number_of(member(op, "count")) > most) {
            most = number_of(member(op, "count"));
            metric = "ops." + name + ".per_s";
        }
    return metric;
}

Json top_of(const Json &result)
{
    const Json &locks = member(result, "locks");
    if (!locks.empty() && number_of(wait_of(locks[0])) > 0)
        return locks[0]["class"];
    const std::vector<const Json *> functions = functions_by_own_time(result);
    return functions.empty() ? Json(nullptr) : member(*functions[0], "name");
}

Json trial_outcome(const Json &result, const std::string &metric)
{
    const bool complete = member(result, "complete") == true;
    return {{"complete", complete},
            {"end", member(result, "end")},
            {"value", complete ? metric_value(result, metric).value : Json(nullptr)},
            {"next", top_of(result)}};
}

Json ranking_entry(const Trial &trial, uint64_t factor, const std::string &metric, const Json &before,
                   const Json &outcome)
{
    const Json &after = member(outcome, "value");
    Json gain;
    if (before.is_number() && after.is_number() && number_of(before) > 0)
        gain = less_is_better(metric)
                   ? (number_of(after) > 0 ? Json(number_of(before) / number_of(after)) : Json(nullptr))
                   : Json(number_of(after) / number_of(before));
    Json entry = {
        {"kind", trial.kind()}, {"name", trial.name()}, {"factor", factor}, {"metric", metric},
        {"before", before},     {"after", after},       {"gain", gain},     {"next", member(outcome, "next")}};
    if (member(outcome, "complete") != true)
        entry["end"] = outcome.is_null() ? Json("no result") : member(outcome, "end");
    return entry;
}

void sort_by_gain(Json &entries)
{
    std::vector<Json> list(entries.begin(), entries.end());
    std::stable_sort(list.begin(), list.end(), [](const Json &a, const Json &b) {
        const bool a_known = a["gain"].is_number(), b_known = b["gain"].is_number();
        return a_known != b_known ? a_known : number_of(a["gain"]) > number_of(b["gain"]);
    });
    entries = list;
}

Json whatif_json(const Json &result, const std::string &metric, Json ranking, std::optional<Json> pairs)
{
    Json whatif = {{"format", whatif_format}, {"scenario", member(member(result, "scenario"), "name")},
                   {"metric", metric},        {"before", metric_value(result, metric).value},
                   {"top", top_of(result)},   {"ranking", std::move(ranking)}};
    for (Json &entry : whatif["ranking"])
        if (entry["kind"] == "lock")
            if (Json hottest = hottest_of(result, entry["name"]); !hottest.is_null())
                entry["hottest"] = std::move(hottest);
    if (pairs)
        whatif["pairs"] = std::move(*pairs);
    whatif["words"] = whatif_words(whatif);
    whatif["result"] = result;
    return whatif;
}

std::vector<std::string> whatif_words(const Json &whatif)
{
    const Json &ranking = member(whatif, "ranking"), &pairs = member(whatif, "pairs");
    if (ranking.empty())
        return {"There was nothing to try: nobody waited for a lock, and no function took time."};
    const bool less = less_is_better(shown(member(whatif, "metric")));
    std::vector<std::string> words;
    add_best(whatif, ranking[0], words);
    for (const Json &entry : ranking)
        if (entry["kind"] == "lock" && entry["name"] == member(whatif, "top") && loses(entry)) {
            words.push_back(
                (less ? "Removing the top lock makes it longer: with " + what_becomes(entry) + " it grows to "
                      : "Removing the top lock loses throughput: with " + what_becomes(entry) + " it falls to ") +
                number_text(member(entry, "after")) + " (" + times(member(entry, "gain")) +
                "), for what waited for it crowds on " + shown(member(entry, "next")) + ".");
            add_together(entry, pairs, words);
        }
    if (!pairs.empty())
        add_best_pair(pairs[0], ranking[0], words);
    for (const Json *list : {&ranking, &pairs})
        for (const Json &entry : *list)
            if (entry.contains("end"))
                words.push_back("With " + what_becomes(entry) + " the run ended badly: " + shown(entry["end"]) + ".");
    return words;
}

std::string whatif_text(const Json &whatif, Style style)
{
    std::string out = style.heading(name_text(member(whatif, "scenario"))) + ": " + shown(member(whatif, "metric")) +
                      " is " + number_text(member(whatif, "before")) + "; on top is " + shown(member(whatif, "top")) +
                      "\n";
    if (less_is_better(shown(member(whatif, "metric"))))
        out += "Less of it is better, so a gain is before / after.\n";
    out += "\n";
    for (const char *list : {"ranking", "pairs"}) {
        const Json &entries = member(whatif, list);
        if (entries.empty())
            continue;
        Table table(
            {{"what if", Table::left}, {"kind", Table::left}, {"after"}, {"gain"}, {"then on top", Table::left}});
        for (const Json &entry : entries)
            table.row({what_becomes(entry), shown(member(entry, "kind")),
                       entry.contains("end") ? shown(entry["end"]) : number_text(member(entry, "after")),
                       times(member(entry, "gain")), shown(member(entry, "next"))});
        out += table.text() + "\n";
    }
    for (const Json &sentence : member(whatif, "words"))
        out += wrapped(sentence.get<std::string>(), "  ");
    return out;
}

} // namespace analysis
