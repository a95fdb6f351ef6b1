// A subset of filebench's workload model language as a scenario.
//
//   set $nfiles=1000
//   define fileset name=bigset,path=/tank,size=16k,entries=$nfiles,dirwidth=20,prealloc=80
//   define process name=maker,instances=1 {
//     thread name=makerthread,memsize=10m,instances=16 {
//       flowop createfile name=create1,filesetname=bigset,fd=1
//       flowop closefile name=close1,fd=1
//     }
//   }
//   run 60
//
// A fileset is one directory with its entries; createfile, openfile, statfile and deletefile are create, lookup, stat
// and unlink; each thread works through names of its own. writewholefile, appendfile, appendfilerand and readwholefile
// are writes and reads of the file that the loop is at, each in one piece. Other flowops are said and left out.
#include "analysis/import.h"
#include "analysis/text.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace analysis {

namespace {

struct Token {
    std::string text;
    size_t line = 1;
};

// Words, '=', ',', '{' and '}'; "..." is one word; '#' begins a comment.
std::vector<Token> tokens_of(const std::string &text)
{
    std::vector<Token> tokens;
    size_t line = 1;
    for (size_t i = 0; i < text.size();) {
        char c = text[i];
        if (c == '\n')
            ++line;
        if (std::isspace(static_cast<unsigned char>(c)) != 0) {
            ++i;
        } else if (c == '#') {
            i = std::min(text.find('\n', i), text.size());
        } else if (std::string_view("=,{}").find(c) != std::string_view::npos) {
            tokens.push_back({std::string(1, c), line});
            ++i;
        } else if (c == '"') {
            size_t end = text.find('"', i + 1);
            if (end == std::string::npos)
                throw ImportError("line " + std::to_string(line) + ": a \" is not closed");
            tokens.push_back({text.substr(i + 1, end - i - 1), line});
            i = end + 1;
        } else {
            size_t end = i;
            while (end < text.size() && std::isspace(static_cast<unsigned char>(text[end])) == 0 &&
                   std::string_view("=,{}#\"").find(text[end]) == std::string_view::npos)
                ++end;
            tokens.push_back({text.substr(i, end - i), line});
            i = end;
        }
    }
    return tokens;
}

using Attributes = std::map<std::string, std::string>;

class Filebench {
public:
    explicit Filebench(const std::string &text) : tokens_(tokens_of(text)) {}

    Imported import()
    {
        while (at_ < tokens_.size())
            command();
        if (workload_.empty())
            throw ImportError("filebench: no thread with a createfile, openfile, statfile or deletefile in it");
        Json rest = Json::object();
        if (run_seconds_ != 0)
            rest["stop"] = {{"simulated", std::to_string(run_seconds_) + "s"}};
        return finish_import("filebench", "a filebench personality", params_, setup_, workload_, rest, notes_);
    }

private:
    [[noreturn]] void fail(const std::string &what) const
    {
        size_t line = tokens_.empty() ? 1 : tokens_[at_ == 0 ? 0 : at_ - 1].line; // of the word taken last
        throw ImportError("line " + std::to_string(line) + ": " + what);
    }
    bool next_is(const char *text) const { return at_ < tokens_.size() && tokens_[at_].text == text; }
    std::string take()
    {
        if (at_ == tokens_.size())
            fail("the file ends in the middle");
        return tokens_[at_++].text;
    }
    void expect(const char *text)
    {
        if (!next_is(text))
            fail(std::string("'") + text + "' is wanted");
        ++at_;
    }
    void note(const std::string &text)
    {
        if (std::find(notes_.begin(), notes_.end(), text) == notes_.end())
            notes_.push_back(text);
    }
    // $name, or the text itself.
    std::string resolved(const std::string &text) const
    {
        if (text.empty() || text[0] != '$')
            return text;
        auto found = variables_.find(text);
        if (found == variables_.end())
            fail(escaped(text) + " is not set");
        return found->second;
    }
    uint64_t number(const Attributes &attributes, const char *key, uint64_t otherwise) const
    {
        auto found = attributes.find(key);
        return found == attributes.end() ? otherwise : import_number(resolved(found->second), key);
    }

    // name=value,flag,name=value
    Attributes attributes()
    {
        Attributes all;
        while (at_ < tokens_.size() && !next_is("{") && !next_is("}")) {
            std::string key = take();
            std::string value = "1";
            if (next_is("=")) {
                ++at_;
                value = take();
            }
            all[key] = value;
            if (!next_is(","))
                break;
            ++at_;
        }
        return all;
    }

    void command()
    {
        std::string word = take();
        if (word == "set") {
            std::string name = take();
            expect("=");
            variables_[name] = resolved(take());
            if (next_is(",")) // a random variable
                fail("only plain variables are known");
        } else if (word == "define") {
            std::string kind = take();
            if (kind == "fileset" || kind == "file")
                fileset(attributes());
            else if (kind == "process")
                process();
            else
                fail("define " + escaped(kind) + ": fileset, file and process are known");
        } else if (word == "run" || word == "psrun") {
            if (at_ < tokens_.size() && !tokens_[at_].text.empty() &&
                (std::isdigit(static_cast<unsigned char>(tokens_[at_].text[0])) != 0 || tokens_[at_].text[0] == '$'))
                run_seconds_ = import_number(resolved(take()), "run");
        } else { // create, enable, eventgen, usage, echo, ...: to the end of the line
            size_t line = tokens_[at_ - 1].line;
            while (at_ < tokens_.size() && tokens_[at_].line == line)
                ++at_;
            if (word != "echo" && word != "usage" && word != "debug")
                note("the command " + escaped(word));
        }
    }

