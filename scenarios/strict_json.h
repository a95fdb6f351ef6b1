// Reading JSON from outside: everything that is not exactly JSON, or that would silently change its meaning, is an
// error with its place.
//
// nlohmann's own parse() keeps the last of duplicate keys, turns 2^64 into a rounded number and lets a deep nesting
// crash whoever copies the value. This reader hangs on its SAX interface and refuses all of that. It keeps the text, so
// that the place of any value can be found again when its meaning turns out to be wrong.
#pragma once

#include "scenarios/input_error.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace scenarios {

using json = nlohmann::ordered_json; // objects keep the order in which they were written

// A path names a value: keys and list indices joined by dots. Keys with dots in them cannot be told apart, which costs
// nothing but a precise place in an error message.
std::string join(std::string_view path, std::string_view key);
std::string join(std::string_view path, size_t index);

class Document {
public:
    json root;

    const std::string &source() const { return source_; }
    // Where the value begins; {0, 0} when it is not in the text.
    Place place(std::string_view path) const;
    // Where the key stands to whose right the value is; that of the value itself for list items and the root.
    Place key_place(std::string_view path) const;

    // The error to throw about the value at that path, with the place of the nearest enclosing value that has one.
    InputError error(const std::string &path, std::string problem) const;
    InputError key_error(const std::string &path, std::string problem) const;

    // Puts a value at a dotted path, as --set does; `option` is what errors about it will name as their source. Missing
    // objects on the way are made (whether such a key exists at all is the reader's question); missing list items are
    // not.
    void set(std::string_view path, json value, std::string option);

private:
    friend Document parse_json(std::string source, std::string text);
    const std::string *option_for(std::string_view path) const; // that put the value, or one around it, there

    std::string source_;
    std::string text_;
    std::map<std::string, std::string, std::less<>> overridden_; // path -> the option that put the value there
};

// REQUIRES nothing of the text. `source` is what errors call it.
Document parse_json(std::string source, std::string text);

// Reads the file, or standard input for "-". A folder, a missing or unreadable file is an InputError.
Document read_json(const std::string &file);

// The text of a file, or of standard input for "-", with the same errors.
std::string read_text(const std::string &file);

// `number`, `text`, `list`, ... for messages.
const char *type_name(const json &value);

} // namespace scenarios
