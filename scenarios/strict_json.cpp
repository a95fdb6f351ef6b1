#include "scenarios/strict_json.h"

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace scenarios {

namespace {

constexpr size_t depth_max = 100; // a scenario nests ten deep; recursion over values stays far from any stack's end
constexpr size_t file_bytes_max = 1 << 30; // a pipe that never ends must not fill the memory

// An input iterator that counts what has been consumed: nlohmann does not tell the place of a value.
struct Counting {
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char *;
    using reference = const char &;

    const char *at;
    size_t *consumed;

    reference operator*() const { return *at; }
    Counting &operator++()
    {
        ++at;
        ++*consumed;
        return *this;
    }
    Counting operator++(int)
    {
        Counting before = *this;
        ++*this;
        return before;
    }
    bool operator==(const Counting &other) const { return at == other.at; }
    bool operator!=(const Counting &other) const { return at != other.at; }
};

Place place_of(std::string_view text, size_t offset)
{
    Place place{1, 1};
    for (size_t i = 0; i < offset && i < text.size(); ++i) {
        if (text[i] == '\n') {
            ++place.line;
            place.column = 1;
        } else {
            ++place.column;
        }
    }
    return place;
}

enum class Token { text, number, other };

// The first byte of the token that the parser has just taken. Only a number is known to end when the byte after it has
// been read.
size_t token_start(std::string_view text, size_t consumed, Token token)
{
    if (consumed == 0)
        return 0;
    size_t first = consumed - 1;
    if (token == Token::text) {
        const auto escaped = [&](size_t quote) {
            size_t backslashes = 0;
            while (backslashes < quote && text[quote - 1 - backslashes] == '\\')
                ++backslashes;
            return backslashes % 2 == 1;
        };
        while (first > 0) {
            --first;
            if (text[first] == '"' && !escaped(first))
                break;
        }
        return first;
    }
    const auto belongs = [&](char c) {
        if (token == Token::number)
            return std::strchr("0123456789+-.eE", c) != nullptr && c != '\0';
        return c >= 'a' && c <= 'z';
    };
    if (token == Token::number && !belongs(text[first]) && first > 0)
        --first;
    while (first > 0 && belongs(text[first]) && belongs(text[first - 1]))
        --first;
    return first;
}

// The place inside nlohmann's message says what it expected; its prefix and its own idea of the place are noise.
std::string syntax_problem(const std::string &what, bool at_end)
{
    if (at_end)
        return "the text ends in the middle; a bracket, quote or value is missing";
    if (what.find("UTF-8") != std::string::npos || what.find("surrogate") != std::string::npos)
        return "not valid UTF-8 text" +
               std::string(what.find("surrogate") != std::string::npos ? " (half a surrogate pair)" : "");
    if (what.find("out_of_range") != std::string::npos)
        return "the number is too large; a number here has at most 64 bits";
    const size_t dash = what.find(" - ");
    std::string problem = dash == std::string::npos ? what : what.substr(dash + 3);
    const size_t last_read = problem.find("; last read: ");
    if (last_read != std::string::npos) {
        const size_t after = problem.find("; expected", last_read);
        problem.erase(last_read, after == std::string::npos ? after : after - last_read);
    }
    return "not JSON: " + problem;
}

// Builds the value, and refuses what a plain parser lets through. With a target, it looks for the place of one value
// instead and stops there.
class Reader : public nlohmann::json_sax<json> {
public:
    Reader(const std::string &source, std::string_view text, const size_t &consumed, json *root,
           const std::string *target = nullptr)
        : source_(source), text_(text), consumed_(consumed), root_(root), target_(target)
    {
    }

    bool found = false;
    Place value_place, key_place;

    bool null() override { return scalar(Token::other, nullptr); }
    bool boolean(bool value) override { return scalar(Token::other, value); }
    bool number_integer(number_integer_t value) override { return scalar(Token::number, value); }
    bool number_unsigned(number_unsigned_t value) override { return scalar(Token::number, value); }
    bool number_float(number_float_t value, const string_t &digits) override
    {
        if (target_ == nullptr && digits.find_first_of(".eE") == std::string::npos) {
            enter();
            fail(Token::number, path(), "the integer " + digits + " does not fit into 64 bits");
        }
        return scalar(Token::number, value);
    }
    bool string(string_t &value) override { return scalar(Token::text, std::move(value)); }
    bool binary(binary_t &) override { return false; }

    bool start_object(size_t) override { return open(json::object()); }
    bool start_array(size_t) override { return open(json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t &name) override
    {
        Level &level = levels_.back();
        level.key = name;
        if (target_ == nullptr && !level.keys.insert(name).second)
            fail(Token::text, path(), "the key " + in_quotes(name) + " appears twice in the same object");
        level.key_start = token_start(text_, consumed_, Token::text);
        return true;
    }
    bool parse_error(size_t position, const std::string &, const nlohmann::detail::exception &error) override
    {
        const std::string what = error.what();
        if (position > text_.size() || what.find("unexpected end of input") != std::string::npos)
            throw InputError(source_, place_of(text_, text_.size()), path(), syntax_problem(what, true));
        throw InputError(source_, place_of(text_, position == 0 ? 0 : position - 1), path(),
                         syntax_problem(what, false));
    }

private:
    struct Level {
        json *value;
        bool list;
        size_t index = 0;
        std::string key;
        size_t key_start = 0;
        std::set<std::string> keys;
    };

    std::string path() const
    {
        std::string path;
        for (const Level &level : levels_) {
            if (level.list && level.index > 0)
                path = join(path, level.index - 1);
            else if (!level.list && !level.key.empty())
                path = join(path, level.key);
        }
        return path;
    }

    // A value begins: in a list, the next item.
    void enter()
    {
        if (!levels_.empty() && levels_.back().list)
            ++levels_.back().index;
    }

    [[noreturn]] void fail(Token token, const std::string &at, std::string problem) const
    {
        throw InputError(source_, place_of(text_, token_start(text_, consumed_, token)), at, std::move(problem));
    }

    // True when the search is over.
    bool reached(Token token)
    {
        if (target_ == nullptr || path() != *target_)
            return false;
        found = true;
        const size_t start = token_start(text_, consumed_, token);
        value_place = place_of(text_, start);
        key_place = !levels_.empty() && !levels_.back().list ? place_of(text_, levels_.back().key_start) : value_place;
        return true;
    }

    json *put(json value)
    {
        if (levels_.empty()) {
            *root_ = std::move(value);
            return root_;
        }
        Level &level = levels_.back();
        if (level.list) {
            level.value->push_back(std::move(value));
            return &level.value->back();
        }
        return &(*level.value)[level.key];
    }

    bool scalar(Token token, json value)
    {
        enter();
        if (reached(token))
            return false;
        if (root_ != nullptr)
            place_value(std::move(value));
        return true;
    }

    bool open(json empty)
    {
        enter();
        if (reached(Token::other))
            return false;
        if (levels_.size() >= depth_max)
            fail(Token::other, "", "nested deeper than " + std::to_string(depth_max) + " levels");
        const bool list = empty.is_array();
        json *here = root_ != nullptr ? place_value(std::move(empty)) : nullptr;
        levels_.push_back({here, list, 0, {}, 0, {}});
        return true;
    }

    json *place_value(json value)
    {
        if (levels_.empty() || levels_.back().list)
            return put(std::move(value));
        json *slot = put(nullptr);
        *slot = std::move(value);
        return slot;
    }

    bool close()
    {
        levels_.pop_back();
        return true;
    }

    const std::string &source_;
    std::string_view text_;
    const size_t &consumed_;
    json *root_;
    const std::string *target_;
    std::vector<Level> levels_;
};

struct Places {
    bool found = false;
    Place value, key;
};

Places locate(const std::string &source, std::string_view text, std::string_view path)
{
    size_t consumed = 0;
    const std::string target(path);
    Reader reader(source, text, consumed, nullptr, &target);
    try {
        json::sax_parse(Counting{text.begin(), &consumed}, Counting{text.end(), &consumed}, &reader);
    } catch (const InputError &) {
        return {};
    }
    return {reader.found, reader.value_place, reader.key_place};
}

// The path of the value around that one; empty for the root's own children.
std::string_view parent(std::string_view path)
{
    const size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

} // namespace

std::string join(std::string_view path, std::string_view key)
{
    return path.empty() ? std::string(key) : std::string(path) + "." + std::string(key);
}

std::string join(std::string_view path, size_t index)
{
    return join(path, std::to_string(index));
}

const char *type_name(const json &value)
{
    switch (value.type()) {
    case json::value_t::null:
        return "null";
    case json::value_t::boolean:
        return "true or false";
    case json::value_t::string:
        return "text";
    case json::value_t::array:
        return "a list";
    case json::value_t::object:
        return "an object";
    case json::value_t::number_float:
        return "a number with a fraction";
    default:
        return "a number";
    }
}

Place Document::place(std::string_view path) const
{
    return locate(source_, text_, path).value;
}

Place Document::key_place(std::string_view path) const
{
    return locate(source_, text_, path).key;
}

const std::string *Document::option_for(std::string_view path) const
{
    for (std::string_view at = path; !at.empty(); at = parent(at))
        if (const auto exact = overridden_.find(at); exact != overridden_.end())
            return &exact->second;
    return nullptr;
}

InputError Document::error(const std::string &path, std::string problem) const
{
    if (const std::string *option = option_for(path); option != nullptr)
        return {*option, {}, path, std::move(problem)};
    if (const Places places = locate(source_, text_, path); places.found)
        return {source_, places.value, path, std::move(problem)};
    // Not in the text: an option made it on its way to a value further down, or it is missing from what is around it.
    const auto below = overridden_.lower_bound(join(path, ""));
    if (below != overridden_.end() && below->first.starts_with(join(path, "")))
        return {below->second, {}, path, std::move(problem)};
    for (std::string_view at = path; !at.empty();) {
        at = parent(at);
        if (const Places places = locate(source_, text_, at); places.found)
            return {source_, places.value, path, std::move(problem)};
    }
    return {source_, {}, path, std::move(problem)};
}

InputError Document::key_error(const std::string &path, std::string problem) const
{
    if (option_for(path) == nullptr)
        if (const Places places = locate(source_, text_, path); places.found)
            return {source_, places.key, path, std::move(problem)};
    return error(path, std::move(problem));
}

void Document::set(std::string_view path, json value, std::string option)
{
    json *at = &root;
    std::string done;
    std::string_view rest = path;
    while (true) {
        const size_t dot = rest.find('.');
        const std::string key(rest.substr(0, dot));
        const auto wrong = [&](const std::string &problem) {
            return InputError(option, {}, std::string(path), problem);
        };
        if (key.empty())
            throw wrong(
                "a path is names and list indices joined by single dots, such as machine.cpus or workload.0.threads");
        if (at->is_array()) {
            const bool digits = key.size() < 10 && key.find_first_not_of("0123456789") == std::string::npos;
            const size_t index = digits ? std::stoul(key) : 0;
            if (!digits || index >= at->size())
                throw wrong(in_quotes(done) + " is a list of " + std::to_string(at->size()) + "; its items are 0 to " +
                            std::to_string(at->empty() ? 0 : at->size() - 1) + ", not " + in_quotes(key));
            at = &(*at)[index];
        } else {
            if (at->is_null())
                *at = json::object();
            if (!at->is_object())
                throw wrong(in_quotes(done) + " is " + type_name(*at) + " and has no " + in_quotes(key));
            at = &(*at)[key];
        }
        done = join(done, key);
        if (dot == std::string_view::npos)
            break;
        rest.remove_prefix(dot + 1);
    }
    *at = std::move(value);
    overridden_[std::string(path)] = std::move(option);
}

Document parse_json(std::string source, std::string text)
{
    Document document;
    document.source_ = std::move(source);
    document.text_ = std::move(text);
    const std::string_view all = document.text_;
    const auto refuse = [&](size_t offset, const char *problem) {
        return InputError(document.source_, place_of(all, offset), "", problem);
    };
    if (all.find_first_not_of(" \t\r\n") == std::string_view::npos)
        throw refuse(0, all.empty() ? "the file is empty; a JSON object is expected"
                                    : "the file has nothing but white space; a JSON object is expected");
    if (all.starts_with("\xEF\xBB\xBF"))
        throw refuse(0, "the file begins with a byte order mark; JSON is UTF-8 without one");
    if (all.starts_with("\xFF\xFE") || all.starts_with("\xFE\xFF"))
        throw refuse(0, "the file is UTF-16; JSON is UTF-8");
    // nlohmann takes a zero byte for the end of the text and would not look at what follows.
    if (const size_t zero = all.find('\0'); zero != std::string_view::npos)
        throw refuse(zero, "not JSON: a zero byte");
    size_t consumed = 0;
    Reader reader(document.source_, all, consumed, &document.root);
    json::sax_parse(Counting{all.begin(), &consumed}, Counting{all.end(), &consumed}, &reader);
    return document;
}

std::string read_text(const std::string &file)
{
    const bool standard_input = file == "-";
    const std::string source = standard_input ? "standard input" : file;
    const auto fail = [&](int error) {
        return InputError(source, {}, "", std::string("cannot be read: ") + std::strerror(error));
    };
    if (file.empty())
        throw InputError("\"\"", {}, "", "an empty file name");
    const int descriptor = standard_input ? STDIN_FILENO : ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        throw fail(errno);
    struct Closer {
        int descriptor;
        ~Closer()
        {
            if (descriptor != STDIN_FILENO)
                ::close(descriptor);
        }
    } closer{descriptor};
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode))
        throw InputError(source, {}, "", "is a folder; a JSON file is expected");
    std::string text;
    char buffer[1 << 16];
    while (true) {
        const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            throw fail(errno);
        if (got == 0)
            return text;
        text.append(buffer, static_cast<size_t>(got));
        if (text.size() > file_bytes_max)
            throw InputError(source, {}, "",
                             "is larger than " + std::to_string(file_bytes_max >> 20) + " MiB, the most that is read");
    }
}

Document read_json(const std::string &file)
{
    return parse_json(file == "-" ? "standard input" : file, read_text(file));
}

} // namespace scenarios
