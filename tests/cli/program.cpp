#include "tests/cli/program.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

void must(bool good, const char *what)
{
    if (!good)
        throw std::runtime_error(what);
}

[[noreturn]] void become(const std::vector<std::string> &words, const How &how, int in, int out, int err)
{
    dup2(in, STDIN_FILENO);
    dup2(err, STDERR_FILENO);
    if (how.out_closed) {
        close(STDOUT_FILENO);
    } else if (!how.out_path.empty()) {
        int file = open(how.out_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        dup2(file, STDOUT_FILENO);
    } else {
        dup2(out, STDOUT_FILENO);
    }
    for (int fd = 3; fd < 64; ++fd)
        close(fd);
    std::vector<char *> arguments = {const_cast<char *>("dmusim")};
    for (const std::string &word : words)
        arguments.push_back(const_cast<char *>(word.c_str()));
    arguments.push_back(nullptr);
    execv(DMUSIM_PROGRAM, arguments.data());
    _exit(127);
}

} // namespace

Ran dmusim(const std::vector<std::string> &words, const How &how)
{
    std::signal(SIGPIPE, SIG_IGN);
    int in[2], out[2], err[2];
    must(pipe(in) == 0 && pipe(out) == 0 && pipe(err) == 0, "no pipe");
    if (how.out_broken)
        close(out[0]);
    pid_t process = fork();
    must(process >= 0, "no process");
    if (process == 0)
        become(words, how, in[0], out[1], err[1]);
    close(in[0]);
    close(out[1]);
    close(err[1]);
    std::thread feeder([&] {
        for (size_t from = 0; from < how.input.size();) {
            ssize_t written = write(in[1], how.input.data() + from, how.input.size() - from);
            if (written <= 0)
                break;
            from += static_cast<size_t>(written);
        }
        close(in[1]);
    });
    std::thread interrupter([&] {
        if (how.interrupt_after_ms == 0 && how.kill_after_ms == 0)
            return;
        std::this_thread::sleep_for(std::chrono::milliseconds(how.interrupt_after_ms + how.kill_after_ms));
        kill(process, how.kill_after_ms > 0 ? SIGKILL : SIGINT);
    });
    Ran ran;
    pollfd polled[2] = {{how.out_broken ? -1 : out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
    std::string *texts[2] = {&ran.out, &ran.err};
    while (polled[0].fd >= 0 || polled[1].fd >= 0) {
        if (poll(polled, 2, -1) < 0)
            continue;
        for (int i = 0; i < 2; ++i) {
            if (polled[i].fd < 0 || polled[i].revents == 0)
                continue;
            char buffer[1 << 16];
            ssize_t got = read(polled[i].fd, buffer, sizeof buffer);
            if (got > 0)
                texts[i]->append(buffer, static_cast<size_t>(got));
            else if (got == 0 || errno != EINTR)
                polled[i].fd = -1;
        }
    }
    int status = 0;
    must(waitpid(process, &status, 0) == process, "no exit status");
    ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    interrupter.join();
    feeder.join();
    if (!how.out_broken)
        close(out[0]);
    close(err[0]);
    return ran;
}

Folder::Folder()
{
    std::string pattern = (std::filesystem::temp_directory_path() / "dmusim-test-XXXXXX").string();
    must(mkdtemp(pattern.data()) != nullptr, "no temporary folder");
    path_ = pattern;
}

Folder::~Folder()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string Folder::write(const std::string &name, const std::string &text) const
{
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
}

std::vector<std::string> Folder::names() const
{
    std::vector<std::string> all;
    for (const auto &entry : std::filesystem::directory_iterator(path_))
        all.push_back(entry.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
}

std::string read_file(const std::string &path)
{
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}
