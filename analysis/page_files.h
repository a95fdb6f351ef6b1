// The files that every HTML report carries with it: its own style sheet and script, and the charting library.
//
// They are put into the program when it is built (.incbin), so that a report needs nothing beside the program. The
// library comes from npm while configuring (page/fetch.sh, -Dreport_assets); without it `complete` is false and only
// the page cannot be written.
#pragma once

#include <string_view>
#include <vector>

namespace analysis {

struct PageLibrary {
    std::string_view name;
    std::string_view script;
    std::string_view license;
};

struct PageFiles {
    bool complete = false;
    std::string_view style;
    std::string_view script;
    std::vector<PageLibrary> libraries; // in the order they must be loaded
};

const PageFiles &page_files();

} // namespace analysis
