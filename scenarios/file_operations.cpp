// Operations on files and directories: their names, fields and sentences. What they do is in file_verbs.cpp.
#include "scenarios/file_verbs.h"
#include "scenarios/operation.h"

namespace scenarios {

namespace {

// Names beyond the file system's limit may be asked for: the answer is ENAMETOOLONG.
constexpr size_t name_length_max = 1000;
constexpr size_t path_length_max = 4000;
constexpr uint64_t file_size_max = 1ull << 62;

Field name_field(const char *sentence)
{
    return required(template_text("name", &Step::name, name_length_max, sentence));
}

Field dir_field(const char *sentence)
{
    return template_text("dir", &Step::dir, path_length_max, sentence);
}

Operation operation(const char *name, const char *sentence, std::vector<Field> fields,
                    void (*perform)(Worker &, const Step &))
{
    Operation made{name,    sentence, Table(std::string("an op ") + name, with_common(name, std::move(fields))),
                   perform, nullptr,  Needs::file_system};
    return made;
}

constexpr const char *directory_sentence =
    "The directory: a path from the root, such as \"a/b\"; the root, which is also \"/\", if left out.";

} // namespace

std::vector<Operation> file_operations()
{
    using namespace file_verbs;
    const Field owner =
        quantity("owner", &Step::owner, {Unit::plain, 0, UINT32_MAX}, "Its user, for code.user_accounting.");
    const Field group = quantity("group", &Step::group, {Unit::plain, 0, UINT32_MAX},
                                 "The group it belongs to, for code.user_accounting.");
    std::vector<Operation> list;
    list.push_back(operation("mkdir", "Makes a directory; EEXIST, ENOENT, ENAMETOOLONG.",
                             {required(dir_field("Its path from the root; the parents exist.")), owner, group}, mkdir));
    list.push_back(operation("rmdir", "Removes an empty directory; ENOENT, ENOTDIR, ENOTEMPTY, EBUSY for the root.",
                             {required(dir_field("Its path from the root."))}, rmdir));
    list.push_back(operation("create", "Makes a file; EEXIST, ENAMETOOLONG.",
                             {dir_field(directory_sentence), name_field("Its name."), owner, group}, create));
    list.push_back(operation("unlink", "Removes a file; ENOENT.",
                             {dir_field(directory_sentence), name_field("Its name.")}, unlink));
    list.push_back(operation(
        "rename", "Gives a file another name, in the same directory or another.",
        {dir_field(directory_sentence), name_field("The name it has."),
         template_text("to_dir", &Step::to_dir, path_length_max, "The directory it goes to; its own if left out."),
         required(template_text("to", &Step::new_name, name_length_max, "The name it gets."))},
        rename));
    list.push_back(
        operation("lookup", "Finds a name; ENOENT.", {dir_field(directory_sentence), name_field("The name.")}, lookup));
    list.push_back(operation("stat", "Finds a name and reads the file's attributes; ENOENT.",
                             {dir_field(directory_sentence), name_field("The name.")}, stat));
    list.push_back(operation("readdir", "Lists a directory.", {dir_field(directory_sentence)}, readdir));
    const Field offset = quantity("offset", &Step::offset, {Unit::size, 0, file_size_max}, "First byte.");
    const Field pattern =
        choice("pattern", &Step::pattern, {"offset", "sequential", "random"},
               "Where: at `offset`; from there on, each time behind the thread's last one (a read begins anew at the "
               "file's end); or any whole piece of `size` bytes between `offset` and the file's end.");
    list.push_back(operation(
        "read", "Reads a range of a file, which stays open; less at the file's end. ENOENT, EISDIR, ENAMETOOLONG.",
        {dir_field(directory_sentence), name_field("Its name."), offset,
         required(quantity("size", &Step::size, {Unit::size, 1, file_size_max}, "How many bytes.")), pattern},
        read));
    list.push_back(operation(
        "write",
        "Writes a range of a file, one transaction a record. Which bytes is not asked. ENOENT, EISDIR, ENAMETOOLONG.",
        {dir_field(directory_sentence), name_field("Its name."), offset,
         required(quantity("size", &Step::size, {Unit::size, 1, file_size_max}, "How many bytes.")), pattern},
        write));
    list.push_back(
        operation("truncate", "Makes a file shorter, or longer by a hole. ENOENT, EISDIR, ENAMETOOLONG.",
                  {dir_field(directory_sentence), name_field("Its name."),
                   quantity("size", &Step::size, {Unit::size, 0, file_size_max}, "Bytes that it has afterwards.")},
                  truncate));
    list.push_back(operation("dir_stats", "Reads the statistics of a directory's ZAP, leaf by leaf.",
                             {dir_field(directory_sentence)}, dir_stats));
    return list;
}

} // namespace scenarios
