#include "analysis/shrink.h"

#include <algorithm>
#include <map>

namespace analysis {

namespace {

using Pointer = Json::json_pointer;

uint64_t count_steps(const Json &steps)
{
    uint64_t count = 0;
    for (const Json &step : steps) {
        ++count;
        if (step.contains("steps"))
            count += count_steps(step["steps"]);
        if (step.contains("choose"))
            for (const Json &one : step["choose"])
                count += count_steps(one.value("steps", Json::array()));
    }
    return count;
}

// Places of lists of steps, outer ones first.
void collect_lists(const Json &steps, const Pointer &at, std::vector<Pointer> &lists)
{
    lists.push_back(at);
    for (size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].contains("steps"))
            collect_lists(steps[i]["steps"], at / i / "steps", lists);
        if (steps[i].contains("choose"))
            for (size_t k = 0; k < steps[i]["choose"].size(); ++k)
                if (steps[i]["choose"][k].contains("steps"))
                    collect_lists(steps[i]["choose"][k]["steps"], at / i / "choose" / k / "steps", lists);
    }
}

std::vector<Pointer> step_lists(const Json &scenario)
{
    std::vector<Pointer> lists;
    if (scenario.contains("setup"))
        collect_lists(scenario["setup"], Pointer("/setup"), lists);
    for (size_t i = 0; i < scenario["workload"].size(); ++i)
        collect_lists(scenario["workload"][i]["steps"], Pointer("/workload") / i / "steps", lists);
    return lists;
}

// A number written as an expression is tried as one of these.
constexpr uint64_t plain_max = 4;

class Shrinker {
public:
    Shrinker(Json scenario, const StillFails &still_fails, uint64_t trials_max)
        : now_{std::move(scenario)}, still_fails_(still_fails), trials_max_(trials_max)
    {
    }

    // What makes the next candidates cheap to try comes first: the setup, whole groups, then threads and rounds.
    Shrunk shrunk()
    {
        for (const char *key : {"expect", "warmup"})
            drop_key(key);
        for (patience_ = Patience::little;;) {
            if (one_round())
                patience_ = Patience::little;
            else if (patience_ == Patience::much || !now_.finished)
                break;
            else
                patience_ = patience_ == Patience::little ? Patience::some : Patience::much;
        }
        return std::move(now_);
    }

private:
    enum class Pace { in_leaps, to_the_end };

    bool one_round()
    {
        bool smaller = remove_steps_of(Pointer("/setup"));
        smaller = remove_groups() || smaller;
        smaller = lessen_numbers(Pace::in_leaps) || smaller;
        smaller = remove_steps() || smaller;
        smaller = unwrap_repeats() || smaller;
        return lessen_numbers(Pace::to_the_end) || smaller;
    }

    bool attempt(Json candidate)
    {
        std::string text = dump(candidate);
        if (const auto refused = refused_.find(text); refused != refused_.end() && refused->second >= patience_)
            return false;
        if (now_.trials == trials_max_) {
            now_.finished = false;
            return false;
        }
        ++now_.trials;
        if (!still_fails_(candidate, patience_)) {
            refused_[std::move(text)] = patience_;
            return false;
        }
        now_.scenario = std::move(candidate);
        return true;
    }

    void drop_key(const char *key)
    {
        if (!now_.scenario.contains(key))
            return;
        Json candidate = now_.scenario;
        candidate.erase(key);
        attempt(std::move(candidate));
    }

    bool remove_groups()
    {
        bool removed = false;
        for (size_t i = now_.scenario["workload"].size(); i-- > 0 && now_.scenario["workload"].size() > 1;) {
            Json candidate = now_.scenario;
            candidate["workload"].erase(i);
            removed = attempt(std::move(candidate)) || removed;
        }
        return removed;
    }

    // The whole list, halves of it, and so on to single steps, from the last to the first.
    bool remove_steps_of(const Pointer &place)
    {
        if (!now_.scenario.contains(place))
            return false;
        bool removed = false;
        for (size_t width = now_.scenario[place].size(); width > 0; width /= 2)
            for (size_t from = now_.scenario[place].size(); from >= width;) {
                from -= width;
                Json candidate = now_.scenario;
                Json &list = candidate[place];
                list.erase(list.begin() + static_cast<std::ptrdiff_t>(from),
                           list.begin() + static_cast<std::ptrdiff_t>(from + width));
                removed = attempt(std::move(candidate)) || removed;
                from = std::min(from, now_.scenario[place].size());
            }
        return removed;
    }