    void fileset(const Attributes &all)
    {
        auto name = all.find("name");
        if (name == all.end())
            fail("a fileset has a name");
        Fileset set{plain_name(name->second), 0, number(all, "filesize", number(all, "size", 0))};
        uint64_t entries = number(all, "entries", 1), prealloc = 0;
        if (auto found = all.find("prealloc"); found != all.end())
            prealloc = found->second == "1" ? 100 : number(all, "prealloc", 0);
        set.there = entries * std::min<uint64_t>(prealloc, 100) / 100;
        setup_.push_back({{"op", "mkdir"}, {"dir", set.dir}});
        if (set.there != 0)
            setup_.push_back(
                {{"repeat", set.there},
                 {"steps", Json::array({Json{{"op", "create"}, {"dir", set.dir}, {"name", "there.{i}"}}})}});
        if (number(all, "dirwidth", 0) != 0)
            note("dirwidth: a fileset is one directory");
        if (set.size != 0)
            note("sizes of files that are there before: they are empty");
        params_[entries_param(set.dir)] = entries;
        filesets_[name->second] = set;
    }

    static std::string entries_param(std::string dir)
    {
        for (char &c : dir)
            if (c == '-' || c == '.')
                c = '_';
        return dir + "_entries";
    }

    void process()
    {
        Attributes all = attributes();
        uint64_t processes = number(all, "instances", 1);
        expect("{");
        while (!next_is("}")) {
            if (take() != "thread")
                fail("a process holds threads");
            thread(processes);
        }
        ++at_;
    }

    void thread(uint64_t processes)
    {
        Attributes all = attributes();
        uint64_t threads = processes * number(all, "instances", 1);
        std::string name = all.count("name") > 0 ? plain_name(all["name"]) : "thread";
        expect("{");
        Json steps = Json::array();
        uint64_t least = 0; // names of this group that must be there before it begins
        std::string dir;
        uint64_t file_size = 0; // of the fileset's files
        uint64_t length = 0;    // of the file that the loop is at, at most
        while (!next_is("}")) {
            if (take() != "flowop")
                fail("a thread holds flowops");
            std::string op = take();
            Attributes flowop = attributes();
            static const std::map<std::string, const char *> known = {
                {"createfile", "create"}, {"openfile", "lookup"}, {"statfile", "stat"}, {"deletefile", "unlink"}};
            if (op == "closefile" || op == "finishoncount" || op == "finishonbytes") {
                if (op != "closefile")
                    note("flowop " + op + ": the run ends by its time or its entries");
                continue;
            }
            const std::string file = name + ".{thread}.{i}";
            const uint64_t piece = number(flowop, "iosize", op == "writewholefile" ? file_size : 0);
            const bool writes = op == "writewholefile" || op == "appendfile" || op == "appendfilerand";
            if ((writes && piece != 0) || (op == "readwholefile" && length != 0)) {
                if (dir.empty())
                    fail("flowop " + escaped(op) + ": no file was created or opened before");
                Json one = {{"op", writes ? "write" : "read"}, {"dir", dir}, {"name", file}};
                if (op.starts_with("append")) {
                    one["offset"] = length;
                    length += piece;
                }
                if (op == "appendfilerand") {
                    note("flowop appendfilerand: the next piece begins where the longest would have ended");
                    one["size"] = "{rand:1.." + std::to_string(piece) + "}";
                } else {
                    one["size"] = writes ? (op == "writewholefile" ? std::max(piece, file_size) : piece) : length;
                }
                if (op == "writewholefile")
                    length = std::max({length, piece, file_size});
                steps.push_back(std::move(one));
                continue;
            }
            auto found = known.find(op);
            if (found == known.end()) {
                note("flowop " + escaped(op));
                continue;
            }
            auto set = filesets_.find(flowop["filesetname"]);
            if (set == filesets_.end())
                fail("flowop " + escaped(op) + ": filesetname names no fileset that was defined before");
            dir = set->second.dir;
            file_size = set->second.size;
            if (op == "createfile" || op == "deletefile")
                length = 0;
            bool creates = op == "createfile";
            if (!creates && steps.empty())
                least = 1;
            steps.push_back({{"op", found->second}, {"dir", dir}, {"name", name + ".{thread}.{i}"}});
        }
        ++at_;
        if (steps.empty())
            return;
        std::string threads_param = name + "_threads";
        std::replace_if(
            threads_param.begin(), threads_param.end(), [](char c) { return c == '-' || c == '.'; }, '_');
        params_[threads_param] = threads;
        std::string each = "$" + entries_param(dir);
        if (least != 0) {
            constexpr uint64_t threads_max = 256;
            if (threads > threads_max)
                fail("files for at most " + std::to_string(threads_max) + " threads can be set up");
            for (uint64_t thread = 0; thread < threads; ++thread)
                setup_.push_back(
                    {{"repeat", each},
                     {"steps",
                      Json::array({Json{
                          {"op", "create"}, {"dir", dir}, {"name", name + "." + std::to_string(thread) + ".{i}"}}})}});
        }
        note("the choice of files: each thread works through names of its own, as many as the fileset has entries");
        workload_.push_back({{"name", name},
                             {"threads", "$" + threads_param},
                             {"steps", Json::array({Json{{"repeat", each}, {"steps", steps}}})}});
    }

    struct Fileset {
        std::string dir;
        uint64_t there = 0;
        uint64_t size = 0; // of a whole file
    };

    std::vector<Token> tokens_;
    size_t at_ = 0;
    std::map<std::string, std::string> variables_;
    std::map<std::string, Fileset> filesets_;
    Json params_ = Json::object(), setup_ = Json::array(), workload_ = Json::array();
    uint64_t run_seconds_ = 0;
    std::vector<std::string> notes_;
};

} // namespace

Imported import_filebench(const std::string &text)
{
    return Filebench(text).import();
}

} // namespace analysis
