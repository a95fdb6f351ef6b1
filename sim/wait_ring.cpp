// Deadlock, told as a ring: thread by thread, lock by lock, with the function in which each was taken.
//
// A thread that starts to wait follows the owners from lock to lock. Coming back to itself, it has closed a ring that
// no timer will ever open. Readers of a rwlock are not known one by one, so a ring through them shows only when nobody
// can run any more; then every waiting thread is listed.
#include "sim/condvar.h"
#include "sim/lock.h"
#include "sim/scheduler.h"
#include "sim/simulator.h"

#include <algorithm>

namespace sim {

namespace {

// The thread that surely holds it, or null.
const Thread *certain_owner(const LockBase &lock)
{
    if (lock.owner == &released_ahead)
        return nullptr;
    if (held_by_readers(lock))
        return nullptr;
    return lock.owner;
}

// Who has to go on before this thread can, as far as anybody has told; null: nobody in particular.
const Thread *waits_for_thread(const Thread &thread)
{
    if (thread.waits_for != nullptr && !thread.granted)
        return certain_owner(*thread.waits_for);
    if (thread.waits_on != nullptr && thread.reason != nullptr)
        return thread.reason->whom(thread.reason->subject);
    return nullptr;
}

} // namespace

WaitsBecause::WaitsBecause(const WaitReason &reason) : reason_(reason), thread_(hot.thread)
{
    thread_->reason = &reason_;
}

WaitsBecause::~WaitsBecause()
{
    thread_->reason = nullptr;
}

void Simulator::look_for_ring(const Thread &thread)
{
    const Thread *at = &thread;
    for (uint32_t steps = 0; steps < limits::wait_chain; ++steps) {
        at = certain_owner(*at->waits_for);
        if (at == nullptr || at->waits_for == nullptr || at->granted)
            return;
        if (at == &thread) {
            stop(Ending::deadlock, ring_text(thread));
            return;
        }
    }
}

std::string Simulator::lock_name(const LockBase &lock) const
{
    const LockClassInfo &info = tables_.lock_classes[lock.lock_class];
    std::string name = info.name;
    if (info.describe != nullptr)
        name += " of " + info.describe(&lock);
    return name;
}

std::string Simulator::path_text(const CallNode *node) const
{
    std::vector<const CallNode *> path;
    for (; node != nullptr && node->parent != nullptr; node = node->parent)
        path.push_back(node);
    if (path.empty())
        return "(outside of any function)";
    std::string text;
    for (auto i = path.rbegin(); i != path.rend(); ++i)
        text += (text.empty() ? "" : " > ") + std::string(tables_.functions[(*i)->function].name);
    return text;
}

std::string Simulator::waiting_text(const Thread &thread) const
{
    const CallNode *node = thread.node;
    std::string text = "thread " + thread.name;
    if (thread.waits_for != nullptr && !thread.granted) {
        const LockBase &lock = *thread.waits_for;
        text += " in " + path_text(node) + "\n    waits for " + lock_name(lock);
        if (lock.kind == LockKind::rwlock)
            text += thread.wants_write ? " as writer" : " as reader";
        const Thread *owner = certain_owner(lock);
        if (owner != nullptr)
            text += ", held by thread " + owner->name + " since " + path_text(&call_tree_.node(lock.node));
        else if (held_by_readers(lock))
            text += ", held by readers, the last of them in " + path_text(&call_tree_.node(lock.node));
    } else if (thread.reason != nullptr && (thread.waits_on != nullptr || thread.where == Where::asleep)) {
        text += " in " + path_text(node) + "\n    waits for " + thread.reason->what(thread.reason->subject);
        if (const Thread *whom = waits_for_thread(thread))
            text += ", which depends on thread " + whom->name;
    } else if (thread.waits_on != nullptr) {
        text += " in " + path_text(node) + "\n    waits on a condition variable (" +
                part_names[static_cast<size_t>(thread.sleep_part)] + ")";
        const CondVar::Unheard &unheard = thread.waits_on->unheard();
        if (unheard.by != nullptr)
            text += ", whose last signal found nobody waiting: thread " + unheard.by->name + " in " +
                    path_text(&call_tree_.node(unheard.node)) + ", " + std::to_string((now() - unheard.at).ns()) +
                    " ns ago";
    } else {
        text += " in " + path_text(node);
    }
    return text + "\n";
}

std::string Simulator::ring_text(const Thread &thread) const
{
    std::string text = "deadlock: each thread waits for something that the next one holds\n";
    const Thread *at = &thread;
    do {
        text += "  " + waiting_text(*at);
        at = waits_for_thread(*at);
    } while (at != &thread);
    return text;
}

const Thread *Simulator::ring_member() const
{
    for (const std::unique_ptr<Thread> &thread : threads_) {
        const Thread *at = thread.get();
        for (uint32_t steps = 0; at != nullptr && steps < limits::wait_chain; ++steps) {
            at = waits_for_thread(*at);
            if (at == thread.get())
                return at;
        }
    }
    return nullptr;
}

// A ring among the waiting threads says most; else all of them are told, up to a screenful, those of the workload
// first.
std::string Simulator::stuck_text(const char *otherwise) const
{
    if (const Thread *member = ring_member())
        return ring_text(*member);
    constexpr size_t screenful = 40;
    std::string text = std::string(otherwise) + "\n";
    size_t told = 0;
    for (const bool counted : {true, false})
        for (const std::unique_ptr<Thread> &thread : threads_) {
            if (thread->where == Where::finished || thread->counted != counted)
                continue;
            if (++told <= screenful)
                text += "  " + waiting_text(*thread);
        }
    if (told > screenful)
        text += "  and " + std::to_string(told - screenful) + " more threads\n";
    return text;
}

// Nobody of the workload can ever run again. Where every chain of who waits for whom ends at somebody who sleeps until
// told, the telling was lost, or never happened; where one ends at a lock, it is the locks.
End Simulator::stuck_end() const
{
    const auto last_of_chain = [](const Thread *thread) {
        for (uint32_t steps = 0; steps < limits::wait_chain; ++steps) {
            const Thread *next = waits_for_thread(*thread);
            if (next == nullptr)
                return thread;
            thread = next;
        }
        return thread;
    };
    const bool all_sleep = ring_member() == nullptr &&
                           std::all_of(threads_.begin(), threads_.end(), [&](const std::unique_ptr<Thread> &thread) {
                               return !thread->counted || thread->where == Where::finished ||
                                      last_of_chain(thread.get())->waits_on != nullptr;
                           });
    const bool anybody = std::any_of(threads_.begin(), threads_.end(), [](const std::unique_ptr<Thread> &thread) {
        return thread->counted && thread->where != Where::finished;
    });
    if (all_sleep && anybody)
        return {Ending::lost_wakeup,
                stuck_text("lost wake-up: threads sleep until somebody signals, and nobody is left who will"),
                {}};
    return {Ending::deadlock, stuck_text("deadlock: no thread can run, and no timer will change that"), {}};
}

// Whoever sleeps for neither a lock nor a condition sleeps for a time, which may have come at this very instant.
bool workload_sleeps(const Simulator &simulator)
{
    bool anybody = false;
    for (const std::unique_ptr<Thread> &thread : simulator.threads()) {
        if (!thread->counted || thread->where == Where::finished)
            continue;
        anybody = true;
        const bool for_somebody = thread->waits_for != nullptr || thread->waits_on != nullptr;
        if (thread->where != Where::asleep || thread->timer_slot != Timers::none || !for_somebody)
            return false;
    }
    return anybody;
}

void Simulator::look_for_sleep()
{
    uint64_t all = 0;
    const bool asleep = workload_sleeps(*this);
    for (const std::unique_ptr<Thread> &thread : threads_)
        if (asleep && thread->counted && thread->where != Where::finished)
            all = (all ^ thread->digest) * digest_multiplier;
    if (!asleep || all != asleep_digest_) {
        asleep_digest_ = asleep ? all : 0;
        asleep_since_ = now();
        return;
    }
    if ((now() - asleep_since_).ps < limits::asleep_ps)
        return;
    End end = stuck_end();
    stop(end.ending, std::move(end.text));
}

std::string Simulator::place_text() const
{
    return "\n    at " + std::to_string(now().ns()) + " ns on CPU " + std::to_string(current_cpu()) + ", thread " +
           hot.thread->name + ", in " + path_text(hot.node);
}

} // namespace sim