    bool remove_steps()
    {
        bool removed = false;
        const std::vector<Pointer> lists = step_lists(now_.scenario);
        for (size_t k = lists.size(); k-- > 0;)
            removed = remove_steps_of(lists[k]) || removed;
        return removed;
    }

    // What a repeat repeats, once.
    bool unwrap_repeats()
    {
        bool unwrapped = false;
        const std::vector<Pointer> lists = step_lists(now_.scenario);
        for (size_t k = lists.size(); k-- > 0;) {
            if (!now_.scenario.contains(lists[k]))
                continue;
            for (size_t i = now_.scenario[lists[k]].size(); i-- > 0;) {
                const Json &step = now_.scenario[lists[k]][i];
                if (!step.contains("steps"))
                    continue;
                Json candidate = now_.scenario;
                Json &list = candidate[lists[k]];
                const Json inner = step["steps"];
                list.erase(i);
                list.insert(list.begin() + static_cast<std::ptrdiff_t>(i), inner.begin(), inner.end());
                unwrapped = attempt(std::move(candidate)) || unwrapped;
            }
        }
        return unwrapped;
    }

    bool put(const Pointer &place, uint64_t value)
    {
        Json candidate = now_.scenario;
        candidate[place] = value;
        return attempt(std::move(candidate));
    }

    // Between a number that is too small, as far as that has been tried, and the one that is there: halving the
    // distance. In leaps it ends when less than half of the number could be gained.
    bool lessen(const Pointer &place, uint64_t least, Pace pace)
    {
        if (!now_.scenario.contains(place) || !now_.scenario[place].is_number_unsigned())
            return false;
        uint64_t value = now_.scenario[place].get<uint64_t>();
        if (value <= least)
            return false;
        if (put(place, least))
            return true;
        bool lessened = false;
        for (uint64_t too_small = least; value - too_small > (pace == Pace::in_leaps ? value / 2 : 1);) {
            const uint64_t middle = too_small + (value - too_small) / 2;
            if (put(place, middle)) {
                value = middle;
                lessened = true;
            } else {
                too_small = middle;
            }
        }
        return lessened;
    }

    // Threads may be an expression.
    bool lessen_threads(const Pointer &place, Pace pace)
    {
        if (!now_.scenario.contains(place) || !now_.scenario[place].is_string())
            return lessen(place, 1, pace);
        for (uint64_t value = 1; value <= plain_max; ++value)
            if (put(place, value))
                return true;
        return false;
    }

    bool lessen_numbers(Pace pace)
    {
        bool lessened = false;
        for (size_t i = 0; i < now_.scenario["workload"].size(); ++i)
            lessened = lessen_threads(Pointer("/workload") / i / "threads", pace) || lessened;
        if (now_.scenario.contains("params")) {
            std::vector<std::string> names;
            for (const auto &[name, value] : now_.scenario["params"].items())
                names.push_back(name);
            for (const std::string &name : names)
                lessened = lessen(Pointer("/params") / name, 1, pace) || lessened;
        }
        for (const Pointer &list : step_lists(now_.scenario))
            for (size_t i = 0; now_.scenario.contains(list) && i < now_.scenario[list].size(); ++i)
                for (const char *field : {"repeat", "count"})
                    lessened = lessen(list / i / field, 1, pace) || lessened;
        lessened = lessen(Pointer("/machine/cpus"), 1, pace) || lessened;
        return lessened;
    }

    Shrunk now_;
    const StillFails &still_fails_;
    uint64_t trials_max_;
    Patience patience_ = Patience::little;
    std::map<std::string, Patience> refused_; // so that no candidate is tried twice with the same patience
};

} // namespace

Shrunk shrink(Json scenario, const StillFails &still_fails, uint64_t trials_max)
{
    return Shrinker(std::move(scenario), still_fails, trials_max).shrunk();
}

namespace {

// A number, or a parameter that is one.
uint64_t threads_of(const Json &scenario, Json threads)
{
    if (threads.is_string() && threads.get<std::string>().starts_with("$") && scenario.contains("params"))
        threads = scenario["params"].value(threads.get<std::string>().substr(1), Json(0));
    return threads.is_number_unsigned() ? threads.get<uint64_t>() : 0;
}

} // namespace

ScenarioSize scenario_size(const Json &scenario)
{
    ScenarioSize size;
    if (scenario.contains("setup"))
        size.steps += count_steps(scenario["setup"]);
    for (const Json &group : scenario["workload"]) {
        size.threads += threads_of(scenario, group.value("threads", Json(1)));
        size.steps += count_steps(group["steps"]);
    }
    return size;
}

} // namespace analysis
