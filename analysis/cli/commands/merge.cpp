// dmusim merge: the parts of one sweep, run on several machines, into the file that one machine would have written.
#include "analysis/cli/commands/commands.h"
#include "analysis/cli/errors.h"
#include "analysis/cli/exit_status.h"
#include "analysis/cli/output.h"
#include "analysis/json.h"
#include "scenarios/strict_json.h"

#include <map>

namespace cli {

namespace {

using analysis::Json;

constexpr size_t missing_shown = 20;

class Merge {
public:
    void read(const std::string &file)
    {
        std::string text = scenarios::read_text(file); // a folder, a missing file: told as everywhere
        size_t number = 1;
        for (size_t from = 0; from < text.size(); ++number) {
            size_t end = std::min(text.find('\n', from), text.size());
            add(file, number, text.substr(from, end - from));
            from = end + 1;
        }
    }

    void write(Output &output) const
    {
        for (const auto &[index, line] : lines_)
            output.write(line + "\n");
    }

    void require_whole() const
    {
        std::string missing;
        size_t count = 0;
        for (size_t i = 0; i < points_; ++i)
            if (lines_.count(i) == 0 && count++ < missing_shown)
                missing += (missing.empty() ? "" : ", ") + std::to_string(i);
        if (count > 0)
            throw UsageError("merge: " + std::to_string(count) + " of " + std::to_string(points_) +
                             " points are missing: " + missing + (count > missing_shown ? ", ..." : ""));
    }

private:
    void add(const std::string &file, size_t number, std::string line)
    {
        auto bad = [&](const std::string &what) {
            return scenarios::InputError(file, {static_cast<uint32_t>(number), 1}, "", what);
        };
        Json result = Json::parse(line, nullptr, false);
        if (!result.is_object() || !result.contains("grid") || !result["grid"].is_object() ||
            !result["grid"].value("index", Json()).is_number_unsigned() ||
            !result["grid"].value("points", Json()).is_number_unsigned())
            throw bad("not a line of a sweep");
        size_t index = result["grid"]["index"].get<size_t>(), points = result["grid"]["points"].get<size_t>();
        if (points_ == 0)
            points_ = points;
        if (points != points_ || index >= points)
            throw bad("of another sweep: it has " + std::to_string(points) + " points, the lines before had " +
                      std::to_string(points_));
        auto [found, fresh] = lines_.emplace(index, line);
        if (!fresh && found->second != line)
            throw bad("point " + std::to_string(index) + " is there twice, with different results");
    }

    std::map<size_t, std::string> lines_;
    size_t points_ = 0;
};

int run(const Arguments &arguments)
{
    Merge merge;
    for (const std::string &file : arguments.words)
        merge.read(file);
    merge.require_whole();
    Output output(arguments.common.output);
    merge.write(output);
    output.commit();
    return done;
}

} // namespace

const Command merge_command = {
    "merge",
    "[OPTION]... PART... -o FILE",
    "Put the parts of one sweep (--shard K/N) together, in grid order.",
    "The result has the bytes that the whole sweep on one machine would have had. Points that are missing are "
    "listed.\n\n"
    "Examples:\n"
    "  dmusim sweep alloc-one-txg --vary params.objects=2^10..2^20 --shard 1/2 -o part1.jsonl\n"
    "  dmusim sweep alloc-one-txg --vary params.objects=2^10..2^20 --shard 2/2 -o part2.jsonl\n"
    "  dmusim merge part1.jsonl part2.jsonl -o whole.jsonl\n",
    1,
    SIZE_MAX,
    "part",
    false,
    nullptr,
    run};

} // namespace cli
