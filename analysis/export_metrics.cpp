// Numbers: OpenMetrics for monitoring, CSV for spreadsheets, kstat and lockstat text for the eyes of those who know
// them.
#include "analysis/export.h"

#include "analysis/text.h"

#include <cstdio>

namespace analysis {

namespace {

// A label's value: backslash, quote and newline are escaped, the rest is UTF-8 as it stands.
std::string label(const std::string &text)
{
    std::string safe;
    for (char c : text) {
        if (c == '\\' || c == '"')
            safe += '\\';
        if (c == '\n')
            safe += "\\n";
        else
            safe += c;
    }
    return safe;
}

std::string seconds(const Json &ns)
{
    if (!ns.is_number())
        return "NaN";
    return dump(Json(ns.get<double>() / 1e9));
}

struct Family {
    std::string out;
    void begin(const char *name, const char *type, const char *unit, const char *help)
    {
        out += std::string("# TYPE ") + name + " " + type + "\n";
        if (*unit != '\0')
            out += std::string("# UNIT ") + name + " " + unit + "\n";
        out += std::string("# HELP ") + name + " " + help + "\n";
    }
    void sample(const std::string &name, const std::string &labels, const std::string &value)
    {
        out += name + (labels.empty() ? "" : "{" + labels + "}") + " " + value + "\n";
    }
};

void operations(Family &family, const Json &result)
{
    family.begin("dmusim_ops", "counter", "", "Operations that succeeded.");
    for (const auto &[name, op] : result["ops"].items())
        family.sample("dmusim_ops_total", "op=\"" + label(name) + "\"", dump(op["count"]));
    family.begin("dmusim_op_rate", "gauge", "", "Operations a simulated second.");
    for (const auto &[name, op] : result["ops"].items())
        if (op["per_s"].is_number())
            family.sample("dmusim_op_rate", "op=\"" + label(name) + "\"", dump(op["per_s"]));
    family.begin("dmusim_op_latency_seconds", "summary", "seconds", "Latency of one operation.");
    for (const auto &[name, op] : result["ops"].items())
        for (auto [key, quantile] :
             {std::pair("p50", "0.5"), std::pair("p90", "0.9"), std::pair("p99", "0.99"), std::pair("max", "1.0")})
            family.sample("dmusim_op_latency_seconds", "op=\"" + label(name) + "\",quantile=\"" + quantile + "\"",
                          seconds(op["latency_ns"][key]));
}

void locks(Family &family, const Json &result)
{
    static const struct {
        const char *name, *unit, *help;
        const char *key, *inner;
    } columns[] = {{"dmusim_lock_acquisitions", "", "Times a lock of the class was taken.", "acquisitions", nullptr},
                   {"dmusim_lock_contended", "", "Times somebody had to wait for one.", "contended", nullptr},
                   {"dmusim_lock_wait_seconds", "seconds", "Time waited for one.", "wait_ns", "total"},
                   {"dmusim_lock_hold_seconds", "seconds", "Time one was held.", "hold_ns", "total"}};
    for (const auto &column : columns) {
        family.begin(column.name, "counter", column.unit, column.help);
        for (const Json &lock : result["locks"]) {
            const Json &value = column.inner == nullptr ? lock[column.key] : lock[column.key][column.inner];
            family.sample(std::string(column.name) + "_total",
                          "class=\"" + label(lock["class"].get<std::string>()) + "\"",
                          column.inner == nullptr ? dump(value) : seconds(value));
        }
    }
}

void histograms(Family &family, const Json &result)
{
    family.begin("dmusim_calls", "histogram", "", "Calls of one function made inside one call of another.");
    for (const auto &[name, histogram] : result["histograms"].items()) {
        bool quantize = histogram["scale"] == "quantize";
        uint64_t count = 0;
        std::string labels = "histogram=\"" + label(name) + "\"";
        for (const Json &row : histogram["rows"]) {
            uint64_t bucket = row[0].get<uint64_t>();
            count += row[1].get<uint64_t>();
            uint64_t above =
                quantize && bucket > 0 ? bucket * 2 - 1 : bucket; // the largest value that the bucket holds
            family.sample("dmusim_calls_bucket", labels + ",le=\"" + std::to_string(above) + ".0\"",
                          std::to_string(count));
        }
        family.sample("dmusim_calls_bucket", labels + ",le=\"+Inf\"", std::to_string(count));
    }
}

std::string quoted(const std::string &text)
{
    std::string safe = "\"";
    for (char c : text)
        safe += c == '"' ? std::string("\"\"") : std::string(1, c);
    // A spreadsheet would run a text that begins like a formula.
    if (safe.size() > 1 && std::string_view("=+-@\t\r").find(safe[1]) != std::string_view::npos)
        safe.insert(1, "'");
    return safe + "\"";
}

// Every leaf of the result as: path, value. Lists of named things are entered by name, so that a path is a metric.
void leaves(const Json &value, const std::string &path, std::string &out)
{
    if (value.is_object()) {
        for (const auto &[key, inner] : value.items())
            leaves(inner,
                   path.empty()                                    ? key
                   : key.find_first_of(".[ ") == std::string::npos ? path + "." + key
                                                                   : path + "[" + key + "]",
                   out);
    } else if (value.is_array()) {
        for (size_t i = 0; i < value.size(); ++i) {
            std::string inner = path + "." + std::to_string(i);
            for (const char *key : {"class", "name", "caller", "instance"})
                if (value[i].is_object() && value[i].contains(key) && value[i][key].is_string())
                    inner = path + "[" + value[i][key].get<std::string>() + "]";
            leaves(value[i], inner, out);
        }
    } else {
        out += quoted(path) + "," + (value.is_string() ? quoted(value.get<std::string>()) : dump(value)) + "\n";
    }
}

std::string kstat_row(const std::string &name, const std::string &data)
{
    char line[256];
    std::snprintf(line, sizeof line, "%-47s 4    %s\n", escaped(name).c_str(), data.c_str());
    return line;
}

std::string caller_rows(const Json &lock, const Json &total)
{
    std::string out;
    char line[320];
    for (const Json &waiter : lock["waiters"]) {
        std::snprintf(line, sizeof line, "%8s %5s %12s   waited in %s\n", "",
                      percent_text(waiter["wait_ns"], total).c_str(), duration_text(waiter["wait_ns"]).c_str(),
                      escaped(waiter["caller"].get<std::string>()).c_str());
        out += line;
    }
    for (const Json &holder : lock["holders"]) {
        std::snprintf(line, sizeof line, "%8s %5s %12s   held by   %s\n", "",
                      percent_text(holder["blamed_ns"], total).c_str(), duration_text(holder["blamed_ns"]).c_str(),
                      escaped(holder["caller"].get<std::string>()).c_str());
        out += line;
    }
    return out;
}

} // namespace

std::string write_openmetrics(const Json &result)
{
    Family family;
    family.begin("dmusim_simulated_seconds", "gauge", "seconds", "Length of the measured part.");
    family.sample("dmusim_simulated_seconds", "", seconds(result["simulated_ns"]));
    operations(family, result);
    locks(family, result);
    family.begin("dmusim_function_calls", "counter", "", "Calls of a modelled function, and kstat counters.");
    for (const auto &[name, count] : result["counters"].items())
        family.sample("dmusim_function_calls_total", "name=\"" + label(name) + "\"", dump(count));
    family.begin("dmusim_function_self_seconds", "counter", "seconds", "Own CPU time of a modelled function.");
    for (const Json &function : result["cpu"]["functions"])
        family.sample("dmusim_function_self_seconds_total",
                      "name=\"" + label(function["name"].get<std::string>()) + "\"", seconds(function["self_ns"]));
    histograms(family, result);
    return family.out + "# EOF\n";
}

std::string write_csv(const Json &result)
{
    std::string out = "metric,value\n";
    for (const auto &[key, value] : result.items())
        leaves(value, key, out);
    return out;
}

std::string write_kstat(const Json &result)
{
    std::string out;
    for (const char *name : {"zap", "dbuf", "arc", "counters"}) {
        if (!result.contains(name) || result[name].empty())
            continue;
        out += std::string(out.empty() ? "" : "\n") + "dmusim " + name + "\n" +
               "name                                            type data\n";
        for (const auto &[key, value] : result[name].items())
            out += kstat_row(key, dump(value));
    }
    return out;
}

std::string write_lockstat(const Json &result)
{
    double total = 0;
    uint64_t events = 0;
    for (const Json &lock : result["locks"]) {
        total += lock["wait_ns"]["total"].get<double>();
        events += lock["contended"].get<uint64_t>();
    }
    std::string out = "Lock waits: " + grouped(events) + " events in " + duration_text(result["simulated_ns"]) +
                      " of simulated time, all CPUs\n\n" +
                      "   Count indv cuml         nsec Lock                  spinning    max wait    avg hold\n" +
                      "--------------------------------------------------------------------------------------\n";
    double sum = 0;
    char line[320];
    for (const Json &lock : result["locks"]) {
        const Json &wait = lock["wait_ns"];
        if (wait["total"] == 0)
            continue;
        sum += wait["total"].get<double>();
        double contended = lock["contended"].get<double>(), taken = lock["acquisitions"].get<double>();
        std::snprintf(line, sizeof line, "%8.0f %3.0f%% %3.0f%% %12.0f %-21s %8s %11s %11s\n", contended,
                      wait["total"].get<double>() * 100 / total, sum * 100 / total,
                      contended > 0 ? wait["total"].get<double>() / contended : 0.0,
                      escaped(lock["class"].get<std::string>()).c_str(),
                      percent_text(lock["spin_ns"], wait["total"]).c_str(), duration_text(wait["max"]).c_str(),
                      taken > 0 ? duration_text(lock["hold_ns"]["total"].get<double>() / taken).c_str() : "-");
        out += line + caller_rows(lock, wait["total"]);
    }
    return out;
}

} // namespace analysis
