#include "analysis/report_text.h"

#include "analysis/expectation.h"
#include "analysis/report_parts.h"

namespace analysis {

namespace {

constexpr size_t functions_shown = 16;
constexpr size_t locks_shown = 12;
constexpr size_t locks_explained = 4; // with callers, holders and instances
constexpr size_t callers_shown = 5;
constexpr size_t txgs_shown = 24;

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
        const Json &scenario = member(result_, "scenario");
        out_ += style_.heading(name_text(member(scenario, "name"))) + ": " +
                shown(member(member(scenario, "machine"), "cpus")) + " CPUs, profile " +
                shown(member(member(scenario, "machine"), "profile")) + ", era " +
                shown(member(member(scenario, "code"), "era")) + ", object_alloc " +
                shown(member(member(scenario, "code"), "object_alloc")) + ", seed " + shown(member(scenario, "seed")) +
                "\n";
        if (const Json &description = member(scenario, "description"); description.is_string() && description != "")
            out_ += wrapped(shown(description), "  ");
        out_ += "  measured: " + duration_text(member(result_, "simulated_ns")) + " of simulated time\n";
        if (!member(result_, "complete").get<bool>())
            out_ += style_.bad("  INCOMPLETE: " + shown(member(result_, "end"))) + "\n";
        for (const Json &line : member(result_, "ending"))
            out_ += "    " + shown(line) + "\n";
        for (const Json &refusal : member(result_, "refusals"))
            out_ += "    " + shown(member(refusal, "step")) + ": " + shown(member(refusal, "error")) + "\n";
        for (const Json &warning : member(result_, "warnings"))
            out_ += "  warning: " + shown(warning) + "\n";
    }

    void expectations()
    {
        const Json &list = member(result_, "expect");
        if (list.empty())
            return;
        heading("Expectations");
        for (const Json &one : list) {
            bool held = member(one, "held").get<bool>();
            out_ += "  " + (held ? style_.good("held    ") : style_.bad("NOT HELD")) + "  " +
                    shown(member(one, "metric")) + " = " + number_text(member(one, "value")) + "  (" +
                    bounds_text(one) + ")\n";
            if (one.contains("problem"))
                out_ += "            " + shown(member(one, "problem")) + "\n";
            if (one.contains("because"))
                out_ += "            because: " + shown(member(one, "because")) + "\n";
        }
    }

    void throughput()
    {
        const Json &ops = member(result_, "ops");
        if (ops.empty())
            return;
        heading("Throughput and latency of one operation");
        Table rates(throughput_columns());
        Table parts(
            {{"operation", Table::left}, {"running"}, {"spinning"}, {"blocked"}, {"CPU wait"}, {"txg wait"}, {"disk"}});
        for (const auto &[name, op] : ops.items()) {
            rates.row(throughput_cells(name, op));
            parts.row(part_cells(escaped(name), member(op, "parts_ns")));
        }
        out_ += rates.text();
        heading("Where the time of an operation went");
        out_ += parts.text();
        Table waits({{"of it, waiting for", Table::left}, {"share"}, {"spinning"}, {"blocked"}, {"CPU wait"}});
        for (const auto &[name, op] : ops.items()) {
            double total = 0;
            for (const auto &[part, ns] : member(op, "parts_ns").items())
                total += ns.get<double>();
            const Json &op_locks = member(op, "locks");
            for (size_t i = 0; i < std::min(op_locks.size(), callers_shown); ++i) {
                const Json &lock = op_locks[i];
                waits.row({escaped(name) + ": " + shown(member(lock, "class")),
                           percent_text(member(lock, "wait_ns"), total), percent_text(member(lock, "spinning"), total),
                           percent_text(member(lock, "blocked"), total),
                           percent_text(member(lock, "cpu_wait"), total)});
            }
        }
        if (!waits.empty())
            out_ += "\n" + waits.text();
        const Json &groups = member(result_, "groups");
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
                std::vector<std::string> cells = part_cells(shown(member(group, "name")), member(group, "parts_ns"));
                cells.insert(cells.begin() + 1, number_text(member(group, "threads")));
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
        const Json &locks = member(result_, "locks");
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
        size_t told = 0;
        for (const Json &lock : locks) {
            if (told == locks_shown)
                break;
            ++told;
            const Json &wait = member(lock, "wait_ns"), &hold = member(lock, "hold_ns");
            table.row(
                {number_text(member(lock, "contended")), duration_text(member(wait, "total")),
                 duration_text(member(wait, "max")), average_text(member(wait, "total"), member(lock, "contended")),
                 percent_text(member(lock, "spin_ns"), member(wait, "total")),
                 number_text(member(lock, "acquisitions")),
                 average_text(member(hold, "total"), member(lock, "acquisitions")), duration_text(member(hold, "max")),
                 number_text(member(lock, "instances")), shown(member(lock, "class"))});
        }
        out_ += table.text();
        if (locks.size() > told)
            out_ += "  and " + std::to_string(locks.size() - told) + " more classes\n";
        for (size_t i = 0; i < std::min(locks.size(), locks_explained); ++i)
            if (member(locks[i], "wait_ns")["total"] != 0)
                explain(locks[i]);
        const Json &chains = member(result_, "wait_chains");
        for (size_t i = 0; i < std::min(chains.size(), callers_shown); ++i) {
            if (i == 0)
                out_ += "\n  " + style_.heading("Who waited for whom, while the holder waited itself") + "\n";
            char time[32];
            std::snprintf(time, sizeof time, "    %10s  ", duration_text(member(chains[i], "wait_ns")).c_str());
            out_ += time + chain_text(chains[i]) + "\n";
        }
    }

