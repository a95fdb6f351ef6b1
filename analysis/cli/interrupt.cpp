#include "analysis/cli/interrupt.h"

#include "analysis/cli/exit_status.h"

#include <climits>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace cli {

namespace {

volatile sig_atomic_t requests = 0;
char unfinished_file[PATH_MAX];

void on_signal(int)
{
    if (requests > 0) {
        if (unfinished_file[0] != '\0')
            unlink(unfinished_file);
        _exit(Exit::interrupted);
    }
    requests = 1;
}

} // namespace

void install_signal_handlers()
{
    struct sigaction action = {};
    action.sa_handler = on_signal; // no SA_RESTART: a blocked read or poll returns, and the request is seen
    sigemptyset(&action.sa_mask);
    for (int number : {SIGINT, SIGTERM, SIGHUP})
        sigaction(number, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

bool interrupt_requested()
{
    return requests > 0;
}

void remove_when_killed(const std::string &path)
{
    unfinished_file[0] = '\0';
    if (path.size() < sizeof unfinished_file)
        std::memcpy(unfinished_file, path.c_str(), path.size() + 1);
}

} // namespace cli
