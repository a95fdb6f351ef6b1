#include "analysis/cli/progress.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace cli {

Progress::Progress(When when)
{
    const char *kind = std::getenv("TERM");
    terminal_ = isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
    enabled_ = when != When::never;
    first_at_once_ = terminal_ || when == When::always;
}

Progress::~Progress()
{
    if (drawn_ && terminal_)
        std::fputs("\r\x1b[K", stderr);
}

void Progress::show(const std::string &text)
{
    if (!enabled_)
        return;
    Clock::time_point now = Clock::now();
    auto pace = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(60'000);
    if ((drawn_ || !first_at_once_) && now - last_ < pace)
        return;
    drawn_ = true;
    last_ = now;
    if (terminal_)
        std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
    else
        std::fprintf(stderr, "%s\n", text.c_str());
    std::fflush(stderr);
}

void Progress::show_count(size_t finished, size_t total, const std::string &what)
{
    if (!enabled_)
        return;
    std::string text = std::to_string(finished) + "/" + std::to_string(total) + " " + what;
    if (finished > 0 && finished < total) {
        auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_).count();
        long long left = spent * static_cast<long long>(total - finished) / static_cast<long long>(finished) / 1000;
        char eta[48];
        std::snprintf(eta, sizeof eta, ", about %lld:%02lld:%02lld left", left / 3600, left / 60 % 60, left % 60);
        text += eta;
    }
    show(text);
}

} // namespace cli
