// What a person at a terminal sees while it runs: one line on standard error, rewritten at most ten times a second.
//
// Elsewhere a new line a minute: `always` from the beginning, `auto` once a minute has passed, so that what is soon
// done leaves nothing behind. It never touches standard output, and nothing it shows is in a result: it is the only
// place that reads the host's clock.
#pragma once

#include <chrono>
#include <string>

namespace cli {

enum class When { automatic, always, never };

class Progress {
public:
    explicit Progress(When when);
    ~Progress(); // the line is wiped

    void show(const std::string &text);
    // "12/60 points, 20 %, 0:01:30 left": points of unequal size make it a guess.
    void show_count(size_t finished, size_t total, const std::string &what);

private:
    using Clock = std::chrono::steady_clock;
    bool terminal_ = false;
    bool enabled_ = false;
    bool drawn_ = false;
    bool first_at_once_ = false;
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_ = start_;
};

} // namespace cli
