#include "analysis/calibration_file.h"

#include "analysis/metric.h"
#include "scenarios/field.h"
#include "scenarios/machine.h"

#include <algorithm>
#include <utility>

namespace analysis {

namespace {

using File = CalibrationFile;
using scenarios::Field;
using scenarios::Table;
using scenarios::Unit;
using scenarios::Value;

constexpr uint64_t list_max = 1000;
constexpr size_t text_max = 4096;
constexpr double number_least = 1e-9, number_most = 1e18;

double read_positive(const Value &value, double least)
{
    if (!value.value.is_number())
        value.wrong_type("a number");
    const double number = value.value.get<double>();
    if (!(number >= least && number <= number_most))
        value.fail("is " + value.value.dump() + "; allowed is a number above 0");
    return number;
}

template <class S>
Field positive(std::string name, double S::*member, double least, std::string sentence)
{
    return scenarios::custom<S>(
        std::move(name), {{"type", "number"}}, "a number above 0", std::move(sentence),
        [member, least](S &object, const Value &value) { object.*member = read_positive(value, least); },
        [member](const S &object) { return Json(object.*member); });
}

template <class S>
Field overrides(Json S::*member, std::string sentence)
{
    return scenarios::custom<S>(
        "set", {{"type", "object"}}, "an object", std::move(sentence),
        [member](S &object, const Value &value) {
            if (!value.value.is_object())
                value.wrong_type("an object");
            object.*member = value.value;
        },
        [member](const S &object) { return object.*member; });
}

const Table &target_table()
{
    using T = File::Target;
    static const Table table(
        "a target", {scenarios::required(scenarios::text("name", &T::name, text_max, "What the report calls it.")),
                     scenarios::required(scenarios::text("scenario", &T::scenario, text_max,
                                                         "A built-in scenario or a file: the run it is of.")),
                     overrides(&T::set, "Overrides of the scenario, path by path."),
                     scenarios::required(scenarios::custom<T>(
                         "metric", {{"type", "string"}}, "a path into the result", "Which figure of that run.",
                         [](T &target, const Value &value) {
                             target.metric = scenarios::read_text(value, text_max);
                             if (std::string problem = metric_problem(target.metric); !problem.empty())
                                 value.fail(problem);
                         },
                         [](const T &target) { return Json(target.metric); })),
                     scenarios::required(positive("value", &T::value, number_least, "What was measured.")),
                     positive("weight", &T::weight, 0, "How much it counts; 0: it is shown, and not fitted."),
                     scenarios::text("because", &T::because, text_max, "Who measured it.")});
    return table;
}

template <class S>
void read_list(const Value &value, const Table &table, size_t most, std::vector<S> &list)
{
    if (!value.value.is_array())
        value.wrong_type("a list");
    if (value.value.empty() || value.value.size() > most)
        value.fail("has " + std::to_string(value.value.size()) + " items; allowed are 1 to " + std::to_string(most));
    for (size_t i = 0; i < value.value.size(); ++i) {
        S item;
        table.read(&item, value.at(i));
        list.push_back(std::move(item));
    }
}

std::vector<std::string> parameter_names()
{
    std::vector<std::string> names;
    for (const sim::MachineParameter &parameter : sim::machine_parameters())
        if (parameter.fitted)
            names.emplace_back(parameter.name);
    return names;
}

// Bounds are read before what they bound is known: "parameter" stands first in the table.
const Table &free_table()
{
    using F = File::Free;
    const auto bound = [](const char *name, int64_t F::*member, const char *sentence) {
        return scenarios::custom<F>(
            name, {{"type", "number"}}, "a value of the parameter, above 0", sentence,
            [member](F &free, const Value &value) {
                if (free.parameter == nullptr)
                    return; // "parameter" is missing, which is told
                free.*member = scenarios::read_machine_parameter(value, *free.parameter);
                if (free.*member < 1)
                    value.fail("is " + value.value.dump() + "; a parameter that is fitted is above 0");
            },
            [](const F &) { return Json(nullptr); });
    };
    static const Table table(
        "a free parameter",
        {scenarios::required(scenarios::custom<F>(
             "parameter", {{"type", "string"}}, "a parameter of a machine that may be fitted", "Which one.",
             [](F &free, const Value &value) {
                 const std::string name = scenarios::read_choice(value, "parameter", parameter_names());
                 free.parameter = sim::find_machine_parameter(name);
             },
             [](const F &) { return Json(nullptr); })),
         scenarios::required(bound("from", &F::least, "The least value that is plausible.")),
         scenarios::required(bound("to", &F::most, "The greatest.")),
         bound("start", &F::start, "Where the search begins (default: the profile's value).")});
    return table;
}

struct NamedRatio {
    std::string name, of, to, because;
    double value = 0;
};

const Table &ratio_table()
{
    using R = NamedRatio;
    static const Table table(
        "a ratio", {scenarios::required(scenarios::text("name", &R::name, text_max, "What the report calls it.")),
                    scenarios::required(scenarios::text("of", &R::of, text_max, "The target above the line.")),
                    scenarios::required(scenarios::text("to", &R::to, text_max, "The target below it.")),
                    scenarios::required(positive("value", &R::value, number_least, "What was measured.")),
                    scenarios::text("because", &R::because, text_max, "Who measured it.")});
    return table;
}

struct Whole {
    File file;
    Json set = Json::object();
    std::vector<NamedRatio> ratios;
};

const Table &file_table()
{
    static const Table table(
        "a calibration",
        {scenarios::required(scenarios::custom<Whole>(
             "profile", {{"type", "string"}}, "a built-in profile, or a file", "The machine that the fit starts from.",
             [](Whole &whole, const Value &value) {
                 whole.file.profile = scenarios::read_text(value, text_max);
                 scenarios::read_machine_profile(whole.file.machine, value);
             },
             [](const Whole &) { return Json(nullptr); })),
         scenarios::required(scenarios::custom<Whole>(
             "free", {{"type", "array"}}, "1 to 12 parameters", "What the fit may change, and how far.",
             [](Whole &whole, const Value &value) {
                 read_list(value, free_table(), calibration_free_max, whole.file.free);
             },
             [](const Whole &) { return Json(nullptr); })),
         overrides(&Whole::set, "Overrides of every target's scenario; a target's own are put over them."),
         scenarios::required(scenarios::custom<Whole>(
             "targets", {{"type", "array"}}, "1 to 1000 targets", "What it is to come close to.",
             [](Whole &whole, const Value &value) { read_list(value, target_table(), list_max, whole.file.targets); },
             [](const Whole &) { return Json(nullptr); })),
         scenarios::custom<Whole>(
             "ratios", {{"type", "array"}}, "1 to 1000 ratios", "Ratios of two targets, shown and not fitted.",
             [](Whole &whole, const Value &value) { read_list(value, ratio_table(), list_max, whole.ratios); },
             [](const Whole &) { return Json(nullptr); }),
         scenarios::custom<Whole>(
             "trials", {{"type", "integer"}}, "0 to 10000", "Points of the search without slopes.",
             [](Whole &whole, const Value &value) {
                 whole.file.trials = scenarios::read_number(value, {Unit::plain, 0, 10'000});
             },
             [](const Whole &) { return Json(nullptr); }),
         scenarios::custom<Whole>(
             "rounds", {{"type", "integer"}}, "0 to 1000", "Steps of the search by slopes.",
             [](Whole &whole, const Value &value) {
                 whole.file.rounds = scenarios::read_number(value, {Unit::plain, 0, 1000});
             },
             [](const Whole &) { return Json(nullptr); })});
    return table;
}

size_t target_named(const std::vector<File::Target> &targets, const Value &value)
{
    std::vector<std::string> names;
    for (size_t i = 0; i < targets.size(); ++i) {
        names.push_back(targets[i].name);
        if (targets[i].name == value.value.get<std::string>())
            return i;
    }
    value.fail(scenarios::unknown("target", value.value.get<std::string>(), names));
}

void check_free(const File &file, const Value &list)
{
    for (size_t i = 0; i < file.free.size(); ++i) {
        const File::Free &free = file.free[i];
        const Value place = list.at(i);
        for (size_t before = 0; before < i; ++before)
            if (file.free[before].parameter == free.parameter)
                place.at("parameter").fail("is free twice");
        const int64_t start = free.start != 0 ? free.start : file.machine.*free.parameter->field;
        if (free.least > free.most)
            place.at("from").fail("is above \"to\"");
        if (start < free.least || start > free.most)
            place.fail("the search would begin at " + dump(scenarios::machine_parameter_json(*free.parameter, start)) +
                       ", which is not from \"from\" to \"to\"; \"start\" may say where else");
    }
}

} // namespace

std::vector<CalibrationParameter> CalibrationFile::parameters() const
{
    std::vector<CalibrationParameter> list;
    for (const Free &one : free)
        list.push_back(
            {one.parameter->name, one.least, one.most, one.start != 0 ? one.start : machine.*one.parameter->field});
    return list;
}

std::vector<CalibrationTarget> CalibrationFile::figures() const
{
    std::vector<CalibrationTarget> list;
    for (const Target &target : targets)
        list.push_back({target.name, target.value, target.weight});
    return list;
}

CalibrationFile read_calibration(const std::string &name)
{
    const scenarios::Document document = scenarios::read_json(name);
    const scenarios::Params none;
    const scenarios::Reading reading{document, none};
    const Value root{document.root, reading, ""};
    Whole whole;
    file_table().read(&whole, root);
    File &file = whole.file;
    check_free(file, root.at("free"));
    for (File::Target &target : file.targets) {
        Json own = std::exchange(target.set, whole.set);
        target.set.update(own);
    }
    for (size_t i = 0; i < file.targets.size(); ++i)
        for (size_t before = 0; before < i; ++before)
            if (file.targets[before].name == file.targets[i].name)
                root.at("targets").at(i).at("name").fail("stands for two targets");
    if (std::all_of(file.targets.begin(), file.targets.end(), [](const File::Target &t) { return t.weight == 0; }))
        root.at("targets").fail("has no target with a weight above 0");
    for (size_t i = 0; i < whole.ratios.size(); ++i) {
        const NamedRatio &ratio = whole.ratios[i];
        const Value place = root.at("ratios").at(i);
        file.ratios.push_back({ratio.name, target_named(file.targets, place.at("of")),
                               target_named(file.targets, place.at("to")), ratio.value, ratio.because});
    }
    return file;
}

} // namespace analysis
