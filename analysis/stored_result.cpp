#include "analysis/stored_result.h"

#include "analysis/report_json.h"
#include "analysis/whatif.h"
#include "scenarios/strict_json.h"

#include <algorithm>

namespace analysis {

namespace {

void add(std::vector<Json> &results, scenarios::Document document)
{
    const Json &root = document.root;
    if (root.is_object() && root.contains("format") && root["format"] == whatif_format) {
        if (!root.contains("result") || !root.contains("ranking"))
            throw document.error("", "missing result or ranking: what `whatif --json` or `whatif -o` writes has them");
        Json result = root["result"];
        for (const char *key : {"metric", "before", "top", "ranking", "pairs", "words"})
            if (root.contains(key))
                result["whatif"][key] = root[key];
        document.root = std::move(result);
    }
    if (!root.is_object() || !root.contains("format"))
        throw document.error("", std::string("not a result: it has no \"format\": \"") + result_format + "\"");
    if (root["format"] != result_format)
        throw document.error("format", "not a result of this version: " + dump(root["format"]) + " where \"" +
                                           result_format + "\" is wanted");
    for (const char *key : {"scenario", "ops", "cpu", "histograms", "counters"})
        if (!root.contains(key) || !root[key].is_object())
            throw document.error(key, "missing, or not an object: a result has it");
    if (!root.contains("locks") || !root["locks"].is_array())
        throw document.error("locks", "missing, or not a list: a result has it");
    results.push_back(std::move(document.root));
}

} // namespace

std::vector<Json> read_results(const std::string &file)
{
    std::string text = scenarios::read_text(file);
    std::string source = file == "-" ? "standard input" : file;
    std::vector<Json> results;
    size_t first_end = text.find('\n');
    bool by_line = first_end != std::string::npos &&
                   Json::accept(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(first_end));
    if (!by_line) {
        add(results, scenarios::parse_json(source, std::move(text)));
        return results;
    }
    for (size_t from = 0, line = 1; from < text.size(); ++line) {
        size_t end = std::min(text.find('\n', from), text.size());
        if (end > from)
            add(results,
                scenarios::parse_json(source + " line " + std::to_string(line), text.substr(from, end - from)));
        from = end + 1;
    }
    return results;
}

} // namespace analysis
