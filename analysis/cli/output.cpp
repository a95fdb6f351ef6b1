#include "analysis/cli/output.h"

#include "analysis/cli/errors.h"
#include "analysis/cli/interrupt.h"
#include "analysis/text.h"

#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace cli {

namespace {

constexpr size_t buffer_bytes = 1 << 16;
constexpr int links_max = 40;                      // as the kernel
constexpr const char *temporary_mark = ".dmusim-"; // then the process that writes it

std::string folder_of(const std::string &path)
{
    size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// Where the name leads, so that a rename replaces the file and not the link to it.
std::string followed(const std::string &path)
{
    if (char *resolved = realpath(path.c_str(), nullptr); resolved != nullptr) {
        std::string there = resolved;
        std::free(resolved);
        return there;
    }
    struct stat status;
    if (stat(path.c_str(), &status) == 0) // a pipe below /proc, whose link is no path
        return path;
    std::filesystem::path target = path;
    std::error_code error;
    for (int links = 0; links < links_max && std::filesystem::is_symlink(target, error); ++links) {
        const std::filesystem::path next = std::filesystem::read_symlink(target, error);
        if (error)
            return path;
        target = target.parent_path() / next; // an absolute one replaces it
    }
    return target.string();
}

// A killed process cannot clean up: whoever writes to the same name next does it for those that are gone.
void remove_leftovers(const std::string &target)
{
    const std::filesystem::path folder = folder_of(target);
    const std::string prefix = std::filesystem::path(target).filename().string() + temporary_mark;
    std::error_code ignored;
    for (const auto &entry : std::filesystem::directory_iterator(folder, ignored)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(prefix))
            continue;
        pid_t writer = 0;
        const char *end = name.data() + name.size();
        auto [stop, error] = std::from_chars(name.data() + prefix.size(), end, writer);
        if (error == std::errc() && stop == end && writer > 0 && kill(writer, 0) != 0 && errno == ESRCH)
            unlink(entry.path().c_str());
    }
}

} // namespace

Output::Output(const std::string &path) : path_(path == "-" ? "" : path)
{
    if (path_.empty()) {
        fd_ = STDOUT_FILENO;
        return;
    }
    target_ = followed(path_);
    struct stat status;
    const bool there = stat(target_.c_str(), &status) == 0;
    if (std::error_code error; !there && std::filesystem::is_symlink(target_, error))
        fail("cannot be written", ELOOP);
    if (there && !S_ISREG(status.st_mode)) {
        fd_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
        if (fd_ < 0)
            fail("cannot be opened for writing", errno);
        return;
    }
    remove_leftovers(target_);
    temporary_ = target_ + temporary_mark + std::to_string(getpid());
    fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno == EEXIST) { // left by a killed process that had our number
        unlink(temporary_.c_str());
        fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (fd_ < 0) {
        int error = errno;
        temporary_.clear();
        fail("cannot be written", error);
    }
    remove_when_killed(temporary_);
}

Output::~Output()
{
    if (fd_ >= 0 && fd_ != STDOUT_FILENO)
        close(fd_);
    if (!temporary_.empty() && !committed_)
        unlink(temporary_.c_str());
    if (!temporary_.empty())
        remove_when_killed("");
}

void Output::fail(const char *what, int error)
{
    throw HostError((path_.empty() ? "standard output" : analysis::escaped(path_)) + ": " + what + ": " +
                    std::strerror(error));
}

void Output::write(std::string_view text)
{
    buffer_ += text;
    if (is_stdout() || buffer_.size() >= buffer_bytes)
        flush();
}

void Output::flush()
{
    for (size_t from = 0; from < buffer_.size();) {
        ssize_t written = ::write(fd_, buffer_.data() + from, buffer_.size() - from);
        if (written > 0)
            from += static_cast<size_t>(written);
        else if (written < 0 && errno != EINTR)
            fail("cannot be written", errno);
    }
    buffer_.clear();
}

void Output::commit()
{
    flush();
    if (is_stdout())
        return;
    if (!temporary_.empty() && fsync(fd_) != 0)
        fail("cannot be written", errno);
    int closed = close(fd_);
    fd_ = -1;
    if (closed != 0)
        fail("cannot be written", errno);
    if (temporary_.empty())
        return;
    if (rename(temporary_.c_str(), target_.c_str()) != 0)
        fail("cannot be written", errno);
    committed_ = true;
    int folder = open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        fsync(folder); // not every file system can; the file itself is safe
        close(folder);
    }
}

void secure_standard_descriptors()
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        // For standard output: open, so that its number is taken, but not for writing, so that a write still fails.
        int opened = open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
        if (opened >= 0 && opened != fd) {
            dup2(opened, fd);
            close(opened);
        }
    }
}

} // namespace cli
