#include "model/object_names.h"

#include "model/spl.h"

namespace dmu {

namespace {

constexpr size_t shown_max = 60; // bytes of a path; of a longer one its end

// A name may be any bytes; a label is one line.
std::string printable(std::string_view name)
{
    std::string text(name);
    for (char &c : text)
        if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
            c = '?';
    return text;
}

bool continues_a_character(char c)
{
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

std::string shortened(const std::string &path)
{
    if (path.size() <= shown_max)
        return path;
    size_t from = path.size() - shown_max;
    while (from < path.size() && continues_a_character(path[from]))
        ++from;
    return "..." + path.substr(from);
}

} // namespace

void object_names_t::named(uint64_t object, uint64_t parent, std::string_view name)
{
    settle();
    const auto above = paths_.find(parent);
    if (above == paths_.end())
        return;
    const std::string path = (above->second == "/" ? "" : above->second) + "/" + printable(name);
    const auto [known_here, is_new] = paths_.try_emplace(object, path);
    if (is_new || known_here->second == path)
        return;
    // It was moved, and what is below it with it.
    const std::string before = known_here->second + "/";
    known_here->second = path;
    for (auto &[other, known] : paths_)
        if (known.starts_with(before))
            known = path + known.substr(before.size() - 1);
}

void object_names_t::removed(uint64_t object)
{
    settle();
    paths_.erase(object);
}

std::string object_names_t::in_brackets(uint64_t object) const
{
    const auto known = paths_.find(object);
    return known == paths_.end() ? "" : " (" + shortened(known->second) + ")";
}

std::string object_names_t::directory(uint64_t object) const
{
    return "directory " + std::to_string(object) + in_brackets(object);
}

std::string object_names_t::directories(uint64_t first, uint64_t last) const
{
    std::string text;
    size_t others = 0;
    for (auto known = paths_.lower_bound(first); known != paths_.end() && known->first <= last; ++known) {
        if (known->second == "/")
            continue;
        if (text.empty())
            text = directory(known->first);
        else
            ++others;
    }
    if (others > 0)
        text += " and " + std::to_string(others) + (others == 1 ? " other" : " others");
    return text;
}

} // namespace dmu
