#include "sim/rwlock.h"

#include "sim/blame.h"
#include "sim/careful.h"
#include "sim/scheduler.h"

#include <algorithm>
#include <utility>

namespace sim {

void RwLock::touch_line()
{
    if (is_supposed(*this)) [[unlikely]]
        touch_supposed_line(*this, line_);
    else
        line_.modify();
}

void RwLock::take_read()
{
    touch_line();
    LockClassCounts &counts = hot.lock_counts[lock_class];
    ++counts.acquisitions;
    const uint16_t here = line_here(*this);
    if (line != here)
        ++counts.owner_changes;
    line = here;
    digest_event(*hot.thread, hot.key + lock_class);
    if (readers_++ == 0)
        key = hot.key;
    owner = hot.thread;
    node = hot.node->index;
}

void RwLock::take_write()
{
    touch_line();
    LockClassCounts &counts = hot.lock_counts[lock_class];
    ++counts.acquisitions;
    ++counts.writes;
    const Key data = data_behind(line, current_cpu());
    const uint16_t here = line_here(*this);
    if (line != here)
        ++counts.owner_changes;
    line = here;
    digest_event(*hot.thread, hot.key + lock_class);
    owner = hot.thread;
    key = hot.key;
    node = hot.node->index;
    charge_key(data);
}

void RwLock::enter_read_slow()
{
    settle();
    VERIFY(!write_held());
    if (free_for_reader())
        take_read();
    else
        contend(false);
    if (hot.horizon == 0) [[unlikely]]
        note_taken(*this, false, true);
}

void RwLock::enter_write()
{
    const Key at = hot.key;
    if (free_and_near(at)) [[likely]] {
        ++hot.lock_counts[lock_class].writes;
        take_near(at);
        return;
    }
    settle();
    VERIFY(!write_held());
    if (free_for_writer() && waiters == nullptr)
        take_write();
    else
        contend(true);
    if (hot.horizon == 0) [[unlikely]]
        note_taken(*this, true, true);
}

bool RwLock::try_enter_read()
{
    settle();
    if (free_for_reader()) {
        take_read();
        if (hot.horizon == 0) [[unlikely]]
            note_taken(*this, false, false);
        return true;
    }
    line_.load();
    return false;
}

bool RwLock::try_enter_write()
{
    settle();
    if (free_for_writer() && waiters == nullptr) {
        take_write();
        if (hot.horizon == 0) [[unlikely]]
            note_taken(*this, true, false);
        return true;
    }
    line_.load();
    return false;
}

void RwLock::contend(bool write)
{
    if (owner == nullptr && key > hot.key)
        take_back_release(*this);
    Thread &self = *hot.thread;
    self.node = hot.node;
    wait_begins(*this, self, write);
    ring_append(waiters, self);
    while (!self.granted) {
        spin_or_sleep(*this, self);
        hot.scheduler->dispatch();
    }
    wait_ends(*this);
    charge_key(std::exchange(self.data_due, 0));
}

void RwLock::exit_read_slow()
{
    VERIFY3(readers_, >, 0u);
    if (hot.horizon == 0) [[unlikely]]
        note_left(*this);
    if (!hot.broken)
        settle();
    touch_line();
    // The last one holds it until the line has come; a reader may join it meanwhile.
    if (readers_ == 1 && !hot.broken)
        settle();
    if (--readers_ > 0)
        return;
    count_hold(*this, hot.key);
    pass_on_rwlock();
}

void RwLock::exit_write()
{
    VERIFY(write_held());
    charge_key(release_price(*this));
    count_hold(*this, hot.key);
    if (waiters == nullptr && (hot.key < hot.horizon || hot.key < hot.slice.release_ahead)) [[likely]] {
        owner = nullptr;
        key = hot.key;
        return;
    }
    if (hot.horizon == 0) [[unlikely]]
        note_left(*this);
    if (!hot.broken)
        settle();
    pass_on_rwlock();
}

void RwLock::pass_on_rwlock()
{
    if (waiters != nullptr)
        blame_until(*this, now().ps);
    owner = nullptr;
    key = hot.key;
    admit();
}

// It is free, or held by readers and the first waiters are readers: whoever is first in the ring gets it.
void RwLock::admit()
{
    if (waiters == nullptr || hot.broken)
        return;
    if (waiters->wants_write) {
        Thread &writer = *waiters;
        grant(*this, writer, now(), hand_off(*this, writer.cpu));
        line_.state = key;
        line_.sharers = 0;
        keep_line_odd(*this, line_);
        respin();
        return;
    }
    // One reader's read-modify-write after the other.
    const Key held_from = readers_ > 0 ? key : never;
    const Time released = now();
    Duration after;
    Duration step = hand_off(*this, waiters->cpu);
    while (waiters != nullptr && !waiters->wants_write) {
        Thread &reader = *waiters;
        after += step;
        const Key first_taken = readers_ > 0 ? key : never;
        ++readers_;
        grant(*this, reader, released, after);
        key = std::min({key, held_from, first_taken});
        if (waiters != nullptr)
            step = next_reader_step(*this, waiters->cpu);
    }
    line_.state = key_of(released + after, cpu_of_line(line));
    line_.sharers = 0;
    keep_line_odd(*this, line_);
    respin();
}

// Those who go on spinning do it for somebody else now: how long they will depends on who that is.
void RwLock::respin()
{
    Thread *waiter = waiters;
    if (spinners == 0 || waiter == nullptr)
        return;
    do {
        if (waiter->pending == Pending::spin)
            hot.scheduler->spin_until(*waiter, spin_limit(*this));
        waiter = waiter->next;
    } while (waiter != waiters);
}

bool RwLock::try_upgrade()
{
    VERIFY3(readers_, >, 0u);
    settle();
    touch_line();
    if (readers_ != 1 || waiters != nullptr)
        return false;
    readers_ = 0;
    count_hold(*this, hot.key);
    owner = hot.thread;
    key = hot.key;
    node = hot.node->index;
    return true;
}

void RwLock::downgrade()
{
    VERIFY(write_held());
    settle();
    if (waiters != nullptr)
        blame_until(*this, now().ps);
    touch_line();
    count_hold(*this, hot.key);
    readers_ = 1;
    key = hot.key;
    if (waiters == nullptr || hot.broken)
        return;
    settle();
    if (waiters != nullptr && !waiters->wants_write)
        admit();
    else
        respin();
}

} // namespace sim
