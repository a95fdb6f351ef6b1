#include "analysis/report_text.h"

#include "analysis/expectation.h"

namespace analysis {

namespace {

constexpr size_t functions_shown = 16;
constexpr size_t locks_shown = 12;
constexpr size_t locks_explained = 4; // with callers, holders and instances
constexpr size_t callers_shown = 5;
constexpr size_t txgs_shown = 24;

const Json nothing;

const Json &at(const Json &object, std::string_view key)
{
    auto found = object.is_object() ? object.find(std::string(key)) : object.end();
    return found == object.end() ? nothing : *found;
}

std::string name_of(const Json &value)
{
    return value.is_string() ? escaped(value.get<std::string>()) : dump(value);
}

class TextReport {
public:
    TextReport(const Json &result, Style style) : result_(result), style_(style) {}

    std::string text()
    {
        head();
        expectations();
        throughput();
        locks();
        functions();
        histograms();
        allocator();
        txgs();
        kstats();
        constants();
        return std::move(out_);
    }

private:
    void heading(const std::string &title) { out_ += "\n" + style_.heading(title) + "\n"; }

    void head()
    {
        const Json &scenario = at(result_, "scenario");
        out_ += style_.heading(name_of(at(scenario, "name"))) + ": " + name_of(at(at(scenario, "machine"), "cpus")) +
                " CPUs, profile " + name_of(at(at(scenario, "machine"), "profile")) + ", era " +
                name_of(at(at(scenario, "code"), "era")) + ", object_alloc " +
                name_of(at(at(scenario, "code"), "object_alloc")) + ", seed " + name_of(at(scenario, "seed")) + "\n";
        if (const Json &description = at(scenario, "description"); description.is_string() && !description.empty())
            out_ += wrapped(name_of(description), "  ");
        out_ += "  measured: " + duration_text(at(result_, "simulated_ns")) + " of simulated time\n";
        if (!at(result_, "complete").get<bool>())
            out_ += style_.bad("  INCOMPLETE: " + name_of(at(result_, "end"))) + "\n";
        for (const Json &line : at(result_, "ending"))
            out_ += "    " + name_of(line) + "\n";
        for (const Json &refusal : at(result_, "refusals"))
            out_ += "    " + name_of(at(refusal, "step")) + ": " + name_of(at(refusal, "error")) + "\n";
        for (const Json &warning : at(result_, "warnings"))
            out_ += "  warning: " + name_of(warning) + "\n";
    }

    void expectations()
    {
        const Json &list = at(result_, "expect");
        if (list.empty())
            return;
        heading("Expectations");
        for (const Json &one : list) {
            bool held = at(one, "held").get<bool>();
            out_ += "  " + (held ? style_.good("held    ") : style_.bad("NOT HELD")) + "  " +
                    name_of(at(one, "metric")) + " = " + number_text(at(one, "value")) + "  (" + bounds_text(one) +
                    ")\n";
            if (one.contains("problem"))
                out_ += "            " + name_of(at(one, "problem")) + "\n";
            if (one.contains("because"))
                out_ += "            because: " + name_of(at(one, "because")) + "\n";
        }
    }

    void throughput()
    {
        const Json &ops = at(result_, "ops");
        if (ops.empty())
            return;
        heading("Throughput and latency of one operation");
        Table rates({{"operation", Table::left},
                     {"count"},
                     {"per second"},
                     {"p50"},
                     {"p90"},
                     {"p99"},
                     {"max"},
                     {"errors", Table::left}});
        Table parts(
            {{"operation", Table::left}, {"running"}, {"spinning"}, {"blocked"}, {"CPU wait"}, {"txg wait"}, {"disk"}});
        for (const auto &[name, op] : ops.items()) {
            const Json &latency = at(op, "latency_ns");
            std::string errors;
            for (const auto &[error, count] : at(op, "errors").items())
                errors += (errors.empty() ? "" : ", ") + escaped(error) + " " + number_text(count);
            rates.row({escaped(name), number_text(at(op, "count")), number_text(at(op, "per_s")),
                       duration_text(at(latency, "p50")), duration_text(at(latency, "p90")),
                       duration_text(at(latency, "p99")), duration_text(at(latency, "max")), errors});
            parts.row(part_cells(escaped(name), at(op, "parts_ns")));
        }
        out_ += rates.text();
        heading("Where the time of an operation went");
        out_ += parts.text();
        const Json &groups = at(result_, "groups");
        if (groups.size() > 0) {
            heading("Where the time of the threads went");
            Table table({{"group", Table::left},
                         {"threads"},
                         {"running"},
                         {"spinning"},
                         {"blocked"},
                         {"CPU wait"},
                         {"txg wait"},
                         {"disk"}});
            for (const Json &group : groups) {
                std::vector<std::string> cells = part_cells(name_of(at(group, "name")), at(group, "parts_ns"));
                cells.insert(cells.begin() + 1, number_text(at(group, "threads")));
                table.row(std::move(cells));
            }
            out_ += table.text();
        }
    }

