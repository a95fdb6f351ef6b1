#include "analysis/expectation.h"

#include "analysis/metric.h"

namespace analysis {

namespace {

bool within(const Json &value, const Json &range)
{
    double middle = range.value("of", 0.0);
    double slack = std::abs(middle) * range.value("percent", 0.0) / 100;
    return value.get<double>() >= middle - slack && value.get<double>() <= middle + slack;
}

bool holds(const Json &value, const Json &expectation)
{
    if (!value.is_number())
        return false;
    if (expectation.contains("at_least") && value < expectation["at_least"])
        return false;
    if (expectation.contains("at_most") && value > expectation["at_most"])
        return false;
    if (expectation.contains("equals") && value != expectation["equals"])
        return false;
    return !expectation.contains("within") || within(value, expectation["within"]);
}

} // namespace

Json judge_expectations(const Json &result)
{
    Json judged = Json::array();
    const Json &scenario = result["scenario"];
    if (!scenario.is_object() || !scenario.contains("expect"))
        return judged;
    for (const Json &expectation : scenario["expect"]) {
        MetricValue found = metric_value(result, expectation.value("metric", ""));
        Json one = {{"metric", expectation.value("metric", "")}, {"value", found.value}};
        for (const char *bound : {"at_least", "at_most", "equals", "within"})
            if (expectation.contains(bound))
                one[bound] = expectation[bound];
        if (!found.problem.empty())
            one["problem"] = found.problem;
        if (expectation.contains("because"))
            one["because"] = expectation["because"];
        one["held"] = holds(found.value, expectation);
        judged.push_back(std::move(one));
    }
    return judged;
}

bool all_held(const Json &judged)
{
    for (const Json &one : judged)
        if (!one.value("held", false))
            return false;
    return true;
}

std::string bounds_text(const Json &expectation)
{
    std::string text;
    auto add = [&](const std::string &bound) { text += (text.empty() ? "" : ", ") + bound; };
    if (expectation.contains("equals"))
        add("equals " + dump(expectation["equals"]));
    if (expectation.contains("at_least"))
        add("at least " + dump(expectation["at_least"]));
    if (expectation.contains("at_most"))
        add("at most " + dump(expectation["at_most"]));
    if (expectation.contains("within"))
        add("within " + dump(expectation["within"].value("percent", Json())) + " % of " +
            dump(expectation["within"].value("of", Json())));
    return text;
}

} // namespace analysis
