#include "analysis/shrink.h"

#include <algorithm>
#include <set>

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

// Smaller numbers to try, the smallest first.
std::vector<uint64_t> smaller(uint64_t value, uint64_t least)
{
    std::set<uint64_t> tries;
    for (const uint64_t one : {least, least + 1, value / 16, value / 4, value / 2, value * 3 / 4, value - 1})
        if (value > least && one >= least && one < value)
            tries.insert(one);
    return {tries.begin(), tries.end()};
}

class Shrinker {
public:
    Shrinker(Json scenario, const StillFails &still_fails, uint64_t trials_max)
        : now_{std::move(scenario)}, still_fails_(still_fails), trials_max_(trials_max)
    {
    }

    Shrunk shrunk()
    {
        for (const char *key : {"expect", "warmup"})
            drop_key(key);
        bool smaller_now = true;
        while (smaller_now && now_.finished) {
            smaller_now = false;
            smaller_now = remove_groups() || smaller_now;
            smaller_now = remove_steps() || smaller_now;
            smaller_now = unwrap_repeats() || smaller_now;
            smaller_now = lessen_numbers() || smaller_now;
        }
        return std::move(now_);
    }

private:
    bool attempt(Json candidate)
    {
        if (now_.trials == trials_max_) {
            now_.finished = false;
            return false;
        }
        ++now_.trials;
        if (!still_fails_(candidate))
            return false;
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

    // From the last to the first, halves of a list before single steps.
    bool remove_steps()
    {
        bool removed = false;
        const std::vector<Pointer> lists = step_lists(now_.scenario);
        for (size_t k = lists.size(); k-- > 0;) {
            if (!now_.scenario.contains(lists[k]))
                continue;
            for (size_t width = std::max<size_t>(now_.scenario[lists[k]].size() / 2, 1); width > 0; width /= 2)
                for (size_t from = now_.scenario[lists[k]].size(); from >= width;) {
                    from -= width;
                    Json candidate = now_.scenario;
                    Json &list = candidate[lists[k]];
                    list.erase(list.begin() + static_cast<std::ptrdiff_t>(from),
                               list.begin() + static_cast<std::ptrdiff_t>(from + width));
                    removed = attempt(std::move(candidate)) || removed;
                    from = std::min(from, now_.scenario[lists[k]].size());
                }
        }
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

    bool lessen(const Pointer &place, uint64_t least)
    {
        if (!now_.scenario.contains(place) || !now_.scenario[place].is_number_unsigned())
            return false;
        bool lessened = false;
        for (bool again = true; again && now_.finished;) {
            again = false;
            for (const uint64_t value : smaller(now_.scenario[place].get<uint64_t>(), least)) {
                Json candidate = now_.scenario;
                candidate[place] = value;
                if (attempt(std::move(candidate))) {
                    lessened = again = true;
                    break;
                }
            }
        }
        return lessened;
    }

    bool lessen_numbers()
    {
        bool lessened = false;
        for (size_t i = 0; i < now_.scenario["workload"].size(); ++i)
            lessened = lessen(Pointer("/workload") / i / "threads", 1) || lessened;
        if (now_.scenario.contains("params")) {
            std::vector<std::string> names;
            for (const auto &[name, value] : now_.scenario["params"].items())
                names.push_back(name);
            for (const std::string &name : names)
                lessened = lessen(Pointer("/params") / name, 1) || lessened;
        }
        for (const Pointer &list : step_lists(now_.scenario))
            for (size_t i = 0; now_.scenario.contains(list) && i < now_.scenario[list].size(); ++i)
                for (const char *field : {"repeat", "count"})
                    lessened = lessen(list / i / field, 1) || lessened;
        lessened = lessen(Pointer("/machine/cpus"), 1) || lessened;
        return lessened;
    }

    Shrunk now_;
    const StillFails &still_fails_;
    uint64_t trials_max_;
};

} // namespace

Shrunk shrink(Json scenario, const StillFails &still_fails, uint64_t trials_max)
{
    return Shrinker(std::move(scenario), still_fails, trials_max).shrunk();
}

ScenarioSize scenario_size(const Json &scenario)
{
    ScenarioSize size;
    if (scenario.contains("setup"))
        size.steps += count_steps(scenario["setup"]);
    for (const Json &group : scenario["workload"]) {
        const Json &threads = group.value("threads", Json(1));
        size.threads += threads.is_number_unsigned() ? threads.get<uint64_t>() : 0;
        size.steps += count_steps(group["steps"]);
    }
    return size;
}

} // namespace analysis
