// The program as a user runs it: words in, exit status and both streams out.
#pragma once

#include <string>
#include <vector>

struct Ran {
    int status = -1; // 128 + signal where it was killed
    std::string out;
    std::string err;
};

struct How {
    std::string input = {};     // standard input
    std::string out_path = {};  // standard output goes to this file instead of Ran::out
    bool out_closed = false;    // standard output is closed
    bool out_broken = false;    // standard output is a pipe that nobody reads
    int interrupt_after_ms = 0; // SIGINT then
    int kill_after_ms = 0;      // SIGKILL then
};

Ran dmusim(const std::vector<std::string> &words, const How &how = {});

// A folder of the test's own, removed at its end.
class Folder {
public:
    Folder();
    ~Folder();
    std::string file(const std::string &name) const { return path_ + "/" + name; }
    std::string write(const std::string &name, const std::string &text) const; // returns its path
    std::vector<std::string> names() const;                                    // what is in it, sorted
    const std::string &path() const { return path_; }

private:
    std::string path_;
};

std::string read_file(const std::string &path);