    void explain(const Json &lock)
    {
        out_ += "\n  " + style_.heading(shown(member(lock, "class"))) + "\n";
        const Json &total = member(lock, "wait_ns")["total"];
        static const struct {
            const char *list, *name, *time, *title;
        } columns[] = {{"waiters", "caller", "wait_ns", "waited in"},
                       {"holders", "caller", "blamed_ns", "held meanwhile by"},
                       {"hottest", "instance", "wait_ns", "hottest lock"}};
        for (const auto &column : columns) {
            size_t told = 0;
            for (const Json &row : member(lock, column.list)) {
                if (told == callers_shown)
                    break;
                char line[64];
                std::snprintf(line, sizeof line, "    %-18s %8s  %10s  ", told == 0 ? column.title : "",
                              percent_text(member(row, column.time), total).c_str(),
                              duration_text(member(row, column.time)).c_str());
                out_ += line + shown(member(row, column.name)) + "\n";
                ++told;
            }
        }
    }

    void functions()
    {
        const Json &cpu = member(result_, "cpu");
        const Json &functions = member(cpu, "functions");
        if (functions.empty())
            return;
        heading("Functions, by their own CPU time");
        const Json &busy = member(cpu, "busy_ns");
        Table table({{"self"},
                     {"self time"},
                     {"total"},
                     {"spinning"},
                     {"calls"},
                     {"cost", Table::left},
                     {"function", Table::left}});
        size_t told = 0;
        for (const Json &function : functions) {
            if (told == functions_shown)
                break;
            ++told;
            table.row({percent_text(member(function, "self_ns"), busy), duration_text(member(function, "self_ns")),
                       percent_text(member(function, "total_ns"), busy), duration_text(member(function, "spin_ns")),
                       number_text(member(function, "calls")), shown(member(function, "cost")),
                       shown(member(function, "name"))});
        }
        out_ += table.text();
        out_ += "  CPUs busy " + percent_text(busy, busy.get<double>() + member(cpu, "idle_ns").get<double>()) +
                " of the time; " + percent_text(member(cpu, "assumed_share"), 1) +
                " of the functions' time comes from assumed costs, the rest from recorded ones\n";
    }

    void histograms()
    {
        for (const auto &[name, histogram] : member(result_, "histograms").items()) {
            heading(escaped(name) + (member(histogram, "unit").empty() || member(histogram, "unit") == ""
                                         ? ""
                                         : " (" + shown(member(histogram, "unit")) + ")"));
            out_ += histogram_text(histogram);
        }
    }

    void allocator()
    {
        const Json &state = member(result_, "allocator");
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
            for (const Json &run : member(level, "fills")) {
                pointers += run[1].get<uint64_t>();
                sum += run[0].get<uint64_t>() * run[1].get<uint64_t>();
            }
            line("fill, level " + dump(member(level, "level")),
                 grouped(sum) + " under " + grouped(pointers) + " block pointers");
        }
    }

    void line(const std::string &name, const std::string &value)
    {
        out_ += "  " + name + std::string(name.size() < 22 ? 22 - name.size() : 1, ' ') + value + "\n";
    }

    void txgs()
    {
        const Json &rows = member(result_, "txgs");
        if (rows.empty())
            return;
        heading("Transaction groups");
        Table table({{"txg"}, {"open"}, {"quiescing"}, {"syncing"}, {"dirty"}, {"allocated"}, {"freed"}});
        for (size_t i = 0; i < std::min(rows.size(), txgs_shown); ++i) {
            const Json &row = rows[i];
            table.row({dump(member(row, "txg")), duration_text(member(row, "open_ns")),
                       duration_text(member(row, "quiesce_ns")), duration_text(member(row, "sync_ns")),
                       bytes_text(member(row, "dirty_bytes").get<uint64_t>()), number_text(member(row, "allocated")),
                       number_text(member(row, "freed"))});
        }
        out_ += table.text();
        if (rows.size() > txgs_shown)
            out_ += "  and " + std::to_string(rows.size() - txgs_shown) + " more\n";
    }

    void kstats()
    {
        if (const Json &values = member(result_, "zap"); !values.empty()) {
            heading("zap statistics");
            for (const auto &[key, value] : values.items())
                line(escaped(key), number_text(value));
        }
        if (const Json &stack = member(result_, "stack");
            member(stack, "bytes").is_number() && member(stack, "bytes") != 0) {
            heading("Deepest kernel stack: " + grouped(member(stack, "bytes").get<uint64_t>()) + " bytes");
            std::string path;
            for (const Json &frame : member(stack, "path"))
                path += (path.empty() ? "  " : " > ") + shown(frame);
            out_ += wrapped(path.substr(2), "  ");
        }
    }

    void constants()
    {
        heading("Constants in effect");
        for (const auto &[key, value] : member(result_, "scenario").items()) {
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
        out_ += "  " + path + " = " + shown(value) + "\n";
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
