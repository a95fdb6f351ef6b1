#include "analysis/cli/journal.h"

#include "analysis/cli/errors.h"
#include "analysis/text.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cli {

namespace {

constexpr uint64_t head_bytes_max = 96;

// FNV-1a: enough to tell a torn record from a whole one.
uint64_t sum_of(const std::string &text)
{
    uint64_t sum = 14695981039346656037u;
    for (unsigned char c : text)
        sum = (sum ^ c) * 1099511628211u;
    return sum;
}

// Up to `length` bytes from `offset`; shorter at the end of the file.
std::string read_at(int fd, uint64_t offset, uint64_t length)
{
    std::string text(length, '\0');
    size_t got = 0;
    while (got < length) {
        ssize_t count = pread(fd, text.data() + got, length - got, static_cast<off_t>(offset + got));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        got += static_cast<size_t>(count);
    }
    text.resize(got);
    return text;
}

} // namespace

Journal::Journal(const std::string &path, const std::string &identity, const std::string &what) : path_(path)
{
    fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0)
        throw HostError(analysis::escaped(path) + ": cannot be written: " + std::strerror(errno));
    if (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
        close(fd_);
        throw HostError(analysis::escaped(path) + ": another " + what + " is writing it");
    }
    load(identity, what);
}

Journal::~Journal()
{
    if (fd_ >= 0)
        close(fd_);
}

void Journal::load(const std::string &identity, const std::string &what)
{
    const std::string line = identity + "\n";
    struct stat status;
    uint64_t size = fstat(fd_, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
    std::string first = read_at(fd_, 0, line.size());
    if (first != line) {
        if (line.starts_with(first)) { // empty, or killed while writing its first line
            if (ftruncate(fd_, 0) != 0)
                throw HostError(analysis::escaped(path_) + ": cannot be written: " + std::strerror(errno));
            write(line);
            return;
        }
        throw UsageError(analysis::escaped(path_) + " belongs to another " + what +
                         "; remove it, or choose another file");
    }
    end_ = line.size();
    for (;;) {
        std::string head = read_at(fd_, end_, std::min(head_bytes_max, size - end_));
        unsigned long long index = 0, length = 0, sum = 0;
        int point_status = 0, used = 0;
        if (std::sscanf(head.c_str(), "%llu %d %llu %llx%n", &index, &point_status, &length, &sum, &used) != 4 ||
            head.size() <= static_cast<size_t>(used) || head[static_cast<size_t>(used)] != '\n')
            break;
        uint64_t offset = end_ + static_cast<uint64_t>(used) + 1;
        if (length > size - offset || sum_of(read_at(fd_, offset, length)) != sum)
            break;
        records_[index] = {offset, length, point_status};
        end_ = offset + length;
    }
    if (ftruncate(fd_, static_cast<off_t>(end_)) != 0)
        throw HostError(analysis::escaped(path_) + ": cannot be written: " + std::strerror(errno));
}

void Journal::write(const std::string &bytes)
{
    for (size_t from = 0; from < bytes.size();) {
        ssize_t written = pwrite(fd_, bytes.data() + from, bytes.size() - from, static_cast<off_t>(end_ + from));
        if (written > 0)
            from += static_cast<size_t>(written);
        else if (errno != EINTR)
            throw HostError(analysis::escaped(path_) + ": cannot be written: " + std::strerror(errno));
    }
    end_ += bytes.size();
}

void Journal::append(size_t index, const Record &record)
{
    char head[head_bytes_max];
    std::snprintf(head, sizeof head, "%zu %d %zu %llx\n", index, record.status, record.text.size(),
                  static_cast<unsigned long long>(sum_of(record.text)));
    write(head + record.text);
    records_[index] = {end_ - record.text.size(), record.text.size(), record.status};
}

Journal::Record Journal::read(size_t index) const
{
    const Place &place = records_.at(index);
    return {place.status, read_at(fd_, place.offset, place.length)};
}

void Journal::remove()
{
    unlink(path_.c_str());
}

} // namespace cli
