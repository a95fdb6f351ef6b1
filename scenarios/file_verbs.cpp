// Operations on files: each the transaction (or none) that a file system runs for one system call.
//
// With code.create_path "dmu", create and unlink are the recorded sequence of DMU calls without a file system around
// it.
#include "scenarios/file_verbs.h"

#include "model/zap.h"
#include "model/zpl.h"
#include "scenarios/workload.h"

#include <algorithm>

namespace scenarios {

namespace {

// The path of a directory with one slash between two names and none around them; "" is the root.
std::string plain(const std::string &path)
{
    std::string names;
    for (size_t at = 0; (at = path.find_first_not_of('/', at)) != std::string::npos;) {
        const size_t end = std::min(path.find('/', at), path.size());
        names.append(names.empty() ? "" : "/").append(path, at, end - at);
        at = end;
    }
    return names;
}

// "a/b/c" as the directory "a/b" and the name "c".
std::pair<std::string, std::string> split(const std::string &path)
{
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos)
        return {"", path};
    return {path.substr(0, slash), path.substr(slash + 1)};
}

// Runs `body` with the directory open.
template <class Body>
int in_directory(Worker &worker, const std::string &path, const Body &body)
{
    auto dir = dmu::zfs_open_dir(worker.world().filesystem(), path);
    return dir ? body(**dir) : dir.error();
}

// One operation on `name` in `dir`, whose path the body is told too.
template <class Body>
void on_entry(Worker &worker, const Step &step, const Body &body)
{
    const std::string dir = plain(worker.text(step.dir)), name = worker.text(step.name);
    worker.operate(step,
                   [&] { return in_directory(worker, dir, [&](dmu::znode_t &dzp) { return body(dzp, dir, name); }); });
}

// One operation on the entry of a directory in the one above it. The root has none: it is there, and in use.
template <class Body>
void on_directory(Worker &worker, const Step &step, int error_of_root, const Body &body)
{
    const std::string path = worker.text(step.dir);
    const auto [parent, name] = split(plain(path));
    worker.operate(step, [&, parent = parent, name = name] {
        return in_directory(worker, parent, [&](dmu::znode_t &dzp) {
            if (!name.empty() || path.empty())
                return body(dzp, name);
            dmu::charge_system_call();
            return error_of_root;
        });
    });
}

// Before a file loses its name: it, or everything in it if it is a directory.
void close_file(Worker &worker, const std::string &dir, const std::string &name)
{
    dmu::settle(); // what others open or close before this instant is seen
    auto &open_files = worker.world().open_files;
    const std::string path = dir + "/" + name;
    const auto close = [&](std::map<std::string, std::shared_ptr<dmu::znode_ref>>::iterator open) {
        std::shared_ptr<dmu::znode_ref> file = std::move(open->second);
        open_files.erase(open);
        dmu::let_go(std::move(file));
    };
    if (const auto open = open_files.find(path); open != open_files.end())
        close(open);
    const std::string inside = path.substr(path.starts_with("/") ? 1 : 0) + "/";
    while (true) {
        dmu::settle();
        const auto open = open_files.lower_bound(inside);
        if (open == open_files.end() || !open->first.starts_with(inside))
            return;
        close(open);
    }
}

dmu::owner_t owner(Worker &worker, const Step &step)
{
    return {static_cast<uint32_t>(worker.value(step, step.owner)),
            static_cast<uint32_t>(worker.value(step, step.group))};
}

bool without_file_system(Worker &worker)
{
    return worker.world().scenario.config.code.create_path == "dmu";
}

} // namespace

void file_verbs::mkdir(Worker &worker, const Step &step)
{
    const dmu::owner_t whose = owner(worker, step);
    on_directory(worker, step, EEXIST, [&](dmu::znode_t &dzp, const std::string &name) {
        const auto made = dmu::zpl_mkdir(dzp, name, whose);
        if (made)
            ++worker.world().objects_in_use;
        return made.error();
    });
}

void file_verbs::rmdir(Worker &worker, const Step &step)
{
    on_directory(worker, step, EBUSY, [&](dmu::znode_t &dzp, const std::string &name) {
        const auto removed = dmu::zpl_rmdir(dzp, name);
        if (removed)
            --worker.world().objects_in_use;
        return removed.error();
    });
}

void file_verbs::create(Worker &worker, const Step &step)
{
    const dmu::owner_t whose = owner(worker, step);
    on_entry(worker, step, [&](dmu::znode_t &dzp, const std::string &, const std::string &name) {
        const int error = without_file_system(worker) ? dmu::dmu_create(worker.world().objset(), dzp.z_id, name).error()
                                                      : dmu::zpl_create(dzp, name, whose).error();
        if (error == 0)
            ++worker.world().objects_in_use;
        return error;
    });
}

void file_verbs::unlink(Worker &worker, const Step &step)
{
    on_entry(worker, step, [&](dmu::znode_t &dzp, const std::string &dir, const std::string &name) {
        close_file(worker, dir, name);
        const int error = without_file_system(worker) ? dmu::dmu_unlink(worker.world().objset(), dzp.z_id, name).error()
                                                      : dmu::zpl_unlink(dzp, name).error();
        if (error == 0)
            --worker.world().objects_in_use;
        return error;
    });
}

