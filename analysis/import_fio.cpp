// fio job files as a scenario: a job is a group of threads, stonewall a barrier.
//
// The engines filecreate, filestat and filedelete make, stat and remove nrfiles files each; jobs that read are carried
// over where file data are simulated. What fio does with bytes otherwise is said and left out.
#include "analysis/import.h"
#include "analysis/text.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace analysis {

namespace {

using Options = std::map<std::string, std::string>;

struct Job {
    std::string name;
    Options options;
};

std::string trimmed(const std::string &text)
{
    size_t from = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
    return from == std::string::npos ? "" : text.substr(from, end - from + 1);
}

std::vector<Job> read_jobs(const std::string &text)
{
    std::vector<Job> jobs;
    Options global;
    bool in_global = false, any = false;
    std::istringstream lines(text);
    std::string line;
    for (size_t number = 1; std::getline(lines, line); ++number) {
        line = trimmed(line.substr(0, std::min(line.find('#'), line.find(';'))));
        if (line.empty())
            continue;
        if (line[0] == '[') {
            if (line.back() != ']')
                throw ImportError("line " + std::to_string(number) + ": " + escaped(line) + " is no section");
            std::string name = line.substr(1, line.size() - 2);
            in_global = name == "global";
            any = true;
            if (!in_global)
                jobs.push_back({name, global});
            continue;
        }
        if (!any)
            throw ImportError("line " + std::to_string(number) + ": " + escaped(line) +
                              " stands before the first [section]");
        size_t equals = line.find('=');
        std::string key = trimmed(line.substr(0, equals)),
                    value = equals == std::string::npos ? "1" : trimmed(line.substr(equals + 1));
        (in_global ? global : jobs.back().options)[key] = value;
    }
    if (jobs.empty())
        throw ImportError("no job: a fio job file has a [section] beside [global]");
    return jobs;
}

// Options that change nothing here.
const std::vector<std::string> silent = {"directory",
                                         "name",
                                         "group_reporting",
                                         "thread",
                                         "stonewall",
                                         "wait_for_previous",
                                         "ioengine",
                                         "rw",
                                         "readwrite",
                                         "nrfiles",
                                         "numjobs",
                                         "loops",
                                         "filesize",
                                         "size",
                                         "bs",
                                         "blocksize",
                                         "runtime",
                                         "time_based",
                                         "unlink",
                                         "create_on_open",
                                         "openfiles",
                                         "filename_format",
                                         "description",
                                         "file_service_type",
                                         "fallocate",
                                         "clat_percentiles",
                                         "norandommap",
                                         "startdelay"};

class Fio {
public:
    explicit Fio(const std::string &text) : jobs_(read_jobs(text)) {}

    Imported import()
    {
        size_t walls = 0;
        for (const Job &job : jobs_) {
            if (set(job, "stonewall") || set(job, "wait_for_previous"))
                ++walls;
            add(job, walls);
        }
        if (groups_.empty())
            throw ImportError("fio: none of the jobs can be carried over: " +
                              (notes_.empty() ? std::string("no job") : notes_[0]));
        // A barrier is met by every group whose script has it: those before a wall at their end, those after it first.
        Json workload = Json::array();
        for (Group &group : groups_) {
            Json steps = Json::array();
            for (size_t wall = 1; wall <= group.wall; ++wall)
                steps.push_back({{"barrier", "stonewall " + std::to_string(wall)}});
            for (Json &step : group.steps)
                steps.push_back(std::move(step));
            for (size_t wall = group.wall + 1; wall <= walls; ++wall)
                steps.push_back({{"barrier", "stonewall " + std::to_string(wall)}});
            Json one = {{"name", group.name}, {"threads", group.threads}};
            if (group.start_s != 0)
                one["start"] = std::to_string(group.start_s) + "s";
            one["steps"] = std::move(steps);
            workload.push_back(std::move(one));
        }
        return finish_import("fio", "a fio job file", params_, setup_, workload, Json::object(), notes_);
    }

private:
    struct Group {
        std::string name;
        Json threads;
        Json steps = Json::array();
        size_t wall = 0;
        uint64_t start_s = 0;
    };

    static bool set(const Job &job, const char *key)
    {
        auto found = job.options.find(key);
        return found != job.options.end() && found->second != "0";
    }
    static uint64_t number(const Job &job, const char *key, uint64_t otherwise)
    {
        auto found = job.options.find(key);
        return found == job.options.end() ? otherwise
                                          : import_number(found->second, "[" + escaped(job.name) + "] " + key);
    }
    static std::string text(const Job &job, const char *key, const std::string &otherwise)
    {
        auto found = job.options.find(key);
        return found == job.options.end() ? otherwise : found->second;
    }
    void note(const Job &job, const std::string &what) { notes_.push_back("[" + escaped(job.name) + "] " + what); }

