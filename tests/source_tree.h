// The source tree as the tests that read it see it: every C++ file with its lines. Meson passes the root.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

struct SourceFile {
    std::string path; // from the root
    std::vector<std::string> lines;
};

inline const std::vector<SourceFile> &source_files()
{
    static const std::vector<SourceFile> files = [] {
        std::vector<SourceFile> all;
        const std::filesystem::path root = DMUSIM_SOURCE_ROOT;
        for (const char *folder : {"sim", "model", "scenarios", "analysis", "tests"}) {
            for (const auto &entry : std::filesystem::recursive_directory_iterator(root / folder)) {
                std::string extension = entry.path().extension().string();
                if (extension != ".cpp" && extension != ".h" && extension != ".inc" && extension != ".hpp")
                    continue;
                SourceFile file{std::filesystem::relative(entry.path(), root).generic_string(), {}};
                std::ifstream stream(entry.path());
                for (std::string line; std::getline(stream, line);)
                    file.lines.push_back(line);
                all.push_back(std::move(file));
            }
        }
        std::sort(all.begin(), all.end(), [](const SourceFile &a, const SourceFile &b) { return a.path < b.path; });
        return all;
    }();
    return files;
}

// A line without its // comment and, unless asked for, without the contents of its string literals.
inline std::string code_of(const std::string &line, bool keep_strings = false)
{
    std::string code;
    bool quoted = false;
    for (size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\\' && quoted) {
            ++i; // whatever is escaped is no quote
            continue;
        }
        if (line[i] == '"') {
            quoted = !quoted;
            code += '"';
        } else if (quoted) {
            if (keep_strings)
                code += line[i];
        } else {
            if (line.compare(i, 2, "//") == 0)
                break;
            code += line[i];
        }
    }
    return code;
}
