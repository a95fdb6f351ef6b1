#include "analysis/cli/workers.h"

#include "analysis/cli/errors.h"
#include "analysis/cli/exit_status.h"
#include "analysis/cli/interrupt.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace cli {

namespace {

constexpr size_t ahead_factor = 8; // finished jobs that may wait for an older one, by the number of workers
constexpr size_t ahead_min = 64;

struct Worker {
    size_t index;
    pid_t process;
    int pipe;
    std::string output;
};

bool write_all(int fd, const std::string &text)
{
    for (size_t from = 0; from < text.size();) {
        ssize_t written = write(fd, text.data() + from, text.size() - from);
        if (written > 0)
            from += static_cast<size_t>(written);
        else if (errno != EINTR)
            return false;
    }
    return true;
}

[[noreturn]] void child(size_t index, int fd, pid_t parent, const Workers::Job &job)
{
    // The parent decides what an interrupt means; a child whose parent is gone has nobody to work for.
    for (int number : {SIGINT, SIGTERM, SIGHUP})
        std::signal(number, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(could_not_finish);
    int status = could_not_finish;
    std::string output;
    try {
        status = job(index, output);
    } catch (const std::bad_alloc &) {
        std::fprintf(stderr, "dmusim: out of memory\n");
    } catch (const std::exception &error) {
        std::fprintf(stderr, "dmusim: %s\n", error.what());
    }
    if (!write_all(fd, output))
        status = could_not_finish;
    std::fflush(stderr);
    _exit(status);
}

Worker start(size_t index, const Workers::Job &job, const std::vector<Worker> &others)
{
    int ends[2];
    if (pipe(ends) != 0)
        throw HostError(std::string("no pipe for a worker: ") + std::strerror(errno));
    std::fflush(stderr);
    pid_t parent = getpid();
    pid_t process = fork();
    if (process < 0)
        throw HostError(std::string("no process for a worker: ") + std::strerror(errno));
    if (process == 0) {
        close(ends[0]);
        for (const Worker &other : others)
            close(other.pipe);
        child(index, ends[1], parent, job);
    }
    close(ends[1]);
    return {index, process, ends[0], {}};
}

JobResult finish(Worker &worker)
{
    close(worker.pipe);
    int status = 0;
    while (waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
    }
    JobResult result{worker.index, could_not_finish, std::move(worker.output), {}};
    if (WIFEXITED(status))
        result.status = WEXITSTATUS(status);
    else
        result.fault = "killed by signal " + std::to_string(WTERMSIG(status));
    return result;
}

// Ends what still runs when the parent leaves early, by an exception too.
struct Running {
    std::vector<Worker> workers;
    ~Running()
    {
        for (Worker &worker : workers) {
            kill(worker.process, SIGKILL);
            finish(worker);
        }
    }
};

} // namespace

bool Workers::run(const std::vector<size_t> &jobs, Order order, const Job &job, const Take &take, const Tick &tick)
{
    Running running;
    std::map<size_t, JobResult> waiting;
    size_t next = 0, taken = 0, finished = 0;
    size_t ahead = order == Order::of_finishing ? jobs.size() : std::max(ahead_min, parallel_ * ahead_factor);
    while (taken < jobs.size()) {
        while (!interrupt_requested() && running.workers.size() < parallel_ && next < jobs.size() &&
               next < taken + ahead)
            running.workers.push_back(start(jobs[next++], job, running.workers));
        if (interrupt_requested()) {
            for (auto &[index, result] : waiting)
                take(std::move(result));
            return false;
        }
        std::vector<pollfd> polled;
        for (const Worker &worker : running.workers)
            polled.push_back({worker.pipe, POLLIN, 0});
        if (poll(polled.data(), polled.size(), -1) < 0)
            continue; // a signal: looked at above
        for (size_t i = polled.size(); i-- > 0;) {
            if (polled[i].revents == 0)
                continue;
            char buffer[1 << 16];
            ssize_t got = read(polled[i].fd, buffer, sizeof buffer);
            if (got > 0) {
                running.workers[i].output.append(buffer, static_cast<size_t>(got));
            } else if (got == 0 || errno != EINTR) {
                JobResult result = finish(running.workers[i]);
                running.workers.erase(running.workers.begin() + static_cast<std::ptrdiff_t>(i));
                waiting.emplace(result.index, std::move(result));
                tick(++finished);
            }
        }
        while (!waiting.empty() && (order == Order::of_finishing || waiting.begin()->first == jobs[taken])) {
            take(std::move(waiting.begin()->second));
            waiting.erase(waiting.begin());
            ++taken;
        }
    }
    return true;
}

} // namespace cli