    static std::vector<std::string> part_cells(const std::string &name, const Json &parts)
    {
        double total = 0;
        for (const auto &[key, value] : parts.items())
            total += value.get<double>();
        std::vector<std::string> cells = {name};
        for (const auto &[key, value] : parts.items())
            cells.push_back(percent_text(value, total));
        return cells;
    }

    void locks()
    {
        const Json &locks = at(result_, "locks");
        if (locks.empty())
            return;
        heading("Locks, by time waited");
        Table table({{"contended"},
                     {"total wait"},
                     {"max wait"},
                     {"avg wait"},
                     {"spinning"},
                     {"acquired"},
                     {"avg hold"},
                     {"max hold"},
                     {"locks"},
                     {"class", Table::left}});
        size_t shown = 0;
        for (const Json &lock : locks) {
            if (shown == locks_shown)
                break;
            ++shown;
            const Json &wait = at(lock, "wait_ns"), &hold = at(lock, "hold_ns");
            table.row({number_text(at(lock, "contended")), duration_text(at(wait, "total")),
                       duration_text(at(wait, "max")), average(at(wait, "total"), at(lock, "contended")),
                       percent_text(at(lock, "spin_ns"), at(wait, "total")), number_text(at(lock, "acquisitions")),
                       average(at(hold, "total"), at(lock, "acquisitions")), duration_text(at(hold, "max")),
                       number_text(at(lock, "instances")), name_of(at(lock, "class"))});
        }
        out_ += table.text();
        if (locks.size() > shown)
            out_ += "  and " + std::to_string(locks.size() - shown) + " more classes\n";
        for (size_t i = 0; i < std::min(locks.size(), locks_explained); ++i)
            if (at(locks[i], "wait_ns")["total"] != 0)
                explain(locks[i]);
    }

    static std::string average(const Json &total, const Json &count)
    {
        return count.get<double>() == 0 ? "-" : duration_text(total.get<double>() / count.get<double>());
    }

    void explain(const Json &lock)
    {
        out_ += "\n  " + style_.heading(name_of(at(lock, "class"))) + "\n";
        const Json &total = at(lock, "wait_ns")["total"];
        static const struct {
            const char *list, *name, *time, *title;
        } columns[] = {{"waiters", "caller", "wait_ns", "waited in"},
                       {"holders", "caller", "blamed_ns", "held meanwhile by"},
                       {"hottest", "instance", "wait_ns", "hottest lock"}};
        for (const auto &column : columns) {
            size_t shown = 0;
            for (const Json &row : at(lock, column.list)) {
                if (shown == callers_shown)
                    break;
                char line[64];
                std::snprintf(line, sizeof line, "    %-18s %8s  %10s  ", shown == 0 ? column.title : "",
                              percent_text(at(row, column.time), total).c_str(),
                              duration_text(at(row, column.time)).c_str());
                out_ += line + name_of(at(row, column.name)) + "\n";
                ++shown;
            }
        }
    }

    void functions()
    {
        const Json &cpu = at(result_, "cpu");
        const Json &functions = at(cpu, "functions");
        if (functions.empty())
            return;
        heading("Functions, by their own CPU time");
        const Json &busy = at(cpu, "busy_ns");
        Table table({{"self"},
                     {"self time"},
                     {"total"},
                     {"spinning"},
                     {"calls"},
                     {"cost", Table::left},
                     {"function", Table::left}});
        size_t shown = 0;
        for (const Json &function : functions) {
            if (shown == functions_shown)
                break;
            ++shown;
            table.row({percent_text(at(function, "self_ns"), busy), duration_text(at(function, "self_ns")),
                       percent_text(at(function, "total_ns"), busy), duration_text(at(function, "spin_ns")),
                       number_text(at(function, "calls")), name_of(at(function, "cost")),
                       name_of(at(function, "name"))});
        }
        out_ += table.text();
        out_ += "  CPUs busy " + percent_text(busy, busy.get<double>() + at(cpu, "idle_ns").get<double>()) +
                " of the time; " + percent_text(at(cpu, "assumed_share"), 1) +
                " of the functions' time comes from assumed costs, the rest from recorded ones\n";
    }