void file_verbs::rename(Worker &worker, const Step &step)
{
    const std::string to_dir = plain(worker.text(step.to_dir.text().empty() ? step.dir : step.to_dir)),
                      to = worker.text(step.new_name);
    on_entry(worker, step, [&](dmu::znode_t &from_dir, const std::string &dir, const std::string &name) {
        return in_directory(worker, to_dir, [&](dmu::znode_t &target) {
            close_file(worker, dir, name);
            close_file(worker, to_dir, to);
            const auto renamed = dmu::zpl_rename(from_dir, name, target, to);
            if (renamed && *renamed)
                --worker.world().objects_in_use;
            return renamed.error();
        });
    });
}

void file_verbs::lookup(Worker &worker, const Step &step)
{
    on_entry(worker, step, [](dmu::znode_t &dzp, const std::string &, const std::string &name) {
        return dmu::zpl_lookup(dzp, name).error();
    });
}

void file_verbs::stat(Worker &worker, const Step &step)
{
    on_entry(worker, step, [](dmu::znode_t &dzp, const std::string &, const std::string &name) {
        return dmu::zpl_stat(dzp, name).error();
    });
}

namespace {

// One operation on the open file `name` in `dir`, opened if it is not.
template <class Body>
void on_file(Worker &worker, const Step &step, const Body &body)
{
    const std::string dir = plain(worker.text(step.dir)), name = worker.text(step.name);
    worker.operate(step, [&] {
        dmu::settle();
        auto &open_files = worker.world().open_files;
        const std::string path = dir + "/" + name;
        if (const auto open = open_files.find(path); open != open_files.end()) {
            std::shared_ptr<dmu::znode_ref> in_use = open->second;
            const int error = body(**in_use);
            dmu::let_go(std::move(in_use));
            return error;
        }
        return in_directory(worker, dir, [&](dmu::znode_t &dzp) {
            auto opened = dmu::zfs_open_file(dzp, name);
            if (!opened)
                return opened.error();
            auto in_use = std::make_shared<dmu::znode_ref>(std::move(*opened));
            dmu::settle();
            open_files.emplace(path, in_use); // somebody else may have been faster: then this use ends here
            const int error = body(**in_use);
            dmu::let_go(std::move(in_use));
            return error;
        });
    });
}

// Where the step's pattern has this access of `size` bytes. grows: at the file's end it goes on.
uint64_t place(Worker &worker, const Step &step, const dmu::znode_t &zp, uint64_t size, bool grows)
{
    const uint64_t offset = worker.value(step, step.offset);
    if (step.pattern == "offset")
        return offset;
    dmu::settle(); // others may be making it longer or shorter
    const uint64_t behind = zp.z_size > offset ? zp.z_size - offset : 0;
    if (step.pattern == "random")
        return behind < size ? offset : offset + worker.random(0, behind / size - 1) * size;
    uint64_t &position = worker.position(step, zp.z_id);
    if (position >= behind && !grows)
        position = 0;
    const uint64_t at = offset + position;
    position += size;
    return at;
}

} // namespace

void file_verbs::read(Worker &worker, const Step &step)
{
    const uint64_t size = worker.value(step, step.size);
    on_file(worker, step, [&](dmu::znode_t &zp) {
        const uint64_t at = place(worker, step, zp, size, false);
        return dmu::zpl_read(zp, at, size, [&] { return worker.world().part_done(); }).error();
    });
}

void file_verbs::write(Worker &worker, const Step &step)
{
    const uint64_t size = worker.value(step, step.size);
    on_file(worker, step, [&](dmu::znode_t &zp) {
        const uint64_t at = place(worker, step, zp, size, true);
        return dmu::zpl_write(zp, at, size, [&] { return worker.world().part_done(); }).error();
    });
}

void file_verbs::truncate(Worker &worker, const Step &step)
{
    const uint64_t size = worker.value(step, step.size);
    on_file(worker, step, [&](dmu::znode_t &zp) { return dmu::zpl_truncate(zp, size).error(); });
}

void file_verbs::dir_stats(Worker &worker, const Step &step)
{
    const std::string dir = plain(worker.text(step.dir));
    worker.operate(step, [&] {
        return in_directory(worker, dir, [&](dmu::znode_t &dzp) {
            const auto stats = dmu::zap_get_stats(worker.world().objset(), dzp.z_id);
            if (stats)
                worker.world().zap_stats[dir.empty() ? "/" : dir] = *stats;
            return stats.error();
        });
    });
}

void file_verbs::readdir(Worker &worker, const Step &step)
{
    const std::string dir = plain(worker.text(step.dir));
    worker.operate(step, [&] {
        return in_directory(worker, dir, [](dmu::znode_t &dzp) {
            return dmu::zpl_readdir(dzp, [](const std::string &, uint64_t) { return true; }).error();
        });
    });
}

} // namespace scenarios
