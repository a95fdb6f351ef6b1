#include "analysis/cli/slurm.h"

#include "analysis/cli/errors.h"
#include "analysis/cli/interrupt.h"
#include "analysis/cli/output.h"
#include "analysis/cli/shell_word.h"
#include "analysis/text.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cli {

namespace fs = std::filesystem;

namespace {

constexpr int fruitless_rounds_max = 3;
constexpr int queue_failures_max = 60; // of squeue in a row: a controller may be away for a while
constexpr auto look_every = std::chrono::seconds(1);

struct Answer {
    int status = -1;
    std::string text; // both streams
};

Answer ask(const std::vector<std::string> &words)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw HostError(std::string("no pipe for ") + words[0] + ": " + std::strerror(errno));
    std::fflush(stderr);
    pid_t process = fork();
    if (process < 0)
        throw HostError(std::string("no process for ") + words[0] + ": " + std::strerror(errno));
    if (process == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        std::vector<char *> arguments;
        for (const std::string &word : words)
            arguments.push_back(const_cast<char *>(word.c_str()));
        arguments.push_back(nullptr);
        execvp(arguments[0], arguments.data());
        _exit(127);
    }
    close(ends[1]);
    Answer answer;
    char buffer[4096];
    for (;;) {
        ssize_t got = read(ends[0], buffer, sizeof buffer);
        if (got > 0)
            answer.text.append(buffer, static_cast<size_t>(got));
        else if (got == 0 || errno != EINTR)
            break;
    }
    close(ends[0]);
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    if (answer.status == 127)
        throw HostError("sweep: --slurm: there is no " + words[0] + " here");
    return answer;
}

