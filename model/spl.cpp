#include "model/spl.h"

#include "model/lock_names.h"

#include <cstdarg>
#include <cstdio>

#include <array>

namespace dmu {

namespace {

constexpr auto functions = [] {
    std::array<sim::FunctionInfo, std::size(costs)> table{};
    for (size_t i = 0; i < table.size(); ++i)
        table[i] = {costs[i].name, costs[i].instructions, costs[i].frame_bytes, costs[i].recorded, costs[i].steps};
    for (const pushed_t &one : pushed)
        table[static_cast<size_t>(one.function)].pushed_bytes = one.bytes;
    return table;
}();

#define MODEL_LOCK_CLASS_INFO(name) sim::LockClassInfo{name, lock_description(name)},
std::span<const sim::LockClassInfo> lock_classes()
{
    static const sim::LockClassInfo table[] = {MODEL_LOCK_CLASSES(MODEL_LOCK_CLASS_INFO)};
    return table;
}
#undef MODEL_LOCK_CLASS_INFO

} // namespace

sim::Tables model_tables()
{
    return {functions, lock_classes()};
}

zrlock_t::zrlock_t() = default;

zrlock_t::Collision &zrlock_t::collision()
{
    if (collision_ == nullptr)
        collision_ = std::make_unique<Collision>();
    return *collision_;
}

void zrlock_t::add_slow()
{
    do {
        auto held = mutex_enter(collision().lock);
        while (word_.load() == locked_word)
            cv_wait(collision_->changed, collision_->lock);
    } while (!word_.add_unless(locked_word, 1));
}

bool zrlock_t::try_enter()
{
    uint32_t expected = 0;
    return word_.load() == 0 && word_.compare_exchange(expected, locked_word);
}

void zrlock_t::exit()
{
    VERIFY(locked());
    settle(); // whether anybody has come is known only now
    const bool alone = collision_ == nullptr;
    if (alone) {
        word_.store(0);
        if (collision_ == nullptr) [[likely]]
            return;
    }
    // Who came while that store was on its way may sleep already: it saw the word locked, under the mutex.
    auto held = mutex_enter(collision_->lock);
    if (!alone)
        word_.store(0);
    cv_broadcast(collision_->changed);
}

void zrlock_t::exit_unlocked()
{
    VERIFY(locked());
    word_.store(0);
    if (collision_ != nullptr)
        cv_broadcast(collision_->changed);
}

sim::Thread &thread_create(std::string name, std::function<void()> body)
{
    sim::ThreadOptions options;
    options.group = name;
    options.counted = false;
    return sim::hot.simulator->spawn(std::move(name), std::move(options), std::move(body));
}

void no_progress(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sim::hot.simulator->stop(sim::Ending::livelock, text);
    while (true)
        sim::yield_cpu(); // does not come back
}

} // namespace dmu
