#include "scenarios/work_estimate.h"

#include "scenarios/operation.h"
#include "scenarios/scenario.h"

#include <algorithm>

namespace scenarios {

namespace {

constexpr uint64_t most = 1'000'000'000'000'000; // beyond that nobody waits for the end

uint64_t product(uint64_t a, uint64_t b)
{
    return b != 0 && a > most / b ? most : std::min(a * b, most);
}

class Count {
public:
    bool exact = true;

    // Of `threads` threads that run the steps side by side.
    uint64_t of(const Steps &steps, uint64_t threads)
    {
        uint64_t sum = 0;
        for (const Step &step : steps)
            sum = std::min(sum + of_one(step, threads), most);
        return sum;
    }

private:
    uint64_t number(const Quantity &quantity)
    {
        if (!quantity.expression.text().empty() && !quantity.expression.constant()) {
            exact = false;
            return std::max<uint64_t>(quantity.value, 1);
        }
        return quantity.value;
    }

    uint64_t of_one(const Step &step, uint64_t threads)
    {
        switch (step.kind) {
        case StepKind::op:
            return product(number(step.count), threads);
        case StepKind::repeat: {
            if (step.for_ns != 0)
                exact = false;
            const uint64_t rounds = step.counted ? number(step.rounds) : 1;
            return product(rounds, of(step.steps, step.shared ? 1 : threads));
        }
        case StepKind::choose: {
            uint64_t weights = 0, sum = 0;
            for (const Alternative &alternative : step.alternatives) {
                weights += alternative.weight;
                sum = std::min(sum + product(alternative.weight, of(alternative.steps, threads)), most);
            }
            return weights == 0 ? 0 : sum / weights;
        }
        default:
            return 0;
        }
    }
};

} // namespace

WorkEstimate estimate_work(const Scenario &scenario)
{
    WorkEstimate estimate;
    Count count;
    estimate.setup = count.of(scenario.setup, 1);
    for (const Group &group : scenario.workload)
        estimate.operations = std::min(estimate.operations + count.of(group.steps, group.threads), most);
    estimate.exact = count.exact;
    return estimate;
}

} // namespace scenarios