std::string content(const std::string &path)
{
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

void store(const std::string &path, const std::string &text)
{
    Output output(path);
    output.write(text);
    output.commit();
}

class Run {
public:
    Run(const SlurmJob &job, Progress &progress) : job_(job), progress_(progress)
    {
        std::error_code error;
        fs::create_directories(job_.folder, error);
        if (error)
            throw HostError(job_.folder + ": " + error.message());
        std::string known = content(job_.folder + "/identity");
        if (!known.empty() && known != job_.identity + "\n")
            throw UsageError("sweep: " + job_.folder + " belongs to another sweep; remove it or choose another -o");
        store(job_.folder + "/identity", job_.identity + "\n");
        write_script();
    }

    bool run()
    {
        int fruitless = 0;
        for (;;) {
            std::vector<size_t> missing = missing_parts();
            if (missing.empty())
                return true;
            uintmax_t before = progress_bytes();
            std::string id = content(job_.folder + "/job");
            if (id.empty() || !in_queue(id)) {
                id = submit(missing);
                store(job_.folder + "/job", id);
            }
            if (job_.detach) {
                std::fprintf(stderr,
                             "dmusim: sweep: job %s is in the queue with %zu of %zu parts; the same command waits for "
                             "it and puts the parts together\n",
                             id.c_str(), missing.size(), job_.parts);
                return false;
            }
            wait_for(id);
            fs::remove(job_.folder + "/job");
            missing = missing_parts();
            fruitless = progress_bytes() == before ? fruitless + 1 : 0;
            if (fruitless == fruitless_rounds_max)
                throw HostError("sweep: --slurm: " + std::to_string(fruitless_rounds_max) +
                                " submissions in a row brought nothing; " + std::to_string(missing.size()) +
                                " parts are missing, the first is " + std::to_string(missing[0]) + ": see " +
                                job_.folder + "/log-" + std::to_string(missing[0]));
            if (!missing.empty())
                std::fprintf(stderr, "dmusim: sweep: %zu of %zu parts are missing after job %s; submitted again\n",
                             missing.size(), job_.parts, id.c_str());
        }
    }

private:
    void write_script() const
    {
        std::string script = "#!/bin/sh\n#SBATCH --requeue\nexec";
        for (const std::string &word : job_.command)
            script += " " + shell_quoted(word);
        script += " --shard \"$SLURM_ARRAY_TASK_ID/" + std::to_string(job_.parts) + "\" -o " +
                  shell_quoted(job_.folder + "/part-") + "\"$SLURM_ARRAY_TASK_ID\"\n";
        store(job_.folder + "/task.sh", script);
    }

    std::vector<size_t> missing_parts() const
    {
        std::vector<size_t> missing;
        for (size_t part = 1; part <= job_.parts; ++part)
            if (!fs::exists(part_file(job_, part)))
                missing.push_back(part);
        return missing;
    }

    // Finished parts and journals: grows with every finished point.
    uintmax_t progress_bytes() const
    {
        uintmax_t sum = 0;
        for (const fs::directory_entry &entry : fs::directory_iterator(job_.folder))
            if (entry.path().filename().string().starts_with("part-")) {
                std::error_code gone;
                uintmax_t size = entry.file_size(gone);
                sum += gone ? 0 : size + 1;
            }
        return sum;
    }

    std::string submit(const std::vector<size_t> &missing) const
    {
        std::string array; // runs of numbers: 1-4,7
        for (size_t i = 0; i < missing.size();) {
            size_t end = i;
            while (end + 1 < missing.size() && missing[end + 1] == missing[end] + 1)
                ++end;
            array += (array.empty() ? "" : ",") + std::to_string(missing[i]) +
                     (end > i ? "-" + std::to_string(missing[end]) : "");
            i = end + 1;
        }
        std::vector<std::string> words = {"sbatch", "--parsable", "--array=" + array, "--job-name=dmusim",
                                          "--output=" + job_.folder + "/log-%a"};
        if (!job_.partition.empty())
            words.push_back("--partition=" + job_.partition);
        words.push_back(job_.folder + "/task.sh");
        Answer answer = ask(words);
        std::string id = answer.text.substr(0, answer.text.find_first_not_of("0123456789"));
        if (answer.status != 0 || id.empty())
            throw HostError("sweep: --slurm: sbatch said: " + analysis::escaped(answer.text.substr(0, 500)));
        return id;
    }

    // Of the array, or null where squeue does not answer.
    std::vector<std::pair<std::string, std::string>> tasks(const std::string &id, bool &answered) const
    {
        Answer answer = ask({"squeue", "-h", "-o", "%F %i %r"});
        answered = answer.status == 0;
        std::vector<std::pair<std::string, std::string>> found;
        std::istringstream lines(answer.text);
        for (std::string array, task, reason; lines >> array >> task && std::getline(lines, reason);)
            if (array == id)
                found.emplace_back(task, reason);
        return found;
    }

    bool in_queue(const std::string &id) const
    {
        bool answered = false;
        std::vector<std::pair<std::string, std::string>> left = tasks(id, answered);
        if (!answered)
            throw HostError("sweep: --slurm: squeue does not answer");
        return !left.empty();
    }

    void wait_for(const std::string &id)
    {
        for (int failures = 0;;) {
            bool answered = false;
            std::vector<std::pair<std::string, std::string>> left = tasks(id, answered);
            failures = answered ? 0 : failures + 1;
            if (failures == queue_failures_max)
                throw HostError("sweep: --slurm: squeue does not answer; job " + id +
                                " may go on, the same command asks again");
            if (answered && left.empty())
                return;
            for (const auto &[task, reason] : left) // requeued after a node's death: no need to wait out the delay
                if (reason.find("BeginTime") != std::string::npos)
                    ask({"scontrol", "update", "JobId=" + task, "StartTime=now"});
            progress_.show_count(job_.parts - missing_parts().size(), job_.parts, "parts");
            if (interrupt_requested())
                throw Interrupted("job " + id + " goes on; the same command waits for it, scancel " + id + " ends it");
            std::this_thread::sleep_for(look_every);
        }
    }

    const SlurmJob &job_;
    Progress &progress_;
};

} // namespace

std::string part_file(const SlurmJob &job, size_t part)
{
    return job.folder + "/part-" + std::to_string(part);
}

bool run_parts(const SlurmJob &job, Progress &progress)
{
    return Run(job, progress).run();
}

} // namespace cli
