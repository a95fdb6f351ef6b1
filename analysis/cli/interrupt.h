// Ctrl-C: the first one asks whoever is at work to stop and keep what has finished; the second one ends at once.
#pragma once

#include <string>

namespace cli {

// SIGINT, SIGTERM and SIGHUP are noted; SIGPIPE becomes a failed write.
void install_signal_handlers();

bool interrupt_requested();

// The one unfinished file to be removed should the program be ended at once; "" for none.
void remove_when_killed(const std::string &path);

} // namespace cli
