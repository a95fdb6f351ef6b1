// mdtest's arguments as a scenario: each task a thread, each phase between barriers.
//
// mdtest makes, stats, reads and removes items, in one shared directory, or with -u in one for each task. -I items in
// each directory of a tree of depth -z and branching -b become that many items in that many directories side by side: a
// lookup of a deep path is not simulated. -w bytes are written as a file is made, and -e of them read from it, at once.
#include "analysis/import.h"
#include "analysis/text.h"

#include <algorithm>
#include <map>

namespace analysis {

namespace {

constexpr uint64_t directories_max = 64; // each is a step of its own

struct Mdtest {
    uint64_t tasks = 1, items = 0, per_directory = 0, depth = 0, branches = 1, iterations = 1;
    uint64_t write_bytes = 0, read_bytes = 0;
    bool create = false, stat = false, read = false, remove = false;
    bool files_only = false, directories_only = false, own_directory = false, leaves_only = false;
    std::vector<std::string> notes;
};

// Options with a value, and what becomes of those that are not carried over; flags likewise.
const std::map<char, const char *> ignored_values = {
    {'d', "the path of the test directory (-d): the simulated dataset is empty anyway"},
    {'N', "tasks that stat and remove their neighbour's items (-N): each works on its own"},
    {'p', "a pause before each phase (-p)"},
    {'V', ""},
    {'x', "the file that ends a stonewall (-x)"},
    {'W', "the stonewall timer (-W)"},
    {'a', "the I/O interface (-a)"},
    {'f', "the first number of tasks (-f): the last one is simulated"},
    {'l', "the last number of tasks (-l)"},
    {'s', "the stride between numbers of tasks (-s)"},
    {'R', "the seed of random stats (-R)"}};
const std::map<char, const char *> ignored_flags = {{'v', ""},
                                                    {'B', "phases without barriers (-B): barriers are kept"},
                                                    {'c', "creation of the tree by task 0 (-c)"},
                                                    {'S', "one file shared by all tasks (-S)"},
                                                    {'t', "timing of the tree's own directories (-t)"},
                                                    {'y', "a sync after each write (-y)"},
                                                    {'Y', "a sync after each phase (-Y)"},
                                                    {'k', "checking by mknod (-k)"},
                                                    {'G', "the pattern of data (-G)"},
                                                    {'Z', "the time unit (-Z)"},
                                                    {'P', ""}};

Mdtest read(const std::string &text)
{
    Mdtest options;
    std::vector<std::string> words = shell_words(text);
    size_t i = 0;
    // mpirun -np 16 ... mdtest
    for (; i < words.size(); ++i) {
        std::string program = words[i].substr(words[i].rfind('/') + 1);
        if (program == "mdtest")
            break;
        if ((words[i] == "-np" || words[i] == "-n" || words[i] == "--ntasks") && i + 1 < words.size())
            options.tasks = import_number(words[i + 1], words[i]);
    }
    if (i == words.size()) // the arguments alone
        i = 0;
    else
        ++i;
    if (i == 0)
        options.tasks = 1;
    auto note = [&](const std::string &text_of_note) {
        if (!text_of_note.empty())
            options.notes.push_back(text_of_note);
    };
    for (; i < words.size(); ++i) {
        const std::string &word = words[i];
        if (word.size() < 2 || word[0] != '-')
            throw ImportError("mdtest: " + escaped(word) + " is not an option");
        if (word[1] == '-') {
            note("the long option " + escaped(word));
            continue;
        }
        for (size_t at = 1; at < word.size(); ++at) {
            char option = word[at];
            const std::string name = std::string("-") + option;
            auto value = [&]() -> std::string {
                std::string rest = word.substr(at + 1);
                at = word.size();
                if (!rest.empty())
                    return rest[0] == '=' ? rest.substr(1) : rest;
                if (i + 1 == words.size())
                    throw ImportError("mdtest: " + name + " has no value");
                return words[++i];
            };
            auto number = [&] { return import_number(value(), "mdtest: " + name); };
            if (option == 'n')
                options.items = number();
            else if (option == 'I')
                options.per_directory = number();
            else if (option == 'z')
                options.depth = number();
            else if (option == 'b')
                options.branches = number();
            else if (option == 'w')
                options.write_bytes = number();
            else if (option == 'e')
                options.read_bytes = number();
            else if (option == 'i')
                options.iterations = number();
            else if (option == 'F')
                options.files_only = true;
            else if (option == 'D')
                options.directories_only = true;
            else if (option == 'u')
                options.own_directory = true;
            else if (option == 'L')
                options.leaves_only = true;
            else if (option == 'C')
                options.create = true;
            else if (option == 'T')
                options.stat = true;
            else if (option == 'E')
                options.read = true;
            else if (option == 'r')
                options.remove = true;
            else if (auto valued = ignored_values.find(option); valued != ignored_values.end()) {
                std::string unused = value();
                note(valued->second);
            } else if (auto flag = ignored_flags.find(option); flag != ignored_flags.end())
                note(flag->second);
            else
                throw ImportError("mdtest: " + escaped(name) + " is not an option that is known here");
        }
    }
    if (!options.create && !options.stat && !options.read && !options.remove)
        options.create = options.stat = options.read = options.remove = true;
    return options;
}

Json step(const char *op, const std::string &dir, const std::string &name)
{
    Json one = {{"op", op}, {"dir", dir}};
    if (!name.empty())
        one["name"] = name;
    return one;
}

// The file as one step makes it, and its first bytes, all at once.
Json make(const std::string &dir, const std::string &name, uint64_t bytes)
{
    Json steps = Json::array({step("create", dir, name)});
    if (bytes != 0) {
        steps.push_back(step("write", dir, name));
        steps.back()["size"] = bytes;
    }
    return steps;
}

} // namespace

Imported import_mdtest(const std::string &text)
{
    Mdtest options = read(text);
    uint64_t directories = 1;
    for (uint64_t level = 0, width = 1; level < options.depth && directories <= directories_max; ++level) {
        width *= options.branches;
        directories = options.leaves_only ? width : directories + width;
    }
    if (options.per_directory == 0 && options.items == 0)
        throw ImportError("mdtest: one of -n and -I is needed: how many items");
    if (options.tasks == 0 || options.branches == 0)
        throw ImportError("mdtest: the number of tasks and -b are at least 1");
    if (directories > directories_max) {
        options.notes.push_back("directories of the tree beyond " + std::to_string(directories_max));
        directories = directories_max;
    }
    uint64_t items =
        options.per_directory != 0 ? options.per_directory : (options.items + directories - 1) / directories;
    if (directories > 1)
        options.notes.push_back("the depth of the tree: its " + std::to_string(directories) +
                                " directories lie side by side");

    Json setup = Json::array(), phases = Json::array();
    std::string own = options.own_directory ? "t{thread}." : "";
    auto directory = [&](uint64_t number) { return own + "d" + std::to_string(number); };
    for (uint64_t number = 0; number < directories; ++number) {
        std::string name = options.own_directory ? "t{i}.d" + std::to_string(number) : directory(number);
        Json one = {{"op", "mkdir"}, {"dir", name}};
        if (options.own_directory)
            setup.push_back({{"repeat", "$tasks"}, {"steps", Json::array({one})}});
        else
            setup.push_back(one);
    }
    const uint64_t read_bytes = std::min(options.read_bytes, options.write_bytes);
    size_t phase = 0;
    auto add_phase = [&](const char *op, const std::string &prefix, bool directory_items) {
        for (uint64_t number = 0; number < directories; ++number) {
            std::string item = prefix + ".{thread}.{i}";
            Json steps = directory_items ? Json::array({step(op, directory(number) + "/" + item, "")})
                         : std::string_view(op) == "create" ? make(directory(number), item, options.write_bytes)
                                                            : Json::array({step(op, directory(number), item)});
            if (std::string_view(op) == "read")
                steps[0]["size"] = read_bytes;
            phases.push_back({{"repeat", "$items"}, {"steps", std::move(steps)}});
        }
        phases.push_back({{"barrier", "phase " + std::to_string(++phase)}});
    };
    if (!options.files_only) {
        if (options.create)
            add_phase("mkdir", "dir", true);
        if (options.stat)
            options.notes.push_back("stat of directories: there is no such operation for a directory's own item");
        if (options.remove && options.directories_only)
            add_phase("rmdir", "dir", true);
    }
    if (!options.directories_only) {
        if (options.create)
            add_phase("create", "file", false);
        if (options.stat)
            add_phase("stat", "file", false);
        if (options.read) {
            if (read_bytes == 0)
                options.notes.push_back(
                    "reading of files (-E): without -w and -e there are no bytes, each is a lookup");
            else if (read_bytes < options.read_bytes)
                options.notes.push_back("bytes read (-e) beyond those written (-w)");
            add_phase(read_bytes != 0 ? "read" : "lookup", "file", false);
        }
        if (options.remove)
            add_phase("unlink", "file", false);
        if (options.remove && !options.files_only)
            add_phase("rmdir", "dir", true);
    }
    if (!options.create) { // what only stats, reads or removes finds items that were there before
        for (uint64_t number = 0; number < directories; ++number) {
            if (options.directories_only)
                break;
            // the setup is one thread: items of all tasks, named as the tasks name them
            constexpr uint64_t tasks_max = 256;
            if (options.tasks > tasks_max)
                throw ImportError("mdtest: without -C at most " + std::to_string(tasks_max) + " tasks can be set up");
            for (uint64_t task = 0; task < options.tasks; ++task) {
                std::string dir = options.own_directory ? "t" + std::to_string(task) + ".d" + std::to_string(number)
                                                        : directory(number);
                setup.push_back({{"repeat", "$items"},
                                 {"steps", make(dir, "file." + std::to_string(task) + ".{i}", options.write_bytes)}});
            }
        }
    }
    if (options.iterations > 1) {
        if (options.create && options.remove)
            phases = Json::array({Json{{"repeat", options.iterations}, {"steps", phases}}});
        else
            options.notes.push_back(
                "repetitions (-i): without both creation and removal the second round would find other items");
    }
    if (phases.empty())
        throw ImportError("mdtest: these options leave nothing to do");
    Json params = {{"tasks", options.tasks}, {"items", items}};
    Json group = {{"name", "mdtest"}, {"threads", "$tasks"}, {"steps", phases}};
    return finish_import("mdtest", "mdtest " + text, params, setup, Json::array({group}), Json::object(),
                         options.notes);
}

} // namespace analysis
