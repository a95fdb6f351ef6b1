// What a sweep has finished so far, beside the file it will become: an interrupted or killed sweep goes on from there.
//
// A line that says which sweep it is, then one record for each finished point, in the order of finishing:
// "INDEX STATUS LENGTH SUM\n" and LENGTH bytes. A record cut short by a kill fails its length or its sum and is dropped
// with whatever follows it. The same command finds its journal, runs what is missing and assembles the file in grid
// order.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace cli {

class Journal {
public:
    // `identity`: one line that is equal for equal work; `what` is what messages call that: "sweep". Throws HostError
    // where the file cannot be written, UsageError where it belongs to another one.
    Journal(const std::string &path, const std::string &identity, const std::string &what = "sweep");
    ~Journal();
    Journal(const Journal &) = delete;
    Journal &operator=(const Journal &) = delete;

    struct Record {
        int status = 0;
        std::string text;
    };
    bool has(size_t index) const { return records_.count(index) > 0; }
    size_t size() const { return records_.size(); }
    void append(size_t index, const Record &record);
    Record read(size_t index) const; // REQUIRES: has(index)
    void remove();                   // the sweep is complete and safe elsewhere

private:
    struct Place {
        uint64_t offset = 0; // of the text
        uint64_t length = 0;
        int status = 0;
    };
    void load(const std::string &identity, const std::string &what);
    void write(const std::string &bytes);

    std::string path_;
    int fd_ = -1;
    uint64_t end_ = 0; // of the last good record
    std::map<size_t, Place> records_;
};

} // namespace cli
