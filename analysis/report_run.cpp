// The sections that one result fills: where the time went, locks, flame graphs, histograms, constants.
#include "analysis/expectation.h"
#include "analysis/metric.h"
#include "analysis/report_charts.h"
#include "analysis/report_model.h"
#include "analysis/report_parts.h"

#include <algorithm>
#include <map>

namespace analysis {

namespace {

constexpr size_t locks_shown = 12;
constexpr size_t locks_explained = 4;
constexpr size_t callers_shown = 6;
constexpr size_t functions_shown = 24;
constexpr size_t txgs_shown = 40;
constexpr size_t histogram_bars = 24; // linear histograms beyond that are shown as text alone

Figure throughput(const Json &result)
{
    Figure figure{"Throughput and latency of one operation", "", nullptr, {}, "", {}, true};
    ReportTable rates{"", throughput_columns(), {}, 0};
    for (const auto &[name, op] : member(result, "ops").items()) {
        rates.rows.push_back(throughput_cells(name, op));
        figure.words += (figure.words.empty() ? "" : "; ") + escaped(name) + ": " + number_text(member(op, "per_s")) +
                        " a simulated second";
    }
    figure.words += ".";
    figure.tables.push_back(std::move(rates));
    return figure;
}

// Which locks an operation spun and was blocked for.
ReportTable lock_waits_of(const Json &op, double total)
{
    const Json &locks = member(op, "locks");
    ReportTable table{"",
                      {{"waiting for", Table::left}, {"share"}, {"spinning"}, {"blocked"}, {"CPU wait"}},
                      {},
                      locks.size() > callers_shown ? locks.size() - callers_shown : 0};
    for (size_t i = 0; i < std::min(locks.size(), callers_shown); ++i)
        table.rows.push_back({shown(member(locks[i], "class")), percent_text(member(locks[i], "wait_ns"), total),
                              duration_text(member(locks[i], "spinning")), duration_text(member(locks[i], "blocked")),
                              duration_text(member(locks[i], "cpu_wait"))});
    return table;
}

// One figure an operation: the six parts of its time.
void time_parts(Section &section, const Json &result)
{
    static const std::map<std::string, std::string> names = {
        {"running", "running"},        {"spinning", "spinning on a lock"}, {"blocked", "blocked"},
        {"cpu_wait", "ready, no CPU"}, {"txg_wait", "txg wait"},           {"disk", "disk"}};
    size_t shown_ops = 0;
    for (const auto &[name, op] : member(result, "ops").items()) {
        const Json &parts = member(op, "parts_ns");
        double total = 0, most = 0;
        std::string largest;
        for (const auto &[part, ns] : parts.items()) {
            total += number_of(ns);
            if (number_of(ns) > most) {
                most = number_of(ns);
                largest = part;
            }
        }
        if (total == 0 || ++shown_ops > 4)
            continue;
        std::vector<ChartBar> bars;
        ReportTable table{"", {{"part", Table::left}, {"time"}, {"share"}}, {}, 0};
        for (const auto &[part, ns] : parts.items()) {
            auto known = names.find(part);
            std::string title = known == names.end() ? escaped(part) : known->second;
            bars.push_back({title, percent_text(ns, total), number_of(ns) * 100 / total, 0});
            table.rows.push_back({title, duration_text(ns), percent_text(ns, total)});
        }
        auto known = names.find(largest);
        Figure figure{"Where the time of " + escaped(name) + " went", "", nullptr, {}, "", {}, false};
        figure.words = "Of all its time, " + percent_text(most, total) + " is " +
                       (known == names.end() ? escaped(largest) : known->second) + ".";
        figure.chart =
            bar_chart(figure.words, bars, {"% of the time of all " + escaped(name), false, "d", {}}, "share", "");
        figure.tables.push_back(std::move(table));
        if (ReportTable waits = lock_waits_of(op, total); !waits.rows.empty())
            figure.tables.push_back(std::move(waits));
        section.figures.push_back(std::move(figure));
    }
}

Figure lock_waits(const Json &locks)
{
    Figure figure{"Locks by time waited", "", nullptr, {}, "", {}, true};
    ReportTable table{"",
                      {{"class", Table::left},
                       {"total wait"},
                       {"contended"},
                       {"avg wait"},
                       {"max wait"},
                       {"p99 wait"},
                       {"spinning"},
                       {"acquired"},
                       {"avg hold"},
                       {"max hold"},
                       {"locks"}},
                      {},
                      locks.size() > locks_shown ? locks.size() - locks_shown : 0};
    std::vector<ChartBar> bars;
    double all = 0;
    for (const Json &lock : locks)
        all += number_of(member(member(lock, "wait_ns"), "total"));
    for (size_t i = 0; i < std::min(locks.size(), locks_shown); ++i) {
        const Json &lock = locks[i], &wait = member(lock, "wait_ns"), &hold = member(lock, "hold_ns");
        table.rows.push_back(
            {shown(member(lock, "class")), duration_text(member(wait, "total")), number_text(member(lock, "contended")),
             average_text(member(wait, "total"), member(lock, "contended")), duration_text(member(wait, "max")),
             duration_text(member(wait, "p99")), percent_text(member(lock, "spin_ns"), member(wait, "total")),
             number_text(member(lock, "acquisitions")),
             average_text(member(hold, "total"), member(lock, "acquisitions")), duration_text(member(hold, "max")),
             number_text(member(lock, "instances"))});
        if (number_of(member(wait, "total")) > 0)
            bars.push_back({shown(member(lock, "class")),
                            duration_text(member(wait, "total")) + ", " + percent_text(member(wait, "total"), all),
                            number_of(member(lock, "spin_ns")) / 1e6, number_of(member(lock, "blocked_ns")) / 1e6});
    }
    if (bars.empty()) {
        figure.words = "Nobody waited for a lock.";
    } else {
        const Json &first = locks[0];
        figure.words = bars[0].name + " is first: " + bars[0].label + " of all waiting for locks, " +
                       percent_text(member(first, "spin_ns"), member(member(first, "wait_ns"), "total")) +
                       " of it spinning on a CPU, the rest blocked.";
        figure.chart = bar_chart(figure.words, bars, {"milliseconds waited, all threads", false, ",~f", {}}, "spinning",
                                 "blocked");
    }
    figure.tables.push_back(std::move(table));
    return figure;
}

Figure lock_blame(const Json &lock)
{
    const Json &total = member(member(lock, "wait_ns"), "total");
    Figure figure{shown(member(lock, "class")) + ": who waited, who held it", "", nullptr, {}, "", {}, false};
    static const struct {
        const char *list, *name, *time, *title;
    } parts[] = {{"waiters", "caller", "wait_ns", "waited in"},
                 {"holders", "caller", "blamed_ns", "held meanwhile by"},
                 {"hottest", "instance", "wait_ns", "hottest lock"}};
    for (const auto &part : parts) {
        const Json &rows = member(lock, part.list);
        ReportTable table{"",
                          {{part.title, Table::left}, {"share"}, {"waiting"}},
                          {},
                          rows.size() > callers_shown ? rows.size() - callers_shown : 0};
        for (size_t i = 0; i < std::min(rows.size(), callers_shown); ++i)
            table.rows.push_back({shown(member(rows[i], part.name)), percent_text(member(rows[i], part.time), total),
                                  duration_text(member(rows[i], part.time))});
        if (table.rows.empty())
            continue;
        if (std::string(part.list) != "hottest")
            figure.words += std::string(figure.words.empty() ? "Mostly " : "; ") + part.title + " " + table.rows[0][0] +
                            " (" + table.rows[0][1] + ")";
        figure.tables.push_back(std::move(table));
    }
    figure.words += ".";
    return figure;
}

// A ranking of `dmusim whatif`, as gains in per cent: what is left of the axis loses.
Section suppositions(const Json &whatif)
{
    Section section{"whatif", "What if", {}, {}};
    for (const Json &sentence : member(whatif, "words"))
        section.paragraphs.push_back(shown(sentence));
    const std::string metric = shown(member(whatif, "metric"));
    const bool less = less_is_better(metric);
    for (const char *list : {"ranking", "pairs"}) {
        const Json &entries = member(whatif, list);
        if (entries.empty())
            continue;
        const bool pairs = std::string(list) == "pairs";
        Figure figure{pairs ? "Two at once" : "One at a time", "", nullptr, {}, "", {}, true};
        ReportTable table{"",
                          {{"what if", Table::left},
                           {"kind", Table::left},
                           {"before"},
                           {"after"},
                           {"gain"},
                           {"then on top", Table::left}},
                          {},
                          0};
        std::vector<ChartBar> bars;
        for (const Json &entry : entries) {
            const Json &factor = member(entry, "factor"), &gain = member(entry, "gain");
            const std::string name =
                shown(member(entry, "name")) + (factor == 0 ? " free" : " " + number_text(factor) + " times cheaper");
            const std::string times = gain.is_number() ? digits_text(number_of(gain), 4) + "x" : "-";
            table.rows.push_back({name, shown(member(entry, "kind")), number_text(member(entry, "before")),
                                  number_text(member(entry, "after")), times, shown(member(entry, "next"))});
            if (gain.is_number())
                bars.push_back(
                    {name, times + ", then " + shown(member(entry, "next")), (number_of(gain) - 1) * 100, 0});
        }
        figure.words = "By gain: " + table.rows[0][0] + " first, " + table.rows[0][4] + ".";
        if (!bars.empty())
            figure.chart = bar_chart(
                figure.words, bars,
                {(less ? "% gain, before over after, in " : "% change of ") + metric, false, "~f", {}}, "gain", "");
        figure.tables.push_back(std::move(table));
        section.figures.push_back(std::move(figure));
    }
    return section;
}

// Waiting during which the holder itself waited.
Figure wait_chains(const Json &chains)
{
    Figure figure{"Who waited for whom", "", nullptr, {}, "", {}, true};
    ReportTable table{"", {{"chain", Table::left}, {"waiting"}}, {}, 0};
    for (const Json &chain : chains)
        table.rows.push_back({chain_text(chain), duration_text(member(chain, "wait_ns"))});
    figure.words =
        "While the holder of a lock waited itself, others waited for it: longest for " + table.rows[0][0] + ".";
    figure.tables.push_back(std::move(table));
    return figure;
}

// Txgs as spans: a txg opens when the one before it closes, and syncs when it is quiet and the one before it is synced.
Figure txg_spans(const Json &txgs)
{
    Figure figure{"Transaction groups over time", "", nullptr, {}, "", {}, true};
    ReportTable table{"",
                      {{"txg"}, {"open"}, {"quiescing"}, {"syncing"}, {"dirty"}, {"allocated"}, {"freed"}},
                      {},
                      txgs.size() > txgs_shown ? txgs.size() - txgs_shown : 0};
    std::vector<ChartSpan> spans;
    double opened = 0, synced = 0, longest = 0;
    for (size_t i = 0; i < txgs.size(); ++i) {
        const Json &row = txgs[i];
        double open = number_of(member(row, "open_ns")), quiesce = number_of(member(row, "quiesce_ns")),
               sync = number_of(member(row, "sync_ns"));
        double closed = opened + open, begins = std::max(closed + quiesce, synced);
        longest = std::max(longest, sync);
        if (i < 300) {
            std::string name = "txg " + shown(member(row, "txg"));
            spans.push_back({"open", name, opened / 1e6, closed / 1e6});
            spans.push_back({"quiescing", name, closed / 1e6, (closed + quiesce) / 1e6});
            spans.push_back({"syncing", name, begins / 1e6, (begins + sync) / 1e6});
        }
        opened = closed;
        synced = begins + sync;
        if (i < txgs_shown)
            table.rows.push_back({shown(member(row, "txg")), duration_text(open), duration_text(quiesce),
                                  duration_text(sync),
                                  bytes_text(static_cast<uint64_t>(number_of(member(row, "dirty_bytes")))),
                                  number_text(member(row, "allocated")), number_text(member(row, "freed"))});
    }
    figure.words = std::to_string(txgs.size()) + " txgs; the longest sync took " + duration_text(longest) + ".";
    figure.chart = span_chart(figure.words, spans, {"milliseconds of simulated time", false, ",~f", {}});
    figure.tables.push_back(std::move(table));
    return figure;
}

// Series of one unit share a chart; at most six lines, and neighbours added up until there are few enough points.
void add_series(Section &section, const Json &series)
{
    constexpr size_t points_max = 250, lines_max = 6;
    std::vector<std::string> units;
    for (const Json &one : series)
        if (std::find(units.begin(), units.end(), shown(member(one, "unit"))) == units.end())
            units.push_back(shown(member(one, "unit")));
    for (const std::string &unit : units) {
        std::vector<ChartPoint> points;
        ReportTable table{"", {{"until, ms"}}, {}, 0};
        std::map<double, std::vector<std::string>> rows;
        size_t lines = 0;
        std::string names;
        for (const Json &one : series) {
            if (shown(member(one, "unit")) != unit || lines == lines_max)
                continue;
            ++lines;
            std::string name = shown(member(one, "name"));
            names += (names.empty() ? "" : ", ") + name;
            table.columns.push_back({name});
            const Json &samples = member(one, "samples");
            size_t step = (samples.size() + points_max - 1) / points_max;
            for (size_t from = 0; step > 0 && from < samples.size(); from += step) {
                size_t end = std::min(from + step, samples.size());
                double sum = 0, at = number_of(samples[end - 1][0]) / 1e6;
                for (size_t i = from; i < end; ++i)
                    sum += number_of(samples[i][1]);
                double value = sum / static_cast<double>(end - from);
                points.push_back({name, at, value, 0, 0});
                auto &row = rows[at];
                row.resize(lines);
                row[lines - 1] = number_text(four_digits(value));
            }
        }
        for (auto &[at, cells] : rows) {
            cells.insert(cells.begin(), number_text(four_digits(at)));
            table.rows.push_back(cells);
        }
        if (points.empty())
            continue;
        Figure figure{
            "Over time: " + unit, names + " over simulated time, interval by interval.", nullptr, {}, "", {}, true};
        figure.chart = series_chart(figure.words, points, {"milliseconds of simulated time", false, ",~f", {}},
                                    {unit, false, "~s", {}});
        figure.tables.push_back(std::move(table));
        section.figures.push_back(std::move(figure));
    }
}

Figure function_table(const Json &result)
{
    const Json &cpu = member(result, "cpu"), &functions = member(cpu, "functions"), &busy = member(cpu, "busy_ns");
    Figure figure{"Functions by their own CPU time", "", nullptr, {}, "", {}, true};
    ReportTable table{
        "",
        {{"function", Table::left}, {"self"}, {"self time"}, {"total"}, {"spinning"}, {"calls"}, {"cost", Table::left}},
        {},
        functions.size() > functions_shown ? functions.size() - functions_shown : 0};
    for (size_t i = 0; i < std::min(functions.size(), functions_shown); ++i) {
        const Json &function = functions[i];
        table.rows.push_back({shown(member(function, "name")), percent_text(member(function, "self_ns"), busy),
                              duration_text(member(function, "self_ns")),
                              percent_text(member(function, "total_ns"), busy),
                              duration_text(member(function, "spin_ns")), number_text(member(function, "calls")),
                              shown(member(function, "cost"))});
    }
    figure.words =
        "CPUs busy " + percent_text(busy, number_of(busy) + number_of(member(cpu, "idle_ns"))) + " of the time.";
    figure.tables.push_back(std::move(table));
    return figure;
}

Figure histogram(const std::string &name, const Json &histogram)
{
    const Json &rows = member(histogram, "rows");
    std::string unit = shown(member(histogram, "unit"));
    Figure figure{
        escaped(name) + (unit.empty() ? "" : " (" + unit + ")"), "", nullptr, {}, histogram_text(histogram), {}, false};
    bool quantize = member(histogram, "scale") == "quantize";
    double count = 0, most = -1, at = 0;
    std::vector<ChartBar> bars;
    for (const Json &row : rows) {
        count += number_of(row[1]);
        if (number_of(row[1]) > most) {
            most = number_of(row[1]);
            at = number_of(row[0]);
        }
        bars.push_back({number_text(row[0]), number_text(row[1]), number_of(row[1]), 0});
    }
    if (rows.empty())
        return figure;
    auto bucket = [&](double from) {
        return quantize && from > 1 ? number_text(static_cast<uint64_t>(from)) + " to " +
                                          number_text(static_cast<uint64_t>(from * 2 - 1))
                                    : number_text(static_cast<uint64_t>(from));
    };
    figure.words = number_text(static_cast<uint64_t>(count)) + " values; " + percent_text(most, count) + " of them " +
                   bucket(at) + "; the highest bucket is " + bucket(number_of(rows.back()[0])) + " with " +
                   number_text(rows.back()[1]) + ". Bars are on a logarithmic scale, so that few are seen beside many.";
    if (bars.size() <= histogram_bars)
        figure.chart = bar_chart(figure.words, bars, {"count", false, "~s", {}}, "count", "", true);
    return figure;
}

void flatten(const Json &value, const std::string &path, ReportTable &table)
{
    if (value.is_object()) {
        for (const auto &[key, inner] : value.items())
            flatten(inner, path.empty() ? escaped(key) : path + "." + escaped(key), table);
        return;
    }
    table.rows.push_back({path, shown(value)});
}

Section constants(const Json &result)
{
    Section section{"constants", "Constants in effect", {}, {}};
    section.paragraphs.push_back(
        percent_text(member(member(result, "cpu"), "assumed_share"), 1) +
        " of the functions' CPU time comes from assumed costs, the rest from costs recorded on the real library.");
    Figure figure{"Every constant of this run",
                  "Machine, code base, pool and dataset as they were in effect, defaults filled in.",
                  nullptr,
                  {},
                  "",
                  {},
                  true};
    ReportTable table{"", {{"constant", Table::left}, {"value", Table::left}}, {}, 0};
    for (const auto &[key, value] : member(result, "scenario").items())
        if (key != "workload" && key != "setup" && key != "expect" && key != "description" && key != "name" &&
            key != "$schema")
            flatten(value, escaped(key), table);
    figure.tables.push_back(std::move(table));
    section.figures.push_back(std::move(figure));
    return section;
}

Section state(const Json &result)
{
    Section section{"state", "Allocator, caches, stack", {}, {}};
    for (const char *name : {"allocator", "zap", "dbuf", "arc"}) {
        const Json &values = member(result, name);
        ReportTable table{"", {{"statistic", Table::left}, {"value"}}, {}, 0};
        for (const auto &[key, value] : values.items())
            if (!value.is_structured())
                table.rows.push_back({escaped(key), value.is_boolean() ? dump(value) : number_text(value)});
        if (table.rows.empty())
            continue;
        Figure figure{std::string(name) == "allocator" ? "Object allocator" : std::string(name) + " statistics",
                      "",
                      nullptr,
                      {},
                      "",
                      {},
                      false};
        figure.tables.push_back(std::move(table));
        section.figures.push_back(std::move(figure));
    }
    if (const Json &stack = member(result, "stack"); number_of(member(stack, "bytes")) > 0) {
        std::string path;
        for (const Json &frame : member(stack, "path"))
            path += (path.empty() ? "" : " > ") + shown(frame);
        section.paragraphs.push_back("Deepest simulated kernel stack: " + number_text(member(stack, "bytes")) +
                                     " bytes, at " + path + ".");
    }
    return section;
}

} // namespace

void add_run_sections(Report &report, const Json &result)
{
    Section time{"time", "Where the time went", {}, {}};
    time.figures.push_back(throughput(result));
    time_parts(time, result);
    report.sections.push_back(std::move(time));

    if (const Json &locks = member(result, "locks"); locks.is_array() && !locks.empty()) {
        Section section{"locks", "Locks", {}, {}};
        section.figures.push_back(lock_waits(locks));
        for (size_t i = 0; i < std::min(locks.size(), locks_explained); ++i)
            if (number_of(member(member(locks[i], "wait_ns"), "total")) > 0)
                section.figures.push_back(lock_blame(locks[i]));
        if (const Json &chains = member(result, "wait_chains"); chains.is_array() && !chains.empty())
            section.figures.push_back(wait_chains(chains));
        report.sections.push_back(std::move(section));
    }

    if (const Json &whatif = member(result, "whatif"); whatif.is_object())
        report.sections.push_back(suppositions(whatif));

    Section course{"course", "Over time", {}, {}};
    if (const Json &txgs = member(result, "txgs"); txgs.is_array() && !txgs.empty())
        course.figures.push_back(txg_spans(txgs));
    if (const Json &series = member(result, "series"); series.is_array())
        add_series(course, series);
    if (course.figures.empty())
        course.paragraphs.push_back(
            "Not recorded: run with --set 'record=[\"txgs\",\"series\"]' to see txgs, CPUs and locks over time.");
    report.sections.push_back(std::move(course));

    Section flames{"flames", "Flame graphs and functions", {}, {}};
    flames.figures.push_back(flame_figure(result, false, ""));
    flames.figures.push_back(flame_figure(result, true, ""));
    flames.figures.push_back(function_table(result));
    report.sections.push_back(std::move(flames));

    if (const Json &histograms = member(result, "histograms"); !histograms.empty()) {
        Section section{"histograms", "Histograms", {}, {}};
        for (const auto &[name, one] : histograms.items())
            section.figures.push_back(histogram(name, one));
        report.sections.push_back(std::move(section));
    }
    if (Section section = state(result); !section.figures.empty() || !section.paragraphs.empty())
        report.sections.push_back(std::move(section));
    report.sections.push_back(constants(result));
}

} // namespace analysis