    void histograms()
    {
        for (const auto &[name, histogram] : at(result_, "histograms").items()) {
            heading(escaped(name) + (at(histogram, "unit").empty() || at(histogram, "unit") == ""
                                         ? ""
                                         : " (" + name_of(at(histogram, "unit")) + ")"));
            out_ += histogram_text(histogram);
        }
    }

    void allocator()
    {
        const Json &state = at(result_, "allocator");
        if (state.empty())
            return;
        heading("Object allocator");
        for (const auto &[name, value] : state.items()) {
            if (name == "objects") {
                out_ += "  objects recorded in " + std::to_string(value.size()) + " runs\n";
            } else if (name == "fills") {
                fills(value);
            } else if (value.is_array()) {
                line(name, dump(value));
            } else {
                line(name, value.is_boolean() ? dump(value) : number_text(value));
            }
        }
    }

    // One line a level: how many pointers, and how full on the whole.
    void fills(const Json &levels)
    {
        for (const Json &level : levels) {
            uint64_t pointers = 0, sum = 0;
            for (const Json &run : at(level, "fills")) {
                pointers += run[1].get<uint64_t>();
                sum += run[0].get<uint64_t>() * run[1].get<uint64_t>();
            }
            line("fill, level " + dump(at(level, "level")),
                 grouped(sum) + " under " + grouped(pointers) + " block pointers");
        }
    }

    void line(const std::string &name, const std::string &value)
    {
        out_ += "  " + name + std::string(name.size() < 22 ? 22 - name.size() : 1, ' ') + value + "\n";
    }

    void txgs()
    {
        const Json &rows = at(result_, "txgs");
        if (rows.empty())
            return;
        heading("Transaction groups");
        Table table({{"txg"}, {"open"}, {"quiescing"}, {"syncing"}, {"dirty"}, {"allocated"}, {"freed"}});
        for (size_t i = 0; i < std::min(rows.size(), txgs_shown); ++i) {
            const Json &row = rows[i];
            table.row({dump(at(row, "txg")), duration_text(at(row, "open_ns")), duration_text(at(row, "quiesce_ns")),
                       duration_text(at(row, "sync_ns")), bytes_text(at(row, "dirty_bytes").get<uint64_t>()),
                       number_text(at(row, "allocated")), number_text(at(row, "freed"))});
        }
        out_ += table.text();
        if (rows.size() > txgs_shown)
            out_ += "  and " + std::to_string(rows.size() - txgs_shown) + " more\n";
    }

    void kstats()
    {
        for (const char *name : {"zap", "dbuf", "arc"}) {
            const Json &values = at(result_, name);
            if (values.empty())
                continue;
            heading(std::string(name) + " statistics");
            for (const auto &[key, value] : values.items())
                line(escaped(key), number_text(value));
        }
        if (const Json &stack = at(result_, "stack"); at(stack, "bytes").is_number() && at(stack, "bytes") != 0) {
            heading("Deepest kernel stack: " + grouped(at(stack, "bytes").get<uint64_t>()) + " bytes");
            std::string path;
            for (const Json &frame : at(stack, "path"))
                path += (path.empty() ? "  " : " > ") + name_of(frame);
            out_ += wrapped(path.substr(2), "  ");
        }
    }

    void constants()
    {
        heading("Constants in effect");
        for (const auto &[key, value] : at(result_, "scenario").items()) {
            if (key == "workload" || key == "setup" || key == "expect" || key == "description" || key == "name" ||
                key == "$schema")
                continue;
            constant(escaped(key), value);
        }
    }

    void constant(const std::string &path, const Json &value)
    {
        if (value.is_object()) {
            for (const auto &[key, inner] : value.items())
                constant(path + "." + escaped(key), inner);
            return;
        }
        out_ += "  " + path + " = " + name_of(value) + "\n";
    }

    const Json &result_;
    Style style_;
    std::string out_;
};

} // namespace

std::string report_text(const Json &result, Style style)
{
    return TextReport(result, style).text();
}

} // namespace analysis