    void add(const Job &job, size_t wall)
    {
        std::string engine = text(job, "ioengine", "psync"),
                    direction = text(job, "rw", text(job, "readwrite", "read"));
        std::string name = plain_name(job.name);
        uint64_t jobs = number(job, "numjobs", 1), files = number(job, "nrfiles", 1);
        if (jobs == 0 || files == 0)
            throw ImportError("[" + escaped(job.name) + "] numjobs and nrfiles are at least 1");
        bool reads = engine != "filecreate" && engine != "filestat" && engine != "filedelete";
        bool random = direction.starts_with("rand");
        if (reads && direction != "read" && direction != "randread") {
            note(job, "rw=" + escaped(direction) +
                          ": only reads of file data, and filecreate, filestat and filedelete, are carried over");
            return;
        }
        if (reads && !operation_known("read")) {
            note(job, "reads: this version simulates no file data");
            return;
        }
        for (const auto &[key, value] : job.options)
            if (std::find(silent.begin(), silent.end(), key) == silent.end())
                note(job, escaped(key) + "=" + escaped(value));
        std::string files_param = unique(name + "_files"), jobs_param = unique(name + "_jobs");
        params_[jobs_param] = jobs;
        params_[files_param] = files;
        Group group{name, "$" + jobs_param, Json::array(), wall, number(job, "startdelay", 0)};
        // fio keeps every file of a job in its directory; the jobs of one file share it.
        std::string dir = plain_name(text(job, "directory", "fio"));
        if (std::find(directories_.begin(), directories_.end(), dir) == directories_.end()) {
            directories_.push_back(dir);
            setup_.push_back({{"op", "mkdir"}, {"dir", dir}});
        }
        std::string file = ".{thread}.{i}";
        bool there = engine != "filecreate";
        uint64_t size = number(job, "filesize", number(job, "size", 0) / files);
        if (there)
            set_up_files(job, dir, name, jobs, "$" + files_param, reads ? size : 0);
        Json each;
        if (reads) {
            uint64_t block = number(job, "bs", number(job, "blocksize", 4096));
            if (size < block)
                throw ImportError("[" + escaped(job.name) +
                                  "] the files hold less than one block: give size or filesize");
            Json read = {{"op", "read"}, {"dir", dir}, {"name", name + ".{thread}.0"}};
            if (files > 1)
                note(job, "more than one file a job: the first one is read");
            if (random)
                read["offset"] = "{rand:0.." + std::to_string(size / block - 1) + "} * " + std::to_string(block);
            else
                read["offset"] = "{i} * " + std::to_string(block);
            read["size"] = block;
            each = {{"repeat", size / block}, {"steps", Json::array({read})}};
            uint64_t rounds = number(job, "loops", 1);
            if (rounds > 1)
                each = {{"repeat", rounds}, {"steps", Json::array({each})}};
        } else {
            const char *op = engine == "filecreate" ? "create" : engine == "filestat" ? "stat" : "unlink";
            each = {{"repeat", "$" + files_param},
                    {"steps", Json::array({Json{{"op", op}, {"dir", dir}, {"name", name + file}}})}};
            if (number(job, "loops", 1) > 1 && engine == "filestat")
                each = {{"repeat", number(job, "loops", 1)}, {"steps", Json::array({each})}};
            else if (number(job, "loops", 1) > 1)
                note(job, "loops: the second round would find other files");
            if (size > 0 && engine == "filecreate")
                note(job, "filesize: files are made empty, as filecreate does");
        }
        if (set(job, "time_based"))
            note(job, "time_based with runtime=" + escaped(text(job, "runtime", "?")) +
                          ": the job ends when its files are done");
        group.steps.push_back(std::move(each));
        groups_.push_back(std::move(group));
    }

    void set_up_files(const Job &job, const std::string &dir, const std::string &name, uint64_t jobs,
                      const std::string &files, uint64_t size)
    {
        constexpr uint64_t jobs_max = 256;
        if (jobs > jobs_max)
            throw ImportError("[" + escaped(job.name) + "] files for at most " + std::to_string(jobs_max) +
                              " jobs can be set up");
        for (uint64_t thread = 0; thread < jobs; ++thread) {
            std::string file = name + "." + std::to_string(thread) + ".{i}";
            Json steps = Json::array({Json{{"op", "create"}, {"dir", dir}, {"name", file}}});
            if (size > 0)
                steps.push_back({{"op", "write"}, {"dir", dir}, {"name", file}, {"offset", 0}, {"size", size}});
            setup_.push_back({{"repeat", files}, {"steps", steps}});
        }
    }

    std::string unique(std::string name)
    {
        for (char &c : name)
            if (c == '-' || c == '.')
                c = '_';
        std::string tried = name;
        for (size_t i = 2; params_.contains(tried); ++i)
            tried = name + std::to_string(i);
        return tried;
    }

    std::vector<Job> jobs_;
    std::vector<Group> groups_;
    std::vector<std::string> directories_;
    Json params_ = Json::object(), setup_ = Json::array();
    std::vector<std::string> notes_;
};

} // namespace

Imported import_fio(const std::string &text)
{
    return Fio(text).import();
}

} // namespace analysis
