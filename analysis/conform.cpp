#include "analysis/conform.h"

#include "analysis/conform_alloc.h"
#include "analysis/conform_dbuf.h"
#include "analysis/conform_zap.h"
#include "analysis/conform_zap_profile.h"

namespace analysis {

namespace {

constexpr size_t shown_bytes = 200; // of a value in a message: enough to recognise it, short enough for one line

std::string shown(const Json &value)
{
    std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > shown_bytes)
        text = text.substr(0, shown_bytes) + "... (" + std::to_string(text.size()) + " bytes)";
    return text;
}

struct Parting {
    std::string path;
    const Json *recorded; // null: missing on this side
    const Json *got;
};

// The first leaf, in the recorded order, where the two values part. Numbers compare by value, not by signedness.
bool find_parting(const Json &recorded, const Json &got, const std::string &path, uint64_t &compared, Parting &parting)
{
    if (recorded.is_object() && got.is_object()) {
        for (const auto &[key, value] : recorded.items()) {
            std::string inner = path.empty() ? key : path + "." + key;
            auto found = got.find(key);
            if (found == got.end()) {
                parting = {inner, &value, nullptr};
                return true;
            }
            if (find_parting(value, *found, inner, compared, parting))
                return true;
        }
        for (const auto &[key, value] : got.items()) {
            if (!recorded.contains(key)) {
                parting = {path.empty() ? key : path + "." + key, nullptr, &value};
                return true;
            }
        }
        return false;
    }
    if (recorded.is_array() && got.is_array()) {
        size_t common = std::min(recorded.size(), got.size());
        for (size_t index = 0; index < common; ++index) {
            std::string inner = path + "[" + std::to_string(index) + "]";
            if (find_parting(recorded[index], got[index], inner, compared, parting))
                return true;
        }
        if (recorded.size() == got.size())
            return false;
        parting = {path + "[" + std::to_string(common) + "]", recorded.size() > common ? &recorded[common] : nullptr,
                   got.size() > common ? &got[common] : nullptr};
        return true;
    }
    ++compared;
    if (recorded == got)
        return false;
    parting = {path, &recorded, &got};
    return true;
}

} // namespace

void Comparison::step(size_t index, std::string_view operation)
{
    ++steps_;
    step_ = "step " + std::to_string(index) + " (" + std::string(operation) + ")";
}

void Comparison::label(std::string text)
{
    ++steps_;
    step_ = std::move(text);
}

void Comparison::equal(std::string_view field, const Json &recorded, const Json &got)
{
    Parting parting;
    if (!find_parting(recorded, got, std::string(field), compared_, parting))
        return;
    differences_.push_back({step_, parting.path, parting.recorded ? shown(*parting.recorded) : "nothing",
                            parting.got ? shown(*parting.got) : "nothing"});
    if (!keep_going_)
        throw Stop{};
}

// Every kind of trace that can be replayed.
static const std::vector<TraceKind> trace_kinds = {
    {"format", "alloc-oracle-1", conform_alloc},
    {"kind", "zap_structure", replay_zap_structure},
    {"kind", "zap_events", replay_zap_events},
    {"kind", "zap_remove", replay_zap_remove},
    {"kind", "zap_cursor", replay_zap_cursor},
    {"kind", "zap_edge", replay_zap_edge},
    {"kind", "hold_zap", replay_hold_zap},
    {"kind", "op_profile", replay_op_profile},
    {"kind", "create_sequence", replay_create_sequence},
    {"kind", "dbuf_depth", replay_dbuf_depth},
    {"kind", "dbuf_states", replay_dbuf_states},
    {"kind", "read_profile", replay_read_profile},
};

const TraceKind &trace_kind(const Json &trace)
{
    if (!trace.is_object())
        throw BadTrace("", "a trace is a JSON object");
    const char *key = trace.contains("format") ? "format" : "kind";
    if (!trace.contains(key))
        throw BadTrace("", "neither \"format\" nor \"kind\" says what kind of trace this is");
    const Json &name = trace[key];
    std::string known;
    for (const TraceKind &candidate : trace_kinds) {
        if (std::string_view(candidate.key) != key)
            continue;
        if (name == candidate.name)
            return candidate;
        known += (known.empty() ? "" : ", ") + std::string(candidate.name);
    }
    throw BadTrace(key, shown(name) + " cannot be replayed; known: " + (known.empty() ? "none" : known));
}

} // namespace analysis
