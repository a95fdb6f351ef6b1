// pprof's profile.proto, by hand: a message is a list of (field number, wire type, value), and this needs two wire
// types.
//
// Samples carry CPU nanoseconds and calls of every stack; `go tool pprof` reads the file as it is, uncompressed.
#include "analysis/export.h"

#include <map>

namespace analysis {

namespace {

class Message {
public:
    Message &number(uint32_t field, uint64_t value)
    {
        varint(field << 3);
        varint(value);
        return *this;
    }
    Message &bytes(uint32_t field, const std::string &value)
    {
        varint(field << 3 | 2);
        varint(value.size());
        text_ += value;
        return *this;
    }
    Message &packed(uint32_t field, const std::vector<uint64_t> &values)
    {
        Message inner;
        for (uint64_t value : values)
            inner.varint(value);
        return bytes(field, inner.text_);
    }
    const std::string &text() const { return text_; }

private:
    void varint(uint64_t value)
    {
        for (; value >= 0x80; value >>= 7)
            text_ += static_cast<char>(value | 0x80);
        text_ += static_cast<char>(value);
    }
    std::string text_;
};

class Strings {
public:
    uint64_t index(const std::string &text)
    {
        auto [found, fresh] = index_.emplace(text, list_.size());
        if (fresh)
            list_.push_back(text);
        return found->second;
    }
    const std::vector<std::string> &list() const { return list_; }

private:
    std::vector<std::string> list_ = {""}; // the format wants the empty string first
    std::map<std::string, uint64_t> index_ = {{"", 0}};
};

} // namespace

std::string write_pprof(const Json &result)
{
    // Field numbers of Profile: sample_type 1, sample 2, location 4, function 5, string_table 6.
    Strings strings;
    Message profile;
    profile.bytes(1, Message().number(1, strings.index("cpu")).number(2, strings.index("nanoseconds")).text());
    profile.bytes(1, Message().number(1, strings.index("wait")).number(2, strings.index("nanoseconds")).text());
    std::map<std::string, uint64_t> locations; // and functions: one of each a name, numbered from 1
    auto location = [&](const std::string &name) {
        auto [found, fresh] = locations.emplace(name, locations.size() + 1);
        if (fresh) {
            uint64_t id = found->second;
            profile.bytes(4, Message().number(1, id).bytes(4, Message().number(1, id).text()).text());
            profile.bytes(5, Message().number(1, id).number(2, strings.index(name)).text());
        }
        return found->second;
    };
    for (StackTime time : {StackTime::cpu, StackTime::wait})
        for (const Stack &stack : stacks(result, time)) {
            std::vector<uint64_t> path; // innermost first
            for (size_t i = stack.frames.size(); i-- > 0;)
                path.push_back(location(stack.frames[i]));
            bool cpu = time == StackTime::cpu;
            profile.bytes(2, Message().packed(1, path).packed(2, {cpu ? stack.ns : 0, cpu ? 0 : stack.ns}).text());
        }
    for (const std::string &text : strings.list())
        profile.bytes(6, text);
    return profile.text();
}

} // namespace analysis
