// Where a command's product goes: standard output, or a file that is written whole or not at all.
//
// A file is written under a temporary name in its own folder, synced and renamed, so that nobody ever sees half of it,
// whatever ends the program. The temporary file is made at once: a path that cannot be written is told before the
// simulation runs, not after. What is not a regular file (a terminal, a pipe, /dev/full) is written directly.
// Standard output is written by write(2) alone, so that every failure is seen and told.
#pragma once

#include <string>
#include <string_view>

namespace cli {

class Output {
public:
    // "" and "-": standard output. Throws HostError where the file cannot be made.
    explicit Output(const std::string &path);
    ~Output(); // without commit(): no file is left
    Output(const Output &) = delete;
    Output &operator=(const Output &) = delete;

    bool is_stdout() const { return path_.empty(); }
    bool is_regular() const { return !temporary_.empty(); } // a file that will be there whole or not at all

    // Throws HostError. Standard output: the text is out when this returns.
    void write(std::string_view text);

    // The file gets its name. Throws HostError.
    void commit();

private:
    [[noreturn]] void fail(const char *what, int error);
    std::string path_;      // as given, for messages
    std::string target_;    // symbolic links followed
    std::string temporary_; // empty: written directly
    std::string buffer_;    // of a file; standard output has none
    int fd_ = -1;
    bool committed_ = false;

    void flush();
};

// Makes sure that descriptors 0, 1 and 2 are taken, so that no file of ours becomes somebody's standard output. A
// closed standard output stays one that cannot be written.
void secure_standard_descriptors();

} // namespace cli
